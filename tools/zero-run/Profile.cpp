//===- Profile.cpp - where the time of a step goes --------------------------===//

#include "Profile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <map>

namespace zero::run {

void printProfile(llvm::ArrayRef<zrt::RowProfile> rows, llvm::raw_ostream &os) {
  struct Total {
    int64_t runs = 0;
    double seconds = 0.0, flops = 0.0;
  };
  std::map<std::string, Total> totals;
  double all = 0.0;
  for (const zrt::RowProfile &row : rows) {
    // A collective's label ends in its bucket: all of a kind are one line.
    bool isCollective = row.flops == 0 && llvm::StringRef(row.label).contains(' ');
    Total &total = totals[isCollective ? row.label.substr(0, row.label.find(' ')) : row.label];
    total.runs += row.runs;
    total.seconds += row.seconds;
    total.flops += static_cast<double>(row.flops) * static_cast<double>(row.runs);
    all += row.seconds;
  }
  std::vector<std::pair<std::string, Total>> sorted(totals.begin(), totals.end());
  llvm::stable_sort(
      sorted, [](const auto &a, const auto &b) { return a.second.seconds > b.second.seconds; });
  os << llvm::format("%-40s %8s %12s %7s %8s\n", "kernel", "runs", "total ms", "share", "GF/s");
  for (auto &[label, total] : sorted) {
    os << llvm::format("%-40s %8lld %12.3f %6.1f%%", label.c_str(),
                       static_cast<long long>(total.runs), total.seconds * 1e3,
                       all > 0.0 ? 100.0 * total.seconds / all : 0.0);
    if (total.flops > 0.0 && total.seconds > 0.0)
      os << llvm::format(" %8.2f", total.flops / total.seconds * 1e-9);
    os << "\n";
  }
}

} // namespace zero::run
