//===- zero-run.cpp - compile a model and train it --------------------------===//
//
// A thin main around lib/Trainer. Exit codes: 0 done, 1 bad input, 2 wrong flags, 130
// ended by a signal after the step that ran.
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "Profile.h"

#include "zero/Trainer/Loop.h"
#include "zero/Trainer/ReferenceRun.h"
#include "zero/Trainer/Trainer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"

#include <csignal>

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

/// Messages that name no file get the tool's name.
static void complain(llvm::StringRef lines) {
  for (llvm::StringRef line : llvm::split(lines.rtrim('\n'), '\n')) {
    bool bare = line.starts_with("error: ") || line.starts_with("warning: ");
    llvm::errs() << (bare ? "zero-run: " : "") << line << "\n";
  }
}

static int refuse(llvm::Error error) {
  complain(llvm::toString(std::move(error)));
  return kBadInput;
}

/// Told before a long compilation. Devices and pipes are left to the one who writes.
static llvm::Error checkOutputs(const Flags &flags) {
  for (const std::string &path : {flags.save, flags.log, flags.report, flags.object}) {
    llvm::sys::fs::file_status status;
    bool exists = !llvm::sys::fs::status(path, status);
    bool isDevice = exists && !llvm::sys::fs::is_regular_file(status) &&
                    !llvm::sys::fs::is_directory(status) && path != flags.save;
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

static int train(TrainingRun &run, const Flags &flags) {
  endAfterTheStep();
  LoopOptions loop;
  loop.log = flags.log;
  loop.save = flags.save;
  loop.stop = [] { return interrupted != 0; };
  llvm::outs().flush();
  llvm::Expected<Ending> ending = trainToEnd(run, loop);
  if (!ending)
    return refuse(ending.takeError());
  return *ending == Ending::Interrupted ? kInterrupted : 0;
}

static int trainReference(Compiler &compiler, mlir::ModuleOp module, const Flags &flags) {
  llvm::Expected<std::unique_ptr<ReferenceRun>> run =
      ReferenceRun::create(compiler, module, flags.train);
  if (!run)
    return refuse(run.takeError());
  for (const std::string &line : (*run)->warnings())
    complain(line);
  return train(**run, flags);
}

static int trainCompiled(Compiler &compiler, mlir::ModuleOp module, const Flags &flags) {
  llvm::Expected<std::unique_ptr<Trainer>> trainer = Trainer::create(compiler, module, flags.train);
  if (!trainer)
    return refuse(trainer.takeError());
  for (const std::string &line : (*trainer)->warnings())
    complain(line);
  llvm::outs() << summaryText((*trainer)->report());
  if (llvm::Error error = writeReport((*trainer)->report(), flags.report))
    return refuse(std::move(error));
  int code = train(**trainer, flags);
  if (flags.train.profile)
    printProfile((*trainer)->session().profile(), llvm::outs());
  return code;
}

/// --dry-run, --emit-object, --print-table.
static int compileOnly(Compiler &compiler, mlir::ModuleOp module, const Flags &flags) {
  llvm::Expected<Report> report = planModule(compiler, module, flags.train);
  if (!report)
    return refuse(report.takeError());
  for (const std::string &line : takeLines(compiler))
    complain(line);
  if (flags.report != "-" && !flags.printTable)
    llvm::outs() << summaryText(*report);
  if (llvm::Error error = writeReport(*report, flags.report))
    return refuse(std::move(error));
  if (flags.dryRun)
    return 0;
  if (llvm::Error error = lowerModule(compiler, module, flags.train))
    return refuse(std::move(error));
  if (flags.printTable) {
    std::optional<zrt::Program> program = compiler.table(module);
    if (!program)
      return refuse(compilerError(compiler));
    llvm::outs() << zrt::print(*program);
  }
  if (flags.object.empty())
    return 0;
  std::vector<char> object = compiler.emitObject(module);
  if (object.empty())
    return refuse(compilerError(compiler));
  if (llvm::Error error = writeFile(
          flags.object, [&](llvm::raw_ostream &os) { os.write(object.data(), object.size()); }))
    return refuse(std::move(error));
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::optional<Flags> flags = parseFlags(argc, argv);
  if (!flags)
    return kWrongFlags;
  if (llvm::Error error = checkOutputs(*flags))
    return refuse(std::move(error));
  Compiler compiler;
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module = readModel(compiler, flags->model);
  if (!module)
    return refuse(module.takeError());
  if (levelOf(**module) >= Level::Sharded && !flags->configFlag.empty())
    return fail(kWrongFlags, "expects " + flags->configFlag +
                                 " only with a model before level sharded, got one at level " +
                                 nameOf(levelOf(**module)) + ", whose zero.config holds");
  if (flags->reference)
    return trainReference(compiler, **module, *flags);
  if (flags->dryRun || flags->printTable || !flags->object.empty())
    return compileOnly(compiler, **module, *flags);
  return trainCompiled(compiler, **module, *flags);
}
