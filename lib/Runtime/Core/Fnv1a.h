//===- Fnv1a.h - the 64-bit FNV-1a hash -----------------------------------===//
//
// Small, byte-wise and the same on every machine: http://www.isthe.com/chongo/tech/comp/fnv.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_CORE_FNV1A_H
#define ZERO_RUNTIME_CORE_FNV1A_H

#include <cstddef>
#include <cstdint>

namespace zrt {

inline uint64_t fnv1a(const void *data, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t *byte = static_cast<const uint8_t *>(data), *end = byte + size; byte != end;
       ++byte)
    hash = (hash ^ *byte) * 0x100000001b3u;
  return hash;
}

} // namespace zrt

#endif // ZERO_RUNTIME_CORE_FNV1A_H
