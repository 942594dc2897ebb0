//===- zero-run.cpp - compile a model and train it --------------------------===//
//
// A thin main around lib/Trainer. Exit codes: 0 done, 1 bad input, 2 wrong flags, 130
// ended by a signal after the step that ran.
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "Job.h"
#include "Profile.h"

#include "zero/Trainer/ArenaPicture.h"
#include "zero/Trainer/Loop.h"
#include "zero/Trainer/ReferenceRun.h"
#include "zero/Trainer/Trainer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"

#include <cinttypes>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

using namespace zero;
using namespace zero::run;

static volatile std::sig_atomic_t interrupted = 0;

/// The second signal finds the default handler, and kills.
static void endAfterTheStep() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

/// Told before a long compilation. Devices and pipes are left to the one who writes.
static llvm::Error checkOutputs(const Flags &flags) {
  for (const std::string &path : {flags.save, flags.exported, flags.log, flags.report, flags.plot, flags.object}) {
    llvm::sys::fs::file_status status;
    bool exists = !llvm::sys::fs::status(path, status);
    bool isDevice = exists && !llvm::sys::fs::is_regular_file(status) &&
                    !llvm::sys::fs::is_directory(status) && path != flags.save &&
                    path != flags.exported;
    if (path.empty() || path == "-" || isDevice)
      continue;
    if (llvm::Error error = training::checkWritable(path))
      return error;
  }
  return llvm::Error::success();
}

static llvm::Error writeFile(llvm::StringRef path,
                             llvm::function_ref<void(llvm::raw_ostream &)> write) {
  std::error_code status;
  llvm::raw_fd_ostream file(path, status);
  if (!status) {
    write(file);
    file.flush();
    status = file.error();
    file.clear_error();
  }
  return status ? training::inputError(path, "cannot be written: " + status.message())
                : llvm::Error::success();
}

static llvm::Error writeReport(const Report &report, llvm::StringRef path) {
  if (path.empty())
    return llvm::Error::success();
  return writeFile(path, [&](llvm::raw_ostream &os) { writeJson(report, os); });
}

static llvm::Error writePlot(Compiler &compiler, mlir::ModuleOp module, const Report &report,
                             const Flags &flags) {
  if (flags.plot.empty())
    return llvm::Error::success();
  std::string title = llvm::sys::path::filename(flags.model.path).str() + ": arena of a rank, stage " +
                      std::to_string(report.stage) + ", " + std::to_string(report.ranks) +
                      (report.ranks == 1 ? " rank" : " ranks");
  mlir::FailureOr<planning::plot::Picture> picture =
      makePicture(module, std::move(title), flags.train.memoryBudget);
  if (failed(picture))
    return compilerError(compiler);
  return writeFile(flags.plot,
                   [&](llvm::raw_ostream &os) { os << planning::plot::svg(*picture); });
}

static int train(TrainingRun &run, const Flags &flags, Job &job) {
  endAfterTheStep();
  LoopOptions loop;
  loop.log = job.isFirst() ? flags.log : "";
  loop.save = flags.save;
  loop.endAfter = flags.endAfter;
  loop.evalEvery = flags.evalEvery;
  loop.exported = flags.exported;
  loop.exportType = flags.exportType;
  loop.progressFd = job.isFirst() ? STDOUT_FILENO : open("/dev/null", O_WRONLY | O_CLOEXEC);
  loop.stop = [&] { return onAnyRank(job.communicator().get(), interrupted != 0); };
  llvm::outs().flush();
  llvm::Expected<Ending> ending = trainToEnd(run, loop);
  if (!ending)
    return job.refuse(ending.takeError());
  return *ending == Ending::Interrupted ? kInterrupted : 0;
}

static int trainReference(Compiler &compiler, mlir::ModuleOp module, const Flags &flags, Job &job) {
  llvm::Expected<std::unique_ptr<ReferenceRun>> run =
      ReferenceRun::create(compiler, module, flags.train);
  if (!run)
    return job.refuse(run.takeError());
  job.warn((*run)->warnings());
  return train(**run, flags, job);
}

static int trainCompiled(Compiler &compiler, mlir::ModuleOp module, const Flags &flags, Job &job) {
  llvm::Expected<std::unique_ptr<Trainer>> trainer = Trainer::create(compiler, module, flags.train);
  if (!trainer)
    return job.refuse(trainer.takeError());
  job.warn((*trainer)->warnings());
  if (job.isFirst())
    llvm::outs() << summaryText((*trainer)->report());
  if (llvm::Error error =
          job.isFirst() ? writeReport((*trainer)->report(), flags.report) : llvm::Error::success())
    return job.refuse(std::move(error));
  int code = train(**trainer, flags, job);
  if (flags.train.profile && job.isFirst())
    printProfile((*trainer)->session().profile(), llvm::outs());
  return code;
}

