//===- TestSupport.h - operands in odd places, guarded --------------------===//
#ifndef ZERO_TEST_RUNTIME_KERNELS_TESTSUPPORT_H
#define ZERO_TEST_RUNTIME_KERNELS_TESTSUPPORT_H

#include "Table.h"

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
  for (InstructionSet set :
       {InstructionSet::Baseline, InstructionSet::Avx2, InstructionSet::Avx512})
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

/// Floats at `offset` bytes past a 64-byte boundary, with NaN before and behind that must stay.
class Placed {
public:
  Placed(const std::vector<float> &values, int64_t offset) : count(values.size()) {
    bytes.assign(count * 4 + 256, char(0xff));
    uintptr_t base = (reinterpret_cast<uintptr_t>(bytes.data()) + 127) & ~uintptr_t(63);
    first = reinterpret_cast<float *>(base + offset);
    if (count != 0)
      std::memcpy(first, values.data(), count * 4);
  }
  Placed(const Placed &) = delete;
  float *data() { return first; }
  char *raw() { return reinterpret_cast<char *>(first); }
  std::vector<float> values() const { return std::vector<float>(first, first + count); }
  bool guardsIntact() const {
    for (const char *p = bytes.data(); p < bytes.data() + bytes.size(); ++p) {
      bool inside = p >= reinterpret_cast<const char *>(first) &&
                    p < reinterpret_cast<const char *>(first + count);
      if (!inside && *p != char(0xff))
        return false;
    }
    return true;
  }

private:
  size_t count;
  std::vector<char> bytes;
  float *first;
};

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
