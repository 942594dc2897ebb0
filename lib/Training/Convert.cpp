//===- Convert.cpp - elements of tensor files as other types -------------===//

#include "Convert.h"

#include <bit>
#include <cstring>

namespace zero::training {

// Files are little-endian, and mapped bytes are used as they lie.
static_assert(std::endian::native == std::endian::little);

namespace {

float halfToFloat(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 31, fraction = half & 0x3ff;
  if (exponent == 0) { // zero and subnormals: fraction · 2^-24, exact in f32
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  if (exponent == 31) // infinities and NaNs
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

template <typename T, typename Function>
bool convertAll(const uint8_t *from, llvm::MutableArrayRef<float> into, Function function) {
  for (float &value : into) {
    T element;
    std::memcpy(&element, from, sizeof(T));
    from += sizeof(T);
    value = function(element);
  }
  return true;
}

template <typename T> bool castAll(const uint8_t *from, llvm::MutableArrayRef<float> into) {
  return convertAll<T>(from, into, [](T element) { return static_cast<float>(element); });
}

} // namespace

bool convertToF32(DType type, const uint8_t *from, llvm::MutableArrayRef<float> into) {
  switch (type) {
  case DType::Bool:
    return convertAll<uint8_t>(from, into, [](uint8_t b) { return b ? 1.0f : 0.0f; });
  case DType::U8:
    return castAll<uint8_t>(from, into);
  case DType::I8:
    return castAll<int8_t>(from, into);
  case DType::U16:
    return castAll<uint16_t>(from, into);
  case DType::I16:
    return castAll<int16_t>(from, into);
  case DType::F16:
    return convertAll<uint16_t>(from, into, halfToFloat);
  case DType::BF16:
    return convertAll<uint16_t>(from, into,
                                [](uint16_t b) { return std::bit_cast<float>(uint32_t(b) << 16); });
  case DType::U32:
    return castAll<uint32_t>(from, into);
  case DType::I32:
    return castAll<int32_t>(from, into);
  case DType::F32:
    return castAll<float>(from, into);
  case DType::U64:
    return castAll<uint64_t>(from, into);
  case DType::I64:
    return castAll<int64_t>(from, into);
  case DType::F64:
    return castAll<double>(from, into);
  case DType::F8E4M3:
  case DType::F8E5M2:
    return into.empty();
  }
  return false;
}

} // namespace zero::training
