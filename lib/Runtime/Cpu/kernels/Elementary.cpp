//===- Elementary.cpp - elementary functions over arrays, and the table ---===//
#include "Elementary.h"
#include "Isa.h"

namespace zrt::ZRT_ISA {
namespace {

template <Float16 (*F)(Float16)> void map(const float *x, float *result, int64_t count) {
  for (int64_t j = 0; j < count; j += kLanes)
    storeFirst(result + j, F(loadFirst(x + j, count - j)), count - j);
}

} // namespace

extern const KernelTable table;
const KernelTable table = {gemm,           attentionForward, attentionBackward, crossEntropy,
                           scatterAdd,     updateElements,   toFloats,          fromFloats,
                           map<vectorExp>, map<vectorTanh>,  map<vectorErf>,    map<vectorLog>};

} // namespace zrt::ZRT_ISA
