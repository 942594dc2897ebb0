//===- InstructionSet.h - which of a processor's instructions are used ----===//
//
// The runtime's kernels exist once per instruction set, and not all sets round alike:
// without FMA a product is rounded before it is added, and tile registers sum bf16 in
// pairs. So all ranks of a job use one set, which each of their processors must have
// (zero/Trainer/Agreement.h), and a run that is to have the bits of a run on another
// machine uses that machine's set. A program's own kernels have the same bits in all.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_INSTRUCTIONSET_H
#define ZERO_RUNTIME_INSTRUCTIONSET_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace zrt {

/// Each holds those before it. Avx2: with FMA and F16C; Avx512: F, BW, DQ and VL; Amx: products in
/// bf16 on tile registers, all else as with Avx512.
enum class InstructionSet : uint8_t { Baseline, Avx2, Avx512, Amx };

/// `baseline`, `avx2`, `avx512`, `amx`.
std::string_view nameOf(InstructionSet set);
std::optional<InstructionSet> instructionSetNamed(std::string_view name);

/// Whether this processor and its system have the set.
bool supported(InstructionSet set);

/// The set of this process's kernels: the best supported one, unless it was limited.
InstructionSet instructionSet();
/// From now on at most `most`; never more than before. Not while a session takes a step.
void limitInstructionSet(InstructionSet most);

} // namespace zrt

#endif // ZERO_RUNTIME_INSTRUCTIONSET_H
