//===- TestSupport.h - operands in odd places, guarded --------------------===//
#ifndef ZERO_TEST_RUNTIME_KERNELS_TESTSUPPORT_H
#define ZERO_TEST_RUNTIME_KERNELS_TESTSUPPORT_H

#include "Table.h"
#include "zero/Runtime/HalfFloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace zrt::test {

inline std::vector<InstructionSet> instructionSets() {
  std::vector<InstructionSet> sets;
  for (InstructionSet set : {InstructionSet::Baseline, InstructionSet::Avx2, InstructionSet::Avx512,
                             InstructionSet::Amx})
    if (supported(set))
      sets.push_back(set);
  return sets;
}

/// Fresh threads for every run; part 0 stays on the caller's.
class PlainTeam : public ThreadTeam {
public:
  explicit PlainTeam(int64_t threads) : threads(threads) {}
  int64_t size() const override { return threads; }
  void run(int64_t parts, void (*fn)(void *context, int64_t part), void *context) override {
    std::vector<std::thread> others;
    for (int64_t part = 1; part < parts; ++part)
      others.emplace_back(fn, context, part);
    fn(context, 0);
    for (std::thread &other : others)
      other.join();
  }

private:
  int64_t threads;
};

inline constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16};

inline float rounded(ElementType type, float x) {
  return type == ElementType::bf16  ? bf16ToFloat(floatToBf16(x))
         : type == ElementType::f16 ? f16ToFloat(floatToF16(x))
                                    : x;
}

inline std::vector<float> rounded(ElementType type, std::vector<float> values) {
  for (float &x : values)
    x = rounded(type, x);
  return values;
}

/// How far x may move when it is rounded to the type: half a unit in the last of 8, 11 or 24 bits,
/// in f16 not under half its least denormal.
inline double halfStep(ElementType type, double x) {
  return type == ElementType::bf16  ? 0x1p-8 * std::abs(x)
         : type == ElementType::f16 ? 0x1p-11 * std::abs(x) + 0x1p-25
                                    : 0x1p-24 * std::abs(x);
}

/// Values of a type at `offset` bytes past a 64-byte boundary (less what the type's alignment
/// forbids), with NaN before and behind that must stay.
class Placed {
public:
  Placed(const std::vector<float> &values, int64_t offset, ElementType type = ElementType::f32)
      : type(type), count(values.size()), size(size_t(elementBytes(type))) {
    bytes.assign(count * size + 256, char(0xff));
    uintptr_t base = (reinterpret_cast<uintptr_t>(bytes.data()) + 127) & ~uintptr_t(63);
    first = reinterpret_cast<char *>(base) + offset / int64_t(size) * int64_t(size);
    for (size_t i = 0; i < count; ++i) {
      uint16_t half = type == ElementType::bf16 ? floatToBf16(values[i]) : floatToF16(values[i]);
      std::memcpy(first + i * size, size == 2 ? static_cast<const void *>(&half) : &values[i],
                  size);
    }
  }
  Placed(const Placed &) = delete;
  void *data() { return first; }
  float *floats() { return reinterpret_cast<float *>(first); }
  char *raw() { return first; }
  std::vector<float> values() const {
    std::vector<float> result(count);
    for (size_t i = 0; i < count; ++i) {
      uint16_t half;
      std::memcpy(size == 2 ? static_cast<void *>(&half) : &result[i], first + i * size, size);
      if (size == 2)
        result[i] = type == ElementType::bf16 ? bf16ToFloat(half) : f16ToFloat(half);
    }
    return result;
  }
  bool guardsIntact() const {
    for (const char *p = bytes.data(); p < bytes.data() + bytes.size(); ++p)
      if ((p < first || p >= first + count * size) && *p != char(0xff))
        return false;
    return true;
  }

private:
  ElementType type;
  size_t count, size;
  std::vector<char> bytes;
  char *first;
};

/// Offsets that cut across vectors in different ways.
inline constexpr int64_t kOffsets[] = {0, 2, 4, 60};

/// Workspace bytes as the planner reserves them, full of NaN.
inline std::vector<float> poisoned(int64_t bytes) {
  return std::vector<float>((bytes + 3) / 4, std::numeric_limits<float>::quiet_NaN());
}

inline std::vector<float> randomFloats(size_t count, std::mt19937 &random, float width = 1.0f) {
  std::uniform_real_distribution<float> uniform(-width, width);
  std::vector<float> values(count);
  for (float &x : values)
    x = uniform(random);
  return values;
}

inline bool sameBytes(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * 4) == 0);
}

} // namespace zrt::test

#endif // ZERO_TEST_RUNTIME_KERNELS_TESTSUPPORT_H
