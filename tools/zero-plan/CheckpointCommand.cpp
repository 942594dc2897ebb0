//===- CheckpointCommand.cpp - zero-plan checkpoint ------------------------===//
//
// `zero-plan checkpoint F.csv --budget B` chooses which values of a training graph
// are computed again, and prints the peak without that, the floor below which
// nothing fits, the plan's peak, its cost ratio, the status, the lower bound and the
// seconds.
//
//===----------------------------------------------------------------------===//
#include "CheckpointCommand.h"

#include "Command.h"
#include "zero/Planning/CheckpointCsv.h"
#include "zero/Planning/PlotPlans.h"
#include "zero/Training/Sizes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
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
cl::opt<std::string> budget(
    "budget", cl::Required, cl::sub(checkpointCommand), cl::cat(category),
    cl::value_desc("bytes or fraction"),
    cl::desc(
        "Most bytes live at once; takes KiB, MiB, GiB, TiB, such as 1.5GiB; with a decimal point "
        "and no unit, a fraction of the peak without recomputation. Several with commas between: a "
        "row for each, and cost never rises with the budget"));
cl::opt<std::string>
    seconds("seconds", cl::sub(checkpointCommand), cl::cat(category), cl::value_desc("number"),
            cl::desc("About how long one search looks, at most: counted in moves of which a usual "
                     "machine does so many, so that the plan is the same on every one; a budget "
                     "near which plans are rare takes several searches (default: 4)"));
cl::opt<std::string>
    output("o", cl::sub(checkpointCommand), cl::cat(category), cl::value_desc("file"),
           cl::desc("Write the order of computations, one id a row ('-': standard output)"));
cl::opt<std::string> plot("plot", cl::sub(checkpointCommand), cl::cat(category),
                          cl::value_desc("file"),
                          cl::desc("Draw the live bytes over the plan's computations, as SVG "
                                   "('-': standard output)"));

/// What the planner does on its own, in the unit of --seconds.
constexpr double kDefaultSeconds = 4;

/// Bytes, or a fraction of `peak`; one beyond 63 bits is as good as all of them.
std::optional<int64_t> parseBudget(llvm::StringRef text, int64_t peak) {
  if (!text.contains('.') || text.ends_with("iB")) {
    llvm::Expected<int64_t> bytes = zero::training::parseSize("--budget", text);
    if (!bytes)
      llvm::consumeError(bytes.takeError()); // told of with what else a budget may be
    return bytes ? std::optional(*bytes) : std::nullopt;
  }
  double fraction = 0;
  if (!llvm::to_float(text, fraction) || !(fraction >= 0) || fraction > 1e6)
    return std::nullopt;
  double bytes = fraction * double(peak);
  return bytes < 0x1p63 ? int64_t(bytes) : INT64_MAX;
}

int failBelowFloor(const checkpoint::Problem &problem, int64_t budgetBytes) {
  checkpoint::Floor floor = floorOf(problem);
  return fail(input + ": error: expects a budget of at least " + llvm::Twine(floor.bytes) +
              " bytes, which node " + llvm::Twine(problem.nodes[floor.node].id) +
              " takes with its inputs, got " + llvm::Twine(budgetBytes));
}

std::string ratio(int64_t part, int64_t whole) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6f",
                                                 whole > 0 ? double(part) / double(whole) : 1.0);
  return text;
}

/// A row for each budget; 1 where one of them has no plan.
int runOver(const checkpoint::Problem &problem, const std::vector<int64_t> &budgets,
            const checkpoint::Options &options) {
  std::vector<checkpoint::Plan> plans = planOver(problem, budgets, options);
  int64_t cost = baseCost(problem);
  bool allFound = true;
  llvm::outs() << "base peak " << basePeakBytes(problem) << "\n"
               << "floor     " << floorOf(problem).bytes << "\n"
               << "budget peak ratio bound status\n";
  for (size_t i = 0; i < plans.size(); ++i) {
    const checkpoint::Plan &plan = plans[i];
    checkpoint::Problem within = problem;
    within.budgetBytes = budgets[i];
    if (auto message = checkpoint::verify(within, plan))
      return fail(input + ": error: the plan fails its check: " + *message);
    bool found = !plan.computations.empty();
    allFound &= found;
    llvm::outs() << budgets[i] << " " << (found ? std::to_string(plan.peakBytes) : "-") << " "
                 << (found ? ratio(plan.cost, cost) : "-") << " "
                 << ratio(plan.lowerBoundCost, cost) << " " << name(plan.status) << "\n";
  }
  llvm::outs().flush();
  for (size_t i = 0; i < plans.size(); ++i)
    if (plans[i].floorNode >= 0)
      failBelowFloor(problem, budgets[i]);
  return allFound ? 0 : 1;
}

} // namespace

void hideOtherCheckpointFlags() { cl::HideUnrelatedOptions(category, checkpointCommand); }

int runCheckpoint() {
  double limit = 0;
  if (!readSeconds(seconds, limit) || !outputsDiffer(input, output, plot))
    return 2;
  if (!output.empty() && isSameFile(output, input)) // the plan would be all that is left of it
    return wrongFlag("expects -o to be another file than the input, got " + output);
  checkpoint::Options options;
  if (limit > 0)
    options.moves = std::max<int64_t>(1, int64_t(limit / kDefaultSeconds * double(options.moves)));
  std::unique_ptr<llvm::MemoryBuffer> file = readInput(input);
  if (!file)
    return 1;
  llvm::StringRef text = file->getBuffer();
  checkpoint::CsvResult read = checkpoint::readCsv({text.data(), text.size()});
  if (!read)
    return failAt(input, *read.error);
  checkpoint::Problem &problem = read.problem;
  int64_t peak = basePeakBytes(problem), cost = baseCost(problem);
  std::vector<int64_t> budgets;
  for (llvm::StringRef text : llvm::split(llvm::StringRef(budget), ',')) {
    std::optional<int64_t> bytes = parseBudget(text, peak);
    if (!bytes)
      return wrongFlag("expects --budget to be bytes, such as 4096, 64KiB, 1MiB, 1.5GiB or 2TiB, "
                       "or a fraction with a decimal point, such as 0.8, got '" +
                       text + "'");
    budgets.push_back(*bytes);
  }
  if (budgets.size() > 1) {
    if (!output.empty() || !plot.empty())
      return wrongFlag("expects one --budget with -o and --plot, got " +
                       llvm::Twine(budgets.size()));
    return runOver(problem, budgets, options);
  }
  problem.budgetBytes = budgets.front();
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
    return failBelowFloor(problem, problem.budgetBytes);
  if (!found)
    return 1;
  if (!plot.empty())
    if (int code = writePlot(plot, input, zero::planning::pictureOf(problem, plan)))
      return code;
  return output.empty() ? 0 : write(output, writeCsv(problem, plan));
}
