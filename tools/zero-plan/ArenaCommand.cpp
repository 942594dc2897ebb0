//===- ArenaCommand.cpp - zero-plan arena ----------------------------------===//
//
// `zero-plan arena F.csv` packs the buffers of a CSV file and prints lower
// bound, height, their ratio, status and seconds.
//
//===----------------------------------------------------------------------===//
#include "ArenaCommand.h"

#include "Command.h"
#include "zero/Planning/ArenaCsv.h"
#include "zero/Planning/PlotPlans.h"
#include "zero/Training/Sizes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <numeric>

namespace arena = zero::planning::arena;
namespace cl = llvm::cl;

cl::SubCommand arenaCommand("arena", "Packs the buffers of a CSV file into one arena");

namespace {

cl::OptionCategory category("zero-plan's options");
cl::opt<std::string> input(cl::Positional, cl::Required, cl::sub(arenaCommand),
                           cl::desc("<CSV with id, lower, upper, size>"), cl::cat(category));
cl::opt<std::string> capacity("capacity", cl::sub(arenaCommand), cl::cat(category),
                              cl::value_desc("bytes"),
                              cl::desc("Stop at the first plan this low; takes KiB, MiB, GiB, TiB, "
                                       "such as 1.5GiB (default: as low as "
                                       "the search gets). Each memory space may take as much"));
cl::opt<std::string>
    alignment("alignment", cl::sub(arenaCommand), cl::cat(category), cl::value_desc("bytes"),
              cl::desc("Offsets are multiples of this too (default: the file's own)"));
cl::opt<std::string>
    seconds("seconds", cl::sub(arenaCommand), cl::cat(category), cl::value_desc("number"),
            cl::desc("Search until the plan is proved lowest or this time is over, and not for a "
                     "fixed number of steps; the plan then depends on the machine's speed. The "
                     "first steps are those without it: the plan is no higher, given the time"));
cl::opt<std::string>
    threads("threads", cl::sub(arenaCommand), cl::cat(category), cl::value_desc("number"),
            cl::desc("Orders tried at once; the plan is the same for any number (default: 1)"));
cl::opt<std::string> output("o", cl::sub(arenaCommand), cl::cat(category), cl::value_desc("file"),
                            cl::desc("Write the problem with its offsets ('-': standard output)"));
cl::opt<std::string> plot("plot", cl::sub(arenaCommand), cl::cat(category), cl::value_desc("file"),
                          cl::desc("Draw the plan over time, as SVG ('-': standard output)"));

/// A positive number of bytes into `value`, which stays empty without the flag; false, with a
/// message, for anything else.
bool readBytes(const Flag &flag, std::optional<int64_t> &value) {
  if (!flag.getNumOccurrences())
    return true;
  llvm::Expected<int64_t> bytes =
      zero::training::parseSize("--" + flag.ArgStr.str(), llvm::StringRef(flag), /*minimum=*/1);
  if (!bytes) {
    wrongFlag(toString(bytes.takeError()));
    return false;
  }
  value = *bytes;
  return true;
}

bool readThreads(int64_t &value) {
  if (!threads.getNumOccurrences() ||
      (llvm::to_integer(llvm::StringRef(threads), value, 10) && value >= 1 && value <= 1024))
    return true;
  wrongFlag("expects --threads to be a number between 1 and 1024, got '" + threads + "'");
  return false;
}

/// Raises every alignment to a common multiple with `bytes`.
std::optional<std::string> align(arena::Problem &problem, int64_t bytes) {
  for (arena::Buffer &buffer : problem.buffers) {
    int64_t common = 0;
    if (__builtin_mul_overflow(buffer.alignmentBytes / std::gcd(buffer.alignmentBytes, bytes),
                               bytes, &common))
      return "buffer " + problem.idText(buffer.id) + ": expects an alignment below 2^63";
    buffer.alignmentBytes = common;
  }
  return arena::check(problem);
}

} // namespace

void hideOtherArenaFlags() {
  for (cl::SubCommand *command : {&cl::SubCommand::getTopLevel(), &arenaCommand})
    cl::HideUnrelatedOptions(category, *command);
}

int runArena() {
  std::optional<int64_t> capacityBytes, alignmentBytes;
  arena::Options options;
  double limit = 0;
  if (!readBytes(capacity, capacityBytes) || !readBytes(alignment, alignmentBytes) ||
      !readSeconds(seconds, limit) || !readThreads(options.threads) ||
      !outputsDiffer(input, output, plot))
    return 2;
  std::unique_ptr<llvm::MemoryBuffer> file = readInput(input);
  if (!file)
    return 1;
  llvm::StringRef text = file->getBuffer();
  arena::CsvResult read = arena::readCsv({text.data(), text.size()});
  if (!read)
    return failAt(input, *read.error);
  file.reset(); // a large file is as much memory as some of the plan
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
  out << "height      " << plan.heightBytes << "\n";
  for (const arena::SpacePlan &space : plan.spaces) // the figures around are sums over these
    out << "space " << space.space << " height " << space.heightBytes << "\n";
  out << "ratio       "
      << llvm::format("%.6f", double(plan.heightBytes) / double(plan.lowerBoundBytes)) << "\n"
      << "status      " << arena::name(plan.status) << "\n"
      << "seconds     " << llvm::format("%.3f", taken) << "\n";
  // What is too high is worth a look too.
  if (!plot.empty())
    if (int code = writePlot(plot, input, zero::planning::pictureOf(problem, plan)))
      return code;
  if (!fits)
    return 1;
  return output.empty() ? 0 : write(output, arena::writeCsv(problem, &plan));
}
