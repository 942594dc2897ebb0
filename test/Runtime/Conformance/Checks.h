//===- Checks.h - typed arrays and what a case found ----------------------===//
#ifndef ZERO_TEST_RUNTIME_CONFORMANCE_CHECKS_H
#define ZERO_TEST_RUNTIME_CONFORMANCE_CHECKS_H

#include "Conformance.h"
#include "zero/Runtime/HalfFloat.h"

#include <cmath>

namespace zrt::test {

using Floats = std::vector<float>;
using Bytes = std::vector<uint8_t>;

inline constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16};

/// Values of one type in memory that holds nothing else.
class Array {
public:
  Array(ElementType type, const Floats &values)
      : type(type), bytes(values.size() * size_t(elementBytes(type))) {
    fromFloats(type, values.data(), int64_t(values.size()), bytes.data());
  }
  Array(ElementType type, int64_t elements, float value)
      : Array(type, Floats(size_t(elements), value)) {}

  void *data() { return bytes.data(); }
  Floats floats() const {
    Floats values(bytes.size() / size_t(elementBytes(type)));
    toFloats(type, bytes.data(), int64_t(values.size()), values.data());
    return values;
  }

  const ElementType type;

private:
  std::vector<char> bytes;
};

/// Keeps the first fault of a case on this rank.
class Checks {
public:
  explicit Checks(Communicator &communicator) : communicator(communicator) {}

  void returned(bool result, const char *call) {
    if (!result)
      note(std::string(call) + ": expects to return true, got false (" + communicator.error() +
           ")");
  }

  /// To the bit; any NaN for a NaN.
  void equal(const Array &got, const Floats &expected, const std::string &what) {
    Floats values = got.floats();
    if (values.size() != expected.size())
      return note(what + ": expects " + std::to_string(expected.size()) + " elements");
    for (size_t i = 0; i < values.size(); ++i) {
      bool same =
          std::isnan(expected[i])
              ? std::isnan(values[i])
              : values[i] == expected[i] && std::signbit(values[i]) == std::signbit(expected[i]);
      if (!same)
        return note(what + " in " + std::string(name(got.type)) + ": expects " +
                    std::to_string(expected[i]) + " as element " + std::to_string(i) + ", got " +
                    std::to_string(values[i]));
    }
  }

  void equal(int64_t got, int64_t expected, const std::string &what) {
    if (got != expected)
      note(what + ": expects " + std::to_string(expected) + ", got " + std::to_string(got));
  }

  void equal(const Bytes &got, const Bytes &expected, const std::string &what) {
    if (got == expected)
      return;
    size_t first = 0;
    while (first < got.size() && got[first] == expected[first])
      ++first;
    note(what + ": expects " + std::to_string(expected[first]) + " as byte " +
         std::to_string(first) + ", got " + std::to_string(got[first]));
  }

  std::string fault;

private:
  void note(const std::string &text) {
    if (fault.empty())
      fault = text;
  }

  Communicator &communicator;
};

// The three ways to a sum, as calls that note a failure.

inline void reduceScatter(Communicator &c, Checks &checks, const BucketLayout &layout, Array &full,
                          Array &shard, bool add) {
  checks.returned(c.reduceScatter(layout, full.type, full.data(), shard.data(), add),
                  "reduceScatter");
}
inline void reduceScatterInPlace(Communicator &c, Checks &checks, const BucketLayout &layout,
                                 Array &full) {
  checks.returned(c.reduceScatter(layout, full.type, full.data(), nullptr, false),
                  "reduceScatter in place");
}
inline void allReduce(Communicator &c, Checks &checks, const BucketLayout &layout, Array &full) {
  checks.returned(c.allReduce(layout, full.type, full.data()), "allReduce");
}
inline void allGather(Communicator &c, Checks &checks, const BucketLayout &layout, Array &shard,
                      Array &full) {
  checks.returned(c.allGather(layout, full.type, shard.data(), full.data()), "allGather");
}
inline void allGatherInPlace(Communicator &c, Checks &checks, const BucketLayout &layout,
                             Array &full) {
  checks.returned(c.allGather(layout, full.type, nullptr, full.data()), "allGather in place");
}

// The cases by subject.
extern const std::vector<ConformanceCase> kGatherCases, kReduceCases, kRoundingCases, kControlCases;

} // namespace zrt::test

#endif // ZERO_TEST_RUNTIME_CONFORMANCE_CHECKS_H
