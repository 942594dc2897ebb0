//===- Permutation.cpp - a shuffle that needs no table -------------------===//

#include "zero/Training/Permutation.h"

#include <cassert>

namespace zero::training {

/// Few bits a half make a weak round function; more rounds make up for it.
static constexpr unsigned kRounds = 8;

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = a + 0x9e3779b97f4a7c15 * (b + 1);
  for (int i = 0; i < 2; ++i) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
  }
  return z;
}

Permutation::Permutation(uint64_t n, uint64_t key) : n(n), key(key), halfBits(1) {
  assert(n >= 1 && n <= (uint64_t(1) << 62));
  while ((uint64_t(1) << (2 * halfBits)) < n)
    ++halfBits;
}

uint64_t Permutation::operator()(uint64_t index) const {
  assert(index < n);
  uint64_t mask = (uint64_t(1) << halfBits) - 1;
  // Each pass is a bijection of the power of two; following its cycle from a point inside [0, n)
  // comes back inside, at the latest at that point itself.
  do {
    uint64_t left = index >> halfBits, right = index & mask;
    for (unsigned round = 0; round < kRounds; ++round) {
      uint64_t next = left ^ (mix(key + round, right) & mask);
      left = right;
      right = next;
    }
    index = left << halfBits | right;
  } while (index >= n);
  return index;
}

} // namespace zero::training
