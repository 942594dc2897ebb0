//===- Layout.h - who owns which elements of a bucket ---------------------===//
//
// A bucket of `length` elements is cut into chunks [c·chunk, (c+1)·chunk), the
// last one shorter; rank r owns the r-th 1/N of each chunk, and its shard is
// those pieces in chunk order. At N = 3, length 21, chunk 15:
//
//   full    0    5    10   15 17 19 21
//           |r0  |r1  |r2  |r0|r1|r2|        rank 0: [0,5) [15,17)
//
// Weights, gradients, master copies and moments of a bucket share the layout,
// so the collectives, the norm, the update and checkpoints all ask here.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_LAYOUT_H
#define ZERO_RUNTIME_LAYOUT_H

#include "zero/Runtime/Program.h"

#include <algorithm>
#include <cstdint>

namespace zrt {

/// `count` elements at `begin` of the full bucket, at `shardBegin` of the owner's shard.
struct Piece {
  int64_t begin = 0, count = 0, shardBegin = 0;

  bool operator==(const Piece &) const = default;
};

/// Elements only, no bytes. Length and chunk are positive multiples of `ranks`.
class BucketLayout {
public:
  BucketLayout(int64_t length, int64_t chunk, int64_t ranks)
      : length(length), chunk(chunk), ranks(ranks) {}
  BucketLayout(const Bucket &bucket, int64_t ranks)
      : BucketLayout(bucket.lengthElements, bucket.chunkElements, ranks) {}

  int64_t lengthElements() const { return length; }
  int64_t shardElements() const { return length / ranks; }
  int64_t chunks() const { return length / chunk + (length % chunk != 0); }

  /// The piece of one rank in one chunk.
  Piece piece(int64_t chunkIndex, int64_t rank) const {
    int64_t start = chunkIndex * chunk;
    int64_t count = std::min(chunk, length - start) / ranks;
    return {start + rank * count, count, start / ranks};
  }

  /// Calls fn(Piece) for each part of [begin, end) that the rank owns, in ascending order. Touches
  /// only the chunks that the range meets.
  template <typename Fn>
  void forEachOwned(int64_t rank, int64_t begin, int64_t end, Fn &&fn) const {
    if (begin >= end)
      return;
    for (int64_t c = begin / chunk, last = (end - 1) / chunk; c <= last; ++c) {
      Piece owned = piece(c, rank);
      int64_t from = std::max(begin, owned.begin), to = std::min(end, owned.begin + owned.count);
      if (from < to)
        fn(Piece{from, to - from, owned.shardBegin + (from - owned.begin)});
    }
  }

  /// How many elements of [begin, end) the rank owns.
  int64_t ownedElements(int64_t rank, int64_t begin, int64_t end) const;

private:
  int64_t length, chunk, ranks;
};

/// Element type of a kind of state of the bucket.
ElementType stateType(const Bucket &bucket, StateKind kind);

/// Elements of a kind of state on one rank: the shard's or the full bucket's.
int64_t stateElements(const Bucket &bucket, StateKind kind, int64_t ranks);

/// The state that norm and update read gradients from: the accumulated ones where there are such.
/// Null where the bucket has no gradients.
const StatePlace *gradientState(const Bucket &bucket);

} // namespace zrt

#endif // ZERO_RUNTIME_LAYOUT_H
