//===- Plan.h - block sizes and workspaces, from descriptors alone --------===//
//
// The same on every processor and known while planning: what is here decides
// both the workspace that the arena reserves and the order of additions. Block
// lengths along k, and key blocks in attention, show in the bits; all other
// lengths do not.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_RUNTIME_CPU_KERNELS_PLAN_H
#define ZERO_LIB_RUNTIME_CPU_KERNELS_PLAN_H

#include "zero/Runtime/Program.h"

namespace zrt {

inline constexpr int64_t kMaxTileRows = 12;  // a multiple of every instruction set's
inline constexpr int64_t kMaxGroupStep = 16; // floats per column of a packed row group
inline constexpr int64_t kMaxSliver = 32;    // columns; likewise
inline constexpr int64_t kMaxKBlock = 384;   // a packed row group then fits the first-level cache
inline constexpr int kLeftRow = 400;         // distance of its rows: not a power of two
/// A row group in either packed form; columns are written sixteen lanes at a time and run over.
inline constexpr int64_t kLeftFloats = kMaxGroupStep * kMaxKBlock + 16;
static_assert(kLeftFloats >= kMaxTileRows * kLeftRow);
inline constexpr int64_t kMaxNBlock = 512;      // and the packed B the second-level one
inline constexpr int64_t kMaxPartial = 1 << 18; // running sums, beside it
inline constexpr int64_t kSmallGemm = 32768;    // m·n·k up to which the stack is enough

static inline int64_t roundUp(int64_t x, int64_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}
static inline int64_t divideUp(int64_t x, int64_t y) { return (x + y - 1) / y; }

/// Floats per thread, each a multiple of 16.
struct GemmPlan {
  bool small;
  int64_t kBlocks, kBlock;
  int64_t mBlock, nBlock;
  int64_t depth; // rows reserved per sliver of packed B, where they have one
  int64_t leftFloats, rightFloats, partialFloats;
  int64_t floatsPerThread() const { return small ? 0 : leftFloats + rightFloats + partialFloats; }
};
GemmPlan planGemm(const GemmDesc &desc);

/// The same for bf16 on processors that multiply whole tiles of it. All packed values are pairs of
/// 16 bits, and blocks of k are whole steps; they don't show in the bits here.
inline constexpr int64_t kPairTile = 32; // rows and columns of C, and elements of k a step
inline constexpr int64_t kMaxPairKBlock = 512;
GemmPlan planPairGemm(const GemmDesc &desc);

struct AttentionPlan {
  int64_t queryBlock, keyBlock;
  int64_t sumFloats; // of them: dQ of a group of heads, where it cannot be summed in its own memory
  int64_t floatsPerThread;
};
AttentionPlan planAttention(const AttentionDesc &desc);

/// Distances of the rows of keys and values as left operands, short and long heads.
inline constexpr int kShortHead = 64, kLongHead = 256;
static inline int64_t headRow(int64_t dim) { return dim <= kShortHead ? kShortHead : kLongHead; }

/// Rows up to which scatter finds equal indices by comparing all pairs, without workspace.
inline constexpr int64_t kScatterPairs = 256;

/// Where a workspace of aligned rows begins inside bytes that carry 64 bytes of slack.
static inline float *alignWorkspace(char *workspace) {
  return reinterpret_cast<float *>((reinterpret_cast<uintptr_t>(workspace) + 63) & ~uintptr_t(63));
}

} // namespace zrt

#endif // ZERO_LIB_RUNTIME_CPU_KERNELS_PLAN_H
