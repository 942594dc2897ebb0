//===- Expectations.h - the first fault of a step table -------------------===//
#ifndef ZERO_RUNTIME_CORE_EXPECTATIONS_H
#define ZERO_RUNTIME_CORE_EXPECTATIONS_H

#include "Operands.h"

#include <sstream>

namespace zrt {

/// What the checks of a program share. A check that returned false has left its message.
class Expectations {
public:
  explicit Expectations(const Program &program) : program(program) {}
  const std::string &message() const { return fault; }

protected:
  template <typename... Parts> bool expect(bool condition, const Parts &...parts) {
    if (condition)
      return true;
    std::ostringstream text;
    text << "expects ";
    (text << ... << parts);
    fault = text.str();
    return false;
  }

  bool expectRange(WideInt offset, WideInt bytes, int64_t end, std::string_view what) {
    return expect(offset >= 0 && bytes >= 0 && offset + bytes <= end, what, " within ", end,
                  " bytes, got ", int64_t(bytes), " at ", int64_t(offset));
  }

  /// The elements of a shape, or -1 where they do not fit 63 bits with their bytes.
  static int64_t elementsOf(const std::vector<int64_t> &shape) {
    WideInt total = 1;
    for (int64_t extent : shape) {
      if (extent < 0)
        return -1;
      total *= extent;
      if (total > INT64_MAX / 8)
        return -1;
    }
    return int64_t(total);
  }

  const Program &program;
  std::string fault;
};

/// The rows of all segments, in order.
class RowCheck : public Expectations {
public:
  using Expectations::Expectations;
  bool check(const Segment &segment, const Row &row, int64_t index);

private:
  bool expectOperand(const Segment &segment, const Row &row, size_t index, WideInt bytes,
                     std::string_view what);
  bool checkRanges(const std::vector<std::pair<int64_t, int64_t>> &ranges, std::string_view what);
  static bool mayEvaluate(const Row &row);
  bool checkLaunch(const Segment &segment, const Row &row);
  bool checkCollective(const Segment &segment, const Row &row, const Bucket &bucket);
  const Scalar *scalarAt(int64_t offset) const;
  bool expectScalar(const Segment &segment, const Row &row, size_t index, ElementType type,
                    std::string_view what);
  bool checkCount(const Segment &segment, const Row &row);
  bool checkSetSeed(const Segment &segment, const Row &row);
  bool checkSetRandom(const Segment &segment, const Row &row);
  bool checkNorm(const Segment &segment, const Row &row);
  bool checkUpdate(const Bucket &bucket);

  bool seenNorm = false;
};

} // namespace zrt

#endif // ZERO_RUNTIME_CORE_EXPECTATIONS_H
