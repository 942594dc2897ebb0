//===- Operands.h - what a library kernel's operands cover ----------------===//
//
// Names and extents of row operands, from the descriptor alone: the check of a
// program compares the extents with the arena, the printer shows the names.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_CORE_OPERANDS_H
#define ZERO_RUNTIME_CORE_OPERANDS_H

#include "zero/Runtime/Program.h"

namespace zrt {

/// Wide enough for any product of a count, a stride and an element size.
using WideInt = __int128;

struct OperandExtent {
  const char *name;
  WideInt bytes; // from the operand's offset to the end of what the kernel touches
  bool written;
};

/// The operands before the workspace; empty for generated kernels, whose operands only the compiler
/// knows. Descriptors may hold anything non-negative.
std::vector<OperandExtent> operandExtents(const Kernel &kernel);

/// Null, or what a descriptor must not hold.
const char *descriptorFault(const Kernel &kernel);

} // namespace zrt

#endif // ZERO_RUNTIME_CORE_OPERANDS_H
