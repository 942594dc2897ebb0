//===- Dropout.h - which probabilities of attention are dropped -----------===//
//
// The mask of Random.h for sixteen queries at a time, one a lane, over
// consecutive keys. A Philox block serves four consecutive elements of a sample,
// here four keys of one query; where the number of keys is no multiple of four,
// queries begin inside a block, each at its own word, and the words of two
// neighbouring blocks are shifted into place.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_RUNTIME_CPU_KERNELS_DROPOUT_H
#define ZERO_LIB_RUNTIME_CPU_KERNELS_DROPOUT_H

#include "Types.h"
#include "zero/Runtime/Kernels.h"

namespace zrt::ZRT_ISA {

typedef uint64_t Long8 __attribute__((ext_vector_type(8)));

/// The halves of a·m.
struct Product {
  UInt16 low, high;
};
ZRT_INLINE Product wideProduct(UInt16 a, uint32_t m) {
  const Long8 lowHalf = (Long8)0xffffffffu;
  Long8 pairs = __builtin_bit_cast(Long8, a);
  Long8 even = (pairs & lowHalf) * (Long8)m, odd = (pairs >> 32) * (Long8)m;
  return {__builtin_bit_cast(UInt16, (even & lowHalf) | odd << 32),
          __builtin_bit_cast(UInt16, even >> 32 | (odd & ~lowHalf))};
}

/// Philox4x32-10 for sixteen counters (block, site, sample, step).
ZRT_INLINE void philox(const RandomState &state, UInt16 block, uint32_t site, uint32_t sample,
                       UInt16 (&words)[4]) {
  UInt16 c0 = block, c1 = (UInt16)site, c2 = (UInt16)sample, c3 = (UInt16)state.step;
  uint32_t key0 = state.seedLow, key1 = state.seedHigh;
  for (int round = 0; round < 10; ++round) {
    Product a = wideProduct(c0, 0xd2511f53u), b = wideProduct(c2, 0xcd9e8d57u);
    c0 = b.high ^ c1 ^ key0;
    c1 = b.low;
    c2 = a.high ^ c3 ^ key1;
    c3 = a.low;
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  words[0] = c0, words[1] = c1, words[2] = c2, words[3] = c3;
}

/// What is dropped of one head of one sample.
struct HeadDropout {
  const RandomState *state; // null: nothing
  uint32_t site, sample, threshold;
  float inverse; // what kept probabilities are multiplied by
  int64_t firstRow, keyLen;

  HeadDropout(const AttentionDesc &desc, const RandomState *random, int64_t batch, int64_t head)
      : state(desc.dropoutRate > 0.0 ? random : nullptr), site(uint32_t(desc.dropoutSite)),
        sample(state ? state->firstSample + uint32_t(batch) : 0),
        threshold(dropoutThreshold(desc.dropoutRate)),
        inverse(float(1.0 / (1.0 - desc.dropoutRate))), firstRow(head * desc.queryLen),
        keyLen(desc.keyLen) {}
};

/// The words of queries [query, query + 16), four keys at a time from `key` on.
class KeyWords {
public:
  KeyWords(const HeadDropout &of, int64_t query, int64_t key) : of(of) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const int64_t element = (of.firstRow + query + lane) * of.keyLen + key;
      block[lane] = uint32_t(element >> 2);
      phase[lane] = uint32_t(element & 3);
    }
    shifted = __builtin_reduce_or(phase) != 0;
    if (shifted)
      draw(current);
  }

  void next(UInt16 (&words)[4]) {
    if (!shifted)
      return draw(words);
    UInt16 following[4];
    draw(following);
    const UInt16 row[7] = {current[0],   current[1],   current[2],  current[3],
                           following[0], following[1], following[2]};
    UInt16 byOne[6];
    for (int i = 0; i < 6; ++i)
      byOne[i] = (phase & 1) != 0 ? row[i + 1] : row[i];
    for (int i = 0; i < 4; ++i) {
      words[i] = (phase & 2) != 0 ? byOne[i + 2] : byOne[i];
      current[i] = following[i];
    }
  }

private:
  void draw(UInt16 (&words)[4]) {
    philox(*of.state, block, of.site, of.sample, words);
    block += 1;
  }

  const HeadDropout &of;
  UInt16 block, phase;
  UInt16 current[4];
  bool shifted;
};

} // namespace zrt::ZRT_ISA

#endif // ZERO_LIB_RUNTIME_CPU_KERNELS_DROPOUT_H
