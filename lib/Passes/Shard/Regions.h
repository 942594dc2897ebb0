//===- Regions.h - how long a gathered bucket stays ---------------------------===//
//
// A region of use is a maximal run of launches that read a bucket, with no launch
// between that reads another bucket and not this one. There is one gather a region.
//
// What backward computes again reads forward's weights a second time, in the order of
// forward, and would close each bucket just before backward itself wants it. So a
// repetition reads the gather that the next launch of backward itself needs anyway,
// which begins that much earlier: recomputation sends nothing of its own. Where the
// repetitions are left out, regions are what they are without recomputation.
//
//   forward        a b c d     reads  0 0 1 1   gathers 0, 1
//   backward, c' runs again    c' d- c- b- a-   reads  1 1 1 0 0   gathers 1, 0
//
// A bucket that waits for its next reader while others are read is held. That can be
// bounded: where activations and what is held come to more, that one goes whose next
// reader is last (Belady, IBM Systems Journal 5(2), 1966), and is gathered again. So
// first layers hold more than last ones, whose backward finds all activations alive.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PASSES_SHARD_REGIONS_H
#define ZERO_LIB_PASSES_SHARD_REGIONS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace zero {

/// A launch that reads parameters.
struct BucketReader {
  std::vector<int64_t> buckets; ///< each once
  bool repeats = false;         ///< whether it computes again what another one did
  int64_t liveBytes = 0;        ///< of activations while it runs
};

/// By reader and its bucket, a number of the region; one number has one bucket. `bytes` are those
/// of the buckets. Activations and what is held take at most `holdBytes` together while a reader
/// runs, or else nothing is held; any number is where that is negative. O(reads · buckets held at a
/// time).
std::vector<std::vector<int64_t>> regionsOf(llvm::ArrayRef<BucketReader> readers,
                                            llvm::ArrayRef<int64_t> bytes, int64_t holdBytes);

} // namespace zero

#endif // ZERO_LIB_PASSES_SHARD_REGIONS_H
