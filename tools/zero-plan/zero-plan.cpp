//===- zero-plan.cpp - the planners on their own -------------------------===//
//
// `zero-plan arena F.csv` packs the buffers of a CSV file and prints lower
// bound, height, their ratio, status and seconds; `zero-plan checkpoint` is told
// of in CheckpointCommand.cpp. Exit codes: 0 a plan was found (within the
// capacity, if one was given), 1 bad input or no plan, 2 wrong flags.
//
//===----------------------------------------------------------------------===//
#include "CheckpointCommand.h"

#include "zero/Planning/Arena.h"
#include "zero/Planning/ArenaCsv.h"
#include "zero/Planning/PlotPlans.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <numeric>

namespace arena = zero::planning::arena;
namespace planning = zero::planning;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("zero-plan's options");
cl::SubCommand arenaCommand("arena", "Packs the buffers of a CSV file into one arena");
cl::opt<std::string> input(cl::Positional, cl::Required, cl::sub(arenaCommand),
                           cl::desc("<CSV with id, lower, upper, size>"), cl::cat(category));
cl::opt<std::string>
    capacity("capacity", cl::sub(arenaCommand), cl::cat(category), cl::value_desc("bytes"),
             cl::desc("Stop at the first plan this low; takes KiB, MiB, GiB (default: as low as "
                      "the search gets)"));
cl::opt<std::string>
    alignment("alignment", cl::sub(arenaCommand), cl::cat(category), cl::value_desc("bytes"),
              cl::desc("Offsets are multiples of this too (default: the file's own)"));
cl::opt<std::string>
    seconds("seconds", cl::sub(arenaCommand), cl::cat(category), cl::value_desc("number"),
            cl::desc("Search until the plan is proved lowest or this time is over, and not for a "
                     "fixed number of steps; the plan then depends on the machine's speed"));
cl::opt<std::string>
    threads("threads", cl::sub(arenaCommand), cl::cat(category), cl::value_desc("number"),
            cl::desc("Orders tried at once; the plan is the same for any number (default: 1)"));
cl::opt<std::string> output("o", cl::sub(arenaCommand), cl::cat(category), cl::value_desc("file"),
                            cl::desc("Write the problem with its offsets ('-': standard output)"));
cl::opt<std::string> plot("plot", cl::sub(arenaCommand), cl::cat(category), cl::value_desc("file"),
                          cl::desc("Draw the plan over time, as SVG ('-': standard output)"));

/// Reads a number of bytes, with or without KiB, MiB or GiB, into `value`, which
/// stays empty without the flag. False, with a message, for anything else.
bool readBytes(const cl::opt<std::string> &flag, std::optional<int64_t> &value) {
  if (!flag.getNumOccurrences())
    return true;
  llvm::StringRef digits = flag;
  int shift = digits.consume_back("KiB")   ? 10
              : digits.consume_back("MiB") ? 20
              : digits.consume_back("GiB") ? 30
                                           : 0;
  int64_t number = 0;
  if (!llvm::to_integer(digits, number, 10) || number < 1 || number > (INT64_MAX >> shift)) {
    llvm::errs() << "zero-plan: expects --" << flag.ArgStr
                 << " to be a positive number of bytes, KiB, MiB or GiB, got '" << flag << "'\n";
    return false;
  }
  value = number << shift;
  return true;
}

/// Reads --seconds and --threads into `options`, or says what is wrong.
bool readEffort(arena::Options &options, double &limit) {
  if (seconds.getNumOccurrences() &&
      (!llvm::to_float(llvm::StringRef(seconds), limit) || !(limit > 0) || limit > 1e9)) {
    llvm::errs() << "zero-plan: expects --seconds to be a number above 0, got '" << seconds
                 << "'\n";
    return false;
  }
  if (threads.getNumOccurrences() &&
      (!llvm::to_integer(llvm::StringRef(threads), options.threads, 10) || options.threads < 1 ||
       options.threads > 1024)) {
    llvm::errs() << "zero-plan: expects --threads to be a number between 1 and 1024, got '"
                 << threads << "'\n";
    return false;
  }
  return true;
}

int fail(const llvm::Twine &message) {
  llvm::errs() << message << "\n";
  return 1;
}

