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
  const RandomState *random() { return reinterpret_cast<const RandomState *>(bytes()); }

private:
  char **next, **end;
};

void launchGemm(const GemmDesc &desc, OperandList list, bool add, ThreadTeam &team) {
  void *a = list.bytes(), *b = list.bytes();
  void *bias = desc.hasBias ? list.bytes() : nullptr;
  void *residual = desc.hasResidual ? list.bytes() : nullptr;
  void *c = list.bytes();
  gemm(desc, a, b, bias, residual, c, add, list.bytes(), team);
}

void launchAttention(const AttentionDesc &desc, OperandList list, ThreadTeam &team) {
  auto random = [&] { return desc.dropoutRate > 0.0 ? list.random() : nullptr; };
  void *q = list.bytes(), *k = list.bytes(), *v = list.bytes(), *out = list.bytes();
  float *logSumExp = list.floats();
  if (!desc.backward) {
    const RandomState *state = random();
    return attentionForward(desc, q, k, v, out, logSumExp, state, list.bytes(), team);
  }
  void *dOut = list.bytes(), *dQ = list.bytes(), *dK = list.bytes(), *dV = list.bytes();
  const RandomState *state = random();
  attentionBackward(desc, q, k, v, out, logSumExp, dOut, dQ, dK, dV, state, list.bytes(), team);
}

void launchCrossEntropy(const CrossEntropyDesc &desc, OperandList list, ThreadTeam &team) {
  void *logits = list.bytes();
  int32_t *labels = list.indices();
  float *seed = list.floats(), *loss = list.floats();
  void *dLogits = desc.withGradient ? list.bytes() : nullptr;
  crossEntropy(desc, logits, labels, *seed, loss, dLogits, list.bytes(), team);
}

void launchScatter(const ScatterDesc &desc, OperandList list, bool add, ThreadTeam &team) {
  int32_t *indices = list.indices();
  void *updates = list.bytes(), *destination = list.bytes();
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
    return (kernel.attention.backward ? 9 : 5) + (kernel.attention.dropoutRate > 0.0);
  case KernelKind::CrossEntropy:
    return 4 + kernel.crossEntropy.withGradient;
  case KernelKind::Scatter:
    return 3;
  }
  return 0;
}

} // namespace zrt
