//===- Buckets.h - which parameters share a bucket, and who owns what ----===//
//
// A bucket is the unit of layout, gather buffer and collective. It holds whole
// parameters: consecutive ones, in order of first use, up to `bucketBytes`
// (slot padding included), or one larger parameter alone. Parameters of one
// class and one element type form a sequence of their own, so that a frozen
// weight or an f32 norm between two bf16 matrices closes no bucket.
//
// A bucket of length L (the end of its last slot, rounded up to N) is moved in
// chunks; rank r owns the r-th 1/N of each chunk, and its shard is those pieces
// in chunk order. The same layout serves weights, gradients and moments.
//
//   N = 3, bucketBytes = 64, one f32 parameter of 20 elements:
//   length 21, chunk 15 | rank 0: [0,5)[15,17)  rank 1: [5,10)[17,19)
//                       | rank 2: [10,15)[19,21)  real elements owned: 7 7 6
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PLANNING_BUCKETS_H
#define ZERO_PLANNING_BUCKETS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zero::planning::buckets {

/// Slots begin at multiples of this in the full bucket.
inline constexpr int64_t kSlotAlignmentBytes = 64;

/// Problems whose buckets would take more than this together are refused.
inline constexpr int64_t kMaxTotalBytes = int64_t(1) << 60;

/// Frozen and unused buckets hold weights only; unused ones are never gathered.
enum class Class : uint8_t { Trainable, Frozen, Unused };

struct Parameter {
  std::string name;
  int64_t elements = 0;
  int64_t elementBytes = 4; ///< a divisor of kSlotAlignmentBytes
  Class kind = Class::Trainable;
  int64_t type = 0; ///< element type, as the caller numbers them
};

struct Problem {
  std::vector<Parameter> parameters; ///< in order of first use
  int64_t ranks = 1;
  int64_t bucketBytes = 0;
};

/// A whole parameter inside its bucket; `begin` counts elements.
struct Slot {
  int64_t parameter = 0; ///< index into Problem::parameters
  int64_t begin = 0;
  int64_t elements = 0;
  int64_t end() const { return begin + elements; }
};

struct Bucket {
  std::string name; ///< b0, b1, … trainable; f0, … frozen; u0, … unused
  Class kind = Class::Trainable;
  int64_t type = 0;
  int64_t elementBytes = 4;
  std::vector<Slot> slots; ///< by rising `begin`
  int64_t length = 0;      ///< elements, padding included; a multiple of ranks
  int64_t chunk = 0;       ///< elements; a multiple of ranks, at most `length`
};

struct Plan {
  /// Trainable, then frozen, then unused ones; in each class by first parameter.
  std::vector<Bucket> buckets;
};

/// A run of the full bucket that one rank owns, and its place in the shard.
/// All in elements.
struct Piece {
  int64_t begin = 0, end = 0;
  int64_t shardBegin = 0;
};

/// What is wrong with `problem`, or nothing: ranks or bucketBytes below one, a
/// parameter without elements or of an odd width, sizes beyond kMaxTotalBytes.
std::optional<std::string> check(const Problem &problem);

/// Fills buckets greedily, in one pass over the parameters. Needs a problem
/// that `check` accepts.
Plan plan(const Problem &problem);

/// What is wrong with `plan`, or nothing; recomputed from the laws above and
/// not from `plan()`: every parameter in exactly one slot, slots aligned and
/// apart, lengths, chunks, and no bucket closed before it was full.
std::optional<std::string> verify(const Problem &problem, const Plan &plan);

/// The pieces of `bucket` that `rank` owns, one a chunk, in chunk order.
std::vector<Piece> pieces(const Bucket &bucket, int64_t ranks, int64_t rank);

/// How many elements of parameters, padding left out, `rank` owns.
int64_t ownedElements(const Bucket &bucket, int64_t ranks, int64_t rank);

} // namespace zero::planning::buckets

#endif // ZERO_PLANNING_BUCKETS_H