/// Writes `text` there, or says why not; nothing where there is no path. Returns an exit code.
int write(const std::string &path, const std::string &text) {
  if (path.empty())
    return 0;
  std::error_code error;
  llvm::ToolOutputFile written(path, error, llvm::sys::fs::OF_None);
  if (error)
    return fail(path + ": error: " + error.message());
  written.os() << text;
  written.os().flush();
  if (written.os().has_error()) {
    error = written.os().error();
    written.os().clear_error();
    return fail(path + ": error: " + error.message());
  }
  written.keep();
  return 0;
}

/// The picture under the name of its input.
int writePlot(planning::plot::Picture picture) {
  picture.title = input == "-" ? "standard input" : llvm::sys::path::filename(input).str();
  if (auto message = planning::plot::check(picture))
    return fail(input + ": error: cannot be drawn: " + *message);
  return write(plot, planning::plot::svg(picture));
}

/// Raises every alignment to a common multiple with `bytes`.
std::optional<std::string> align(arena::Problem &problem, int64_t bytes) {
  for (arena::Buffer &buffer : problem.buffers) {
    int64_t common = 0;
    if (__builtin_mul_overflow(buffer.alignmentBytes / std::gcd(buffer.alignmentBytes, bytes),
                               bytes, &common))
      return "buffer " + std::to_string(buffer.id) + ": expects an alignment below 2^63";
    buffer.alignmentBytes = common;
  }
  return arena::check(problem);
}

int runArena() {
  std::optional<int64_t> capacityBytes, alignmentBytes;
  if (!readBytes(capacity, capacityBytes) || !readBytes(alignment, alignmentBytes))
    return 2;
  arena::Options options;
  double limit = 0;
  if (!readEffort(options, limit))
    return 2;
  if (!output.empty() && output == plot) {
    llvm::errs() << "zero-plan: expects outputs of different names, got " << output
                 << " for -o and --plot\n";
    return 2;
  }
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(input, /*IsText=*/true);
  if (!file)
    return fail(input + ": error: " + file.getError().message());
  llvm::StringRef text = (*file)->getBuffer();
  arena::CsvResult read = arena::readCsv({text.data(), text.size()});
  if (!read)
    return fail(input + ":" + llvm::StringRef(*read.error).split(": ").first +
                ": error: " + llvm::StringRef(*read.error).split(": ").second);
  arena::Problem &problem = read.problem;
  problem.capacityBytes = capacityBytes;
  if (alignmentBytes)
    if (auto message = align(problem, *alignmentBytes))
      return fail(input + ": error: " + *message);

  auto begin = std::chrono::steady_clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  if (limit > 0) {
    options.iterations = options.work = INT64_MAX / 4;
    options.stop = [&] { return elapsed() >= limit; };
  }
  arena::Plan plan = arena::plan(problem, options);
  double taken = elapsed();
  if (auto message = arena::verify(problem, plan))
    return fail(input + ": error: the plan fails its check: " + *message);

  bool fits = plan.status == arena::Status::Optimal || plan.status == arena::Status::Feasible;
  llvm::raw_ostream &out = output == "-" || plot == "-" ? llvm::errs() : llvm::outs();
  out << "lower bound " << plan.lowerBoundBytes << "\n";
  if (plan.provedBytes > plan.lowerBoundBytes) // nothing is lower than this, by exhaustion
    out << "proved      " << plan.provedBytes << "\n";
  out << "height      " << plan.heightBytes << "\n"
      << "ratio       "
      << llvm::format("%.6f", double(plan.heightBytes) / double(plan.lowerBoundBytes)) << "\n"
      << "status      " << arena::name(plan.status) << "\n"
      << "seconds     " << llvm::format("%.3f", taken) << "\n";
  // What is too high is worth a look too.
  if (!plot.empty())
    if (int code = writePlot(planning::pictureOf(problem, plan)))
      return code;
  return fits ? write(output, output.empty() ? "" : arena::writeCsv(problem, &plan)) : 1;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  for (cl::SubCommand *command : {&cl::SubCommand::getTopLevel(), &arenaCommand})
    cl::HideUnrelatedOptions(category, *command);
  hideOtherCheckpointFlags();
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  if (!cl::ParseCommandLineOptions(argc, argv, "Zero's planners on their own\n", &stream)) {
    llvm::errs() << messages;
    return 2;
  }
  if (arenaCommand)
    return runArena();
  if (checkpointCommand)
    return runCheckpoint();
  llvm::errs() << "zero-plan: expects a subcommand, 'arena' or 'checkpoint'; see --help\n";
  return 2;
}
