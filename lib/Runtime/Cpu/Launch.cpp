//===- Launch.cpp - run one kernel on a rank's threads --------------------===//

#include "Launch.h"

#include <algorithm>

namespace zrt {

namespace {

/// Part p of `parts` near-equal ranges of [0, units).
int64_t partBegin(int64_t units, int64_t parts, int64_t part) {
  return units / parts * part + std::min(part, units % parts);
}

void launchGenerated(GeneratedKernel kernel, int64_t units, char **operands, ThreadTeam &team) {
  struct Context {
    GeneratedKernel kernel;
    char **operands;
    int64_t units, parts;
  } context = {kernel, operands, units, std::min(units, team.size())};
  auto runPart = [](void *opaque, int64_t part) {
    auto &c = *static_cast<Context *>(opaque);
    c.kernel(c.operands, partBegin(c.units, c.parts, part), partBegin(c.units, c.parts, part + 1));
  };
  team.run(context.parts, runPart, &context);
}

/// Takes operands in order; what lies behind the last one is null.
class OperandList {
public:
  OperandList(char **operands, int64_t count) : next(operands), end(operands + count) {}
  char *bytes() { return next == end ? nullptr : *next++; }
  float *floats() { return reinterpret_cast<float *>(bytes()); }
  int32_t *indices() { return reinterpret_cast<int32_t *>(bytes()); }

private:
  char **next, **end;
};

void launchGemm(const GemmDesc &desc, OperandList list, bool add, ThreadTeam &team) {
  float *a = list.floats(), *b = list.floats();
  float *bias = desc.hasBias ? list.floats() : nullptr;
  float *residual = desc.hasResidual ? list.floats() : nullptr;
  float *c = list.floats();
  gemm(desc, a, b, bias, residual, c, add, list.bytes(), team);
}

void launchAttention(const AttentionDesc &desc, OperandList list, ThreadTeam &team) {
  float *q = list.floats(), *k = list.floats(), *v = list.floats();
  float *out = list.floats(), *logSumExp = list.floats();
  if (!desc.backward)
    return attentionForward(desc, q, k, v, out, logSumExp, list.bytes(), team);
  float *dOut = list.floats(), *dQ = list.floats(), *dK = list.floats(), *dV = list.floats();
  attentionBackward(desc, q, k, v, out, logSumExp, dOut, dQ, dK, dV, list.bytes(), team);
}

void launchCrossEntropy(const CrossEntropyDesc &desc, OperandList list, ThreadTeam &team) {
  float *logits = list.floats();
  int32_t *labels = list.indices();
  float *seed = list.floats(), *loss = list.floats(), *dLogits = list.floats();
  crossEntropyWithGrad(desc, logits, labels, *seed, loss, dLogits, list.bytes(), team);
}

void launchScatter(const ScatterDesc &desc, OperandList list, bool add, ThreadTeam &team) {
  int32_t *indices = list.indices();
  float *updates = list.floats(), *destination = list.floats();
  scatterAdd(desc, indices, updates, destination, add, list.bytes(), team);
}

} // namespace

void launch(const Kernel &kernel, const std::vector<GeneratedKernel> &generated, char **operands,
            int64_t operandCount, bool add, ThreadTeam &team) {
  OperandList list(operands, operandCount);
  switch (kernel.kind) {
  case KernelKind::Generated: {
    int64_t index = add ? kernel.generated.addIndex : kernel.generated.index;
    return launchGenerated(generated[index], kernel.generated.units, operands, team);
  }
  case KernelKind::Gemm:
    return launchGemm(kernel.gemm, list, add, team);
  case KernelKind::Attention:
    return launchAttention(kernel.attention, list, team);
  case KernelKind::CrossEntropy:
    return launchCrossEntropy(kernel.crossEntropy, list, team);
  case KernelKind::Scatter:
    return launchScatter(kernel.scatter, list, add, team);
  }
}

int64_t workspaceBytes(const Kernel &kernel, int64_t threads) {
  switch (kernel.kind) {
  case KernelKind::Generated:
    return 0;
  case KernelKind::Gemm:
    return workspaceBytes(kernel.gemm, threads);
  case KernelKind::Attention:
    return workspaceBytes(kernel.attention, threads);
  case KernelKind::CrossEntropy:
    return workspaceBytes(kernel.crossEntropy, threads);
  case KernelKind::Scatter:
    return workspaceBytes(kernel.scatter, threads);
  }
  return 0;
}

int64_t operandsBeforeWorkspace(const Kernel &kernel) {
  switch (kernel.kind) {
  case KernelKind::Generated:
    return 0;
  case KernelKind::Gemm:
    return 3 + kernel.gemm.hasBias + kernel.gemm.hasResidual;
  case KernelKind::Attention:
    return kernel.attention.backward ? 9 : 5;
  case KernelKind::CrossEntropy:
    return 5;
  case KernelKind::Scatter:
    return 3;
  }
  return 0;
}

} // namespace zrt
