//===- RankSum.h - the sum over ranks, with the same bits everywhere ------===//
//
// What every communicator forms a reduction with (N1): in f32, in rank order,
// beginning with rank 0's value, rounded once.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_RANKSUM_H
#define ZERO_RUNTIME_RANKSUM_H

#include "zero/Runtime/HalfFloat.h"

#include <algorithm>

namespace zrt {

/// target = Σ over ranks of valuesOf(rank), or target + that, where the target's own value is
/// added to the finished f32 sum. `valuesOf` gives a rank's first element, as a `const char *`.
/// The target may be the values of any rank: each is read before the target is written, in steps
/// of a block that stays in the first-level cache.
template <typename ValuesOf>
void sumInRankOrder(ElementType type, int64_t ranks, int64_t elements, ValuesOf &&valuesOf,
                    void *target, bool add) {
  constexpr int64_t kBlock = 1024;
  float sum[kBlock], converted[kBlock];
  int64_t width = elementBytes(type);
  for (int64_t begin = 0; begin < elements; begin += kBlock) {
    int64_t count = std::min(kBlock, elements - begin);
    auto addValues = [&](const char *bytes) {
      auto *values = reinterpret_cast<const float *>(bytes);
      if (type != ElementType::f32) {
        toFloats(type, bytes, count, converted);
        values = converted;
      }
      for (int64_t i = 0; i < count; ++i)
        sum[i] += values[i];
    };
    char *place = static_cast<char *>(target) + begin * width;
    toFloats(type, valuesOf(0) + begin * width, count, sum);
    for (int64_t rank = 1; rank < ranks; ++rank)
      addValues(valuesOf(rank) + begin * width);
    if (add)
      addValues(place);
    fromFloats(type, sum, count, place);
  }
}

} // namespace zrt

#endif // ZERO_RUNTIME_RANKSUM_H
