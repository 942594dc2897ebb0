//===- InitialValues.cpp - initial weights from a seed --------------------===//

#include "zero/Runtime/InitialValues.h"

#include "Fnv1a.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace zrt {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t(kMultiplier0) * counter[0];
    uint64_t product1 = uint64_t(kMultiplier1) * counter[2];
    counter = {uint32_t(product1 >> 32) ^ counter[1] ^ key[0], uint32_t(product1),
               uint32_t(product0 >> 32) ^ counter[3] ^ key[1], uint32_t(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

/// The midpoint of the word's interval: never 0 or 1.
static double unitInterval(uint32_t word) { return (double(word) + 0.5) * 0x1p-32; }

static std::array<double, 4> normals(const std::array<uint32_t, 4> &words) {
  std::array<double, 4> result;
  for (int pair = 0; pair < 4; pair += 2) {
    double radius = std::sqrt(-2.0 * std::log(unitInterval(words[pair])));
    double angle = 2.0 * std::numbers::pi * unitInterval(words[pair + 1]);
    result[pair] = radius * std::cos(angle);
    result[pair + 1] = radius * std::sin(angle);
  }
  return result;
}

static void fillRandom(const Slot &slot, uint64_t seed, int64_t begin, int64_t count,
                       float *values) {
  uint64_t nameHash = fnv1a(slot.parameter.data(), slot.parameter.size());
  std::array<uint32_t, 2> key = {uint32_t(nameHash), uint32_t(nameHash >> 32)};
  for (int64_t block = begin / 4, end = begin + count; block * 4 < end; ++block) {
    std::array<uint32_t, 4> words = philox4x32(
        {uint32_t(block), uint32_t(uint64_t(block) >> 32), uint32_t(seed), uint32_t(seed >> 32)},
        key);
    std::array<double, 4> unscaled;
    if (slot.init == InitKind::Normal)
      unscaled = normals(words);
    else
      for (int lane = 0; lane < 4; ++lane)
        unscaled[lane] = 2.0 * unitInterval(words[lane]) - 1.0;
    for (int lane = 0; lane < 4; ++lane)
      if (int64_t element = block * 4 + lane; element >= begin && element < end)
        values[element - begin] = float(slot.initScale * unscaled[lane]);
  }
}

static void fill(const Slot &slot, uint64_t seed, int64_t begin, int64_t count, float *values) {
  switch (slot.init) {
  case InitKind::Zeros:
    std::fill_n(values, count, 0.0f);
    return;
  case InitKind::Ones:
    std::fill_n(values, count, 1.0f);
    return;
  case InitKind::Constant:
    std::fill_n(values, count, float(slot.initScale));
    return;
  case InitKind::Normal:
  case InitKind::Uniform:
    fillRandom(slot, seed, begin, count, values);
    return;
  }
}

void fillInitialValues(const Slot &slot, uint64_t seed, int64_t begin, int64_t count,
                       float *values) {
  fill(slot, seed, begin, count, values);
  if (slot.zeroRow < 0)
    return;
  const int64_t length = slot.elements / slot.shape[0];
  const int64_t from = std::max(begin, slot.zeroRow * length);
  const int64_t to = std::min(begin + count, (slot.zeroRow + 1) * length);
  if (from < to)
    std::fill(values + (from - begin), values + (to - begin), 0.0f);
}

} // namespace zrt
