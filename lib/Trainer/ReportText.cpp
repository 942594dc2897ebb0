//===- ReportText.cpp - a report as JSON, as a block of lines, as an error --===//

#include "zero/Trainer/Report.h"

#include "zero/Training/Sizes.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

namespace zero {

using training::formatSize;

/// The peak's rows under the names of the report.
static std::array<std::pair<llvm::StringRef, int64_t>, 7> rowsOf(const Report::Peak &peak) {
  return {{{"states", peak.states},
           {"control", peak.control},
           {"activations", peak.activations},
           {"buckets", peak.buckets},
           {"inputs", peak.inputs},
           {"workspace", peak.workspace},
           {"padding", peak.padding}}};
}

/// The ten largest holders of the peak.
static llvm::ArrayRef<Report::Holder> largest(const Report &report) {
  return llvm::ArrayRef(report.holders).take_front(10);
}

double Report::flopsRatio() const {
  int64_t once = flops - recomputedFlops;
  return once > 0 ? static_cast<double>(flops) / static_cast<double>(once) : 1.0;
}

void writeJson(const Report &report, llvm::raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("parameters", report.parameters);
    json.attribute("frozen_parameters", report.frozenParameters);
    json.attribute("unused_parameters", report.unusedParameters);
    json.attribute("decayed_parameters", report.decayedParameters);
    json.attribute("ranks", report.ranks);
    json.attribute("stage", report.stage);
    json.attribute("micro_steps", report.microSteps);
    json.attributeObject("model_state_bytes", [&] {
      for (int kind = 0; kind < zrt::kStateKindCount; ++kind)
        json.attribute(zrt::name(static_cast<zrt::StateKind>(kind)),
                       report.modelStateBytes[static_cast<size_t>(kind)]);
    });
    json.attribute("control_bytes", report.controlBytes);
    json.attribute("padding_bytes", report.paddingBytes);
    json.attribute("bucket_bytes", report.bucketBytes);
    json.attribute("activation_bytes", report.activationBytes);
    json.attribute("workspace_bytes", report.workspaceBytes);
    json.attribute("input_bytes", report.inputBytes);
    json.attributeObject("peak", [&] {
      for (auto [name, bytes] : rowsOf(report.peak))
        json.attribute(name, bytes);
    });
    json.attributeObject("peak_moment", [&] {
      json.attribute("segment", report.peakSegment);
      json.attribute("op", report.peakOp);
      json.attribute("time", report.peakTime);
      json.attribute("times", report.peakTimes);
    });
    json.attributeArray("peak_holders", [&] {
      for (const Report::Holder &holder : largest(report))
        json.object([&] {
          json.attribute("name", holder.name);
          json.attribute("bytes", holder.bytes);
          json.attribute("count", holder.count);
        });
    });
    json.attribute("arena_bytes", report.arenaBytes);
    json.attribute("arena_lower_bound_bytes", report.arenaLowerBoundBytes);
    json.attributeObject("communication_elements", [&] {
      json.attribute("all_reduce", report.communication.allReduce);
      json.attribute("reduce_scatter", report.communication.reduceScatter);
      json.attribute("all_gather", report.communication.allGather);
    });
    json.attributeObject("recompute", [&] {
      json.attribute("launches", report.recomputedLaunches);
      json.attribute("flops", report.recomputedFlops);
      json.attribute("flops_ratio", report.flopsRatio());
    });
    json.attribute("compile_seconds", report.compileSeconds);
    if (report.messageBytes)
      json.attribute("message_bytes", report.messageBytes);
  });
  os << "\n";
}

std::string summaryText(const Report &report) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "parameters     " << report.parameters << " trainable (" << report.decayedParameters
     << " with weight decay, " << report.otherParameters << " without), " << report.frozenParameters
     << " frozen, " << report.unusedParameters << " unused\n";
  os << "ranks          " << report.ranks << ", stage " << report.stage << ", " << report.microSteps
     << (report.microSteps == 1 ? " micro-step" : " micro-steps") << " a step\n";
  os << "arena          " << formatSize(report.arenaBytes) << " a rank (" << report.arenaBytes
     << " bytes; lower bound " << report.arenaLowerBoundBytes << ")\n";
  os << "  at the peak ";
  for (auto [i, row] : llvm::enumerate(rowsOf(report.peak)))
    os << (i ? ", " : " ") << row.first << " " << formatSize(row.second);
  os << "\n";
  if (!report.peakSegment.empty()) {
    os << "  its moment   op " << report.peakTime << " of " << report.peakTimes << " in "
       << report.peakSegment << ": " << report.peakOp << "\n";
    os << "  its holders ";
    for (auto [i, holder] : llvm::enumerate(largest(report))) {
      os << (i ? ", " : " ") << holder.name << " " << formatSize(holder.bytes);
      if (holder.count > 1)
        os << " (" << holder.count << ")";
    }
    os << "\n";
  }
  if (report.recomputedLaunches)
    os << "recomputed     " << report.recomputedLaunches << " launches a micro-step, "
       << llvm::format("%.3f", report.flopsRatio()) << " times the operations\n";
  os << "communication  " << report.communication.total()
     << " elements a step and rank (all_gather " << report.communication.allGather
     << ", reduce_scatter " << report.communication.reduceScatter << ", all_reduce "
     << report.communication.allReduce << ")\n";
  if (report.messageBytes)
    os << "messages       " << formatSize(report.messageBytes)
       << " a rank for what other processes send, beside the arena\n";
  return text;
}

std::string largestHolders(const Report &report) {
  constexpr size_t kNamed = 5;
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      llvm::ArrayRef(report.holders).take_front(kNamed),
      [&](const Report::Holder &holder) { os << holder.name << " " << holder.bytes; },
      [&] { os << ", "; });
  return text;
}

llvm::Error checkBudget(const Report &report, int64_t budgetBytes) {
  if (report.arenaBytes <= budgetBytes)
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "error: expects an arena of at most " << budgetBytes
     << " bytes a rank (--memory-budget), got " << report.arenaBytes << ": "
     << report.arenaBytes - budgetBytes << " bytes are missing";
  if (report.arenaLowerBoundBytes <= budgetBytes)
    os << ", though the lower bound of " << report.arenaLowerBoundBytes << " would fit";
  os << "; at the peak, ";
  if (!report.peakSegment.empty())
    os << "in segment " << report.peakSegment << ", ";
  llvm::interleave(
      rowsOf(report.peak), [&](auto row) { os << row.first << " " << row.second; },
      [&] { os << ", "; });
  if (!report.holders.empty())
    os << "; its largest holders are " << largestHolders(report);
  return llvm::createStringError(text);
}

} // namespace zero
