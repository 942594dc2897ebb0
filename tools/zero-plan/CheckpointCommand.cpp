//===- CheckpointCommand.cpp - zero-plan checkpoint ------------------------===//
//
// `zero-plan checkpoint F.csv --budget B` chooses which values of a training graph
// are computed again, and prints the peak without that, the floor below which
// nothing fits, the plan's peak, its cost ratio, the status, the lower bound and the
// seconds.
//
//===----------------------------------------------------------------------===//
#include "CheckpointCommand.h"

#include "zero/Planning/CheckpointCsv.h"
#include "zero/Planning/PlotPlans.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

namespace checkpoint = zero::planning::checkpoint;
namespace cl = llvm::cl;

cl::SubCommand checkpointCommand("checkpoint",
                                 "Chooses what is kept and what is computed again within a budget");

namespace {

cl::OptionCategory category("zero-plan checkpoint's options");
cl::opt<std::string> input(cl::Positional, cl::Required, cl::sub(checkpointCommand),
                           cl::desc("<CSV with id, cost, bytes, inputs>"), cl::cat(category));
cl::opt<std::string>
    budget("budget", cl::Required, cl::sub(checkpointCommand), cl::cat(category),
           cl::value_desc("bytes or fraction"),
           cl::desc("Most bytes live at once; takes KiB, MiB, GiB; with a decimal point, a "
                    "fraction of the peak without recomputation"));
cl::opt<std::string>
    seconds("seconds", cl::sub(checkpointCommand), cl::cat(category), cl::value_desc("number"),
            cl::desc("About how long to look, at most: counted in moves of which a usual machine "
                     "does so many, so that the plan is the same on every one (default: 4)"));
cl::opt<std::string>
    output("o", cl::sub(checkpointCommand), cl::cat(category), cl::value_desc("file"),
           cl::desc("Write the order of computations, one id a row ('-': standard output)"));
cl::opt<std::string> plot("plot", cl::sub(checkpointCommand), cl::cat(category),
                          cl::value_desc("file"),
                          cl::desc("Draw the live bytes over the plan's computations, as SVG "
                                   "('-': standard output)"));

constexpr double kMovesPerSecond = 1e6;

int fail(const llvm::Twine &message) {
  llvm::errs() << message << "\n";
  return 1;
}

int wrongFlag(const llvm::Twine &message) {
  llvm::errs() << "zero-plan: " << message << "\n";
  return 2;
}

/// Bytes, or a fraction of `peak`.
bool readBudget(int64_t peak, int64_t &bytes) {
  llvm::StringRef text = budget;
  if (text.contains('.')) {
    double fraction = 0;
    if (!llvm::to_float(text, fraction) || !(fraction >= 0) || fraction > 1e6)
      return false;
    bytes = int64_t(fraction * double(peak));
    return true;
  }
  int shift = text.consume_back("KiB")   ? 10
              : text.consume_back("MiB") ? 20
              : text.consume_back("GiB") ? 30
                                         : 0;
  if (!llvm::to_integer(text, bytes, 10) || bytes < 0 || bytes > (INT64_MAX >> shift))
    return false;
  bytes <<= shift;
  return true;
}

int write(const std::string &path, const std::string &text) {
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
int writePlot(zero::planning::plot::Picture picture) {
  picture.title = input == "-" ? "standard input" : llvm::sys::path::filename(input).str();
  if (auto message = zero::planning::plot::check(picture))
    return fail(input + ": error: cannot be drawn: " + *message);
  return write(plot, zero::planning::plot::svg(picture));
}

std::string ratio(int64_t part, int64_t whole) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6f",
                                                 whole > 0 ? double(part) / double(whole) : 1.0);
  return text;
}

} // namespace

void hideOtherCheckpointFlags() { cl::HideUnrelatedOptions(category, checkpointCommand); }

int runCheckpoint() {
  checkpoint::Options options;
  if (seconds.getNumOccurrences()) {
    double limit = 0;
    if (!llvm::to_float(llvm::StringRef(seconds), limit) || !(limit > 0) || limit > 1e9)
      return wrongFlag("expects --seconds to be a number above 0, got '" + seconds + "'");
    options.moves = std::max<int64_t>(1, int64_t(limit * kMovesPerSecond));
  }
  if (!output.empty() && output == plot)
    return wrongFlag("expects outputs of different names, got " + output + " for -o and --plot");
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(input, /*IsText=*/true);
  if (!file)
    return fail(input + ": error: " + file.getError().message());
  llvm::StringRef text = (*file)->getBuffer();
  checkpoint::CsvResult read = checkpoint::readCsv({text.data(), text.size()});
  if (!read) {
    auto [place, message] = llvm::StringRef(*read.error).split(": ");
    return fail(input + ":" + place + ": error: " + message);
  }
  checkpoint::Problem &problem = read.problem;
  int64_t peak = basePeakBytes(problem), cost = baseCost(problem);
  if (!readBudget(peak, problem.budgetBytes))
    return wrongFlag("expects --budget to be a number of bytes, KiB, MiB or GiB, or a fraction "
                     "with a decimal point, got '" +
                     budget + "'");
  checkpoint::Floor floor = floorOf(problem);

  auto begin = std::chrono::steady_clock::now();
  checkpoint::Plan plan = checkpoint::plan(problem, options);
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  if (auto message = checkpoint::verify(problem, plan))
    return fail(input + ": error: the plan fails its check: " + *message);

  bool found = !plan.computations.empty();
  llvm::raw_ostream &out = output == "-" || plot == "-" ? llvm::errs() : llvm::outs();
  out << "base peak " << peak << "\n"
      << "floor     " << floor.bytes << "\n"
      << "budget    " << problem.budgetBytes << "\n"
      << "peak      " << (found ? std::to_string(plan.peakBytes) : "-") << "\n"
      << "ratio     " << (found ? ratio(plan.cost, cost) : "-") << "\n"
      << "bound     " << ratio(plan.lowerBoundCost, cost) << "\n"
      << "status    " << name(plan.status) << "\n"
      << "seconds   " << llvm::format("%.3f", spent.count()) << "\n";
  if (plan.floorNode >= 0)
    return fail(input + ": error: expects a budget of at least " + llvm::Twine(floor.bytes) +
                " bytes, which node " + llvm::Twine(problem.nodes[plan.floorNode].id) +
                " takes with its inputs, got " + llvm::Twine(problem.budgetBytes));
  if (!found)
    return 1;
  if (!plot.empty())
    if (int code = writePlot(zero::planning::pictureOf(problem, plan)))
      return code;
  return output.empty() ? 0 : write(output, writeCsv(problem, plan));
}
