//===- Convert.cpp - whole arrays from one type to another ----------------===//
#include "Isa.h"
#include "Types.h"

namespace zrt::ZRT_ISA {

void toFloats(ElementType type, const void *values, float *result, int64_t count) {
  withType(type, [&]<typename T>(T) {
    auto *from = static_cast<const T *>(values);
    for (int64_t j = 0; j < count; j += kLanes)
      storeFirst(result + j, loadFirst(from + j, count - j), count - j);
  });
}

void fromFloats(ElementType type, const float *values, void *result, int64_t count) {
  withType(type, [&]<typename T>(T) {
    auto *to = static_cast<T *>(result);
    for (int64_t j = 0; j < count; j += kLanes)
      storeFirst(to + j, loadFirst(values + j, count - j), count - j);
  });
}

} // namespace zrt::ZRT_ISA
