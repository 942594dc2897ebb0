//===- Permutation.h - a shuffle that needs no table ---------------------===//
//
// A keyed bijection of [0, n): a Feistel network over the next even number of
// bits, walked along its cycle until it lands inside. Shuffling by a table would
// cost 8 bytes a window, and time before the first step; drawing at random would
// repeat some windows in an epoch and miss others. This takes constant memory and
// a few multiplications, every rank can compute any element alone, and a resumed
// run goes on where it stopped because nothing was ever drawn in sequence.
//
// Source: J. Black and P. Rogaway, Ciphers with Arbitrary Finite Domains (2002),
// section 4. The domain is less than four times n, so under four rounds of the
// walk are expected.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_PERMUTATION_H
#define ZERO_TRAINING_PERMUTATION_H

#include <cstdint>

namespace zero::training {

/// A 64-bit hash of two words; the same on every machine (SplitMix64's finaliser).
uint64_t mix(uint64_t a, uint64_t b);

class Permutation {
public:
  /// Of [0, n), n ≥ 1 and n ≤ 2^62.
  Permutation(uint64_t n, uint64_t key);
  /// The image of `index` < n.
  uint64_t operator()(uint64_t index) const;

private:
  uint64_t n, key;
  unsigned halfBits;
};

} // namespace zero::training

#endif // ZERO_TRAINING_PERMUTATION_H
