//===- InputCheck.h - reject a batch before anything is touched -----------===//
#ifndef ZERO_RUNTIME_CPU_INPUTCHECK_H
#define ZERO_RUNTIME_CPU_INPUTCHECK_H

#include "zero/Runtime/Session.h"

namespace zrt {

/// Bytes of one argument on one rank in one run.
int64_t inputBytes(const Input &input);

/// The numbers of pointers, null pointers, and every integer that a kernel will index with (F1).
bool checkStepInput(const Program &program, const StepInput &input, std::string &error);

/// The same for the data of the segments of one role; those of others may be missing.
bool checkData(const Program &program, SegmentRole role, const BatchPointers &data,
               std::string &error);

} // namespace zrt

#endif // ZERO_RUNTIME_CPU_INPUTCHECK_H