/// --dry-run, --emit-object, --print-table.
static int compileOnly(Compiler &compiler, mlir::ModuleOp module, const Flags &flags, Job &job) {
  llvm::Expected<Report> report = planModule(compiler, module, flags.train);
  if (!report)
    return job.refuse(report.takeError());
  job.warn(takeLines(compiler));
  if (flags.report != "-" && flags.plot != "-" && !flags.printTable)
    llvm::outs() << summaryText(*report);
  if (llvm::Error error = writeReport(*report, flags.report))
    return job.refuse(std::move(error));
  if (llvm::Error error = writePlot(compiler, module, *report, flags))
    return job.refuse(std::move(error));
  if (flags.dryRun)
    return 0;
  if (llvm::Error error = lowerModule(compiler, module, flags.train))
    return job.refuse(std::move(error));
  if (flags.printTable) {
    std::optional<zrt::Program> program = compiler.table(module);
    if (!program)
      return job.refuse(compilerError(compiler));
    llvm::outs() << zrt::print(*program);
  }
  if (flags.object.empty())
    return 0;
  std::vector<char> object = compiler.emitObject(module);
  if (object.empty())
    return job.refuse(compilerError(compiler));
  if (llvm::Error error = writeFile(
          flags.object, [&](llvm::raw_ostream &os) { os.write(object.data(), object.size()); }))
    return job.refuse(std::move(error));
  return 0;
}

/// In a job of several processes they are all ranks.
static llvm::Error settleLaunched(Flags &flags, const Job &job) {
  std::optional<int64_t> launched = job.launched();
  if (!launched)
    return llvm::Error::success();
  int64_t &ranks = flags.train.compile.ranks;
  if (flags.trains() && flags.ranksGiven && ranks != *launched)
    return llvm::createStringError("error: expects --ranks to be absent, or the %s launched (%s), "
                                   "got %" PRId64,
                                   (*launched == 1
                                        ? std::string("1 process that was")
                                        : std::to_string(*launched) + " processes that were")
                                       .c_str(),
                                   job.launcher().c_str(), ranks);
  if (!flags.ranksGiven)
    ranks = *launched;
  if (flags.reference && job.isSplit())
    return llvm::createStringError("error: expects --reference in one process, got %" PRId64,
                                   *launched);
  flags.train.communicator = job.communicator();
  return llvm::Error::success();
}

static llvm::Error settleRanks(Flags &flags, const Job &job) {
  if (llvm::Error error = settleLaunched(flags, job))
    return error;
  return settleConfig(flags);
}

/// What the module and the flags have against each other.
static llvm::Error checkModule(mlir::ModuleOp module, const Flags &flags) {
  if (levelOf(module) > Level::Graph && !flags.graphFlag.empty())
    return llvm::createStringError("error: expects " + flags.graphFlag +
                                   " only with a model at level graph, got one at level " +
                                   nameOf(levelOf(module)) + ", whose types are fixed");
  if (!flags.f16Flag.empty() && !trainsInF16(module, flags.train.compile))
    return llvm::createStringError("error: expects " + flags.f16Flag +
                                   " only in a run with weights of f16, got one without");
  if (levelOf(module) < Level::Sharded || flags.configFlag.empty())
    return llvm::Error::success();
  return llvm::createStringError("error: expects " + flags.configFlag +
                                 " only with a model before level sharded, got one at level " +
                                 nameOf(levelOf(module)) + ", whose zero.config holds");
}

static int runAll(const Flags &flags, Job &job) {
  zrt::Communicator *ranks = job.communicator().get();
  if (llvm::Error error = settle(ranks, job.isFirst() ? checkOutputs(flags) : llvm::Error::success()))
    return job.refuse(std::move(error));
  if (flags.config)
    job.warn(flags.config->warnings);
  Compiler compiler;
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module = readModel(compiler, flags.model);
  if (llvm::Error error = settle(ranks, module.takeError()))
    return job.refuse(std::move(error));
  if (llvm::Error error = settle(ranks, checkModule(**module, flags)))
    return job.refuse(std::move(error), kWrongFlags);
  if (flags.reference)
    return trainReference(compiler, **module, flags, job);
  if (!flags.trains())
    return compileOnly(compiler, **module, flags, job);
  return trainCompiled(compiler, **module, flags, job);
}

/// A file that `--config` names is input, whatever it says of flags.
static int codeOf(const llvm::Error &error) {
  return error.isA<training::InputError>() ? kBadInput : kWrongFlags;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // A file that grows beyond a limit is for the one who writes it to tell.
  signal(SIGXFSZ, SIG_IGN);
  Job job;
  if (llvm::Error error = job.detect())
    return job.refuse(std::move(error));
  llvm::Expected<Flags> flags = parseFlags(argc, argv);
  if (flags && !flags->trains()) { // one process does it for all
    if (llvm::Error error = settleRanks(*flags, job)) {
      int code = codeOf(error);
      return job.refuse(std::move(error), code);
    }
    return job.isFirst() ? runAll(*flags, job) : 0;
  }
  if (!job.join(flags ? flags->rankTimeout : kDefaultRankTimeout))
    return flags ? kBadInput : job.refuse(flags.takeError(), kWrongFlags);
  if (job.isSplit())
    endAfterTheStep(); // a launcher that ends the job lets ranks say why
  llvm::Error wrong = flags ? settleRanks(*flags, job) : flags.takeError();
  int code = codeOf(wrong);
  if (llvm::Error error = settle(job.communicator().get(), std::move(wrong)))
    return job.refuse(std::move(error), code);
  if (llvm::Error error = expectAlike(job.communicator().get(), startFacts(*flags)))
    return job.refuse(std::move(error), kWrongFlags);
  return runAll(*flags, job);
}
