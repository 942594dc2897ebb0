//===- Registry.cpp - which function evaluates an op ----------------------===//

#include "zero/Reference/Registry.h"

#include "Ops.h"

namespace zero::reference {

const Registry &Registry::standard() {
  static const Registry registry = [] {
    Registry all;
    registerElementwise(all);
    registerBroadcasting(all);
    registerShape(all);
    registerReduce(all);
    registerContract(all);
    registerConvolution(all);
    registerIndex(all);
    registerNorm(all);
    registerDropout(all);
    registerRotary(all);
    registerAttention(all);
    registerLoss(all);
    return all;
  }();
  return registry;
}

} // namespace zero::reference
