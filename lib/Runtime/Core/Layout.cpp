//===- Layout.cpp - who owns which elements of a bucket -------------------===//

#include "zero/Runtime/Layout.h"

namespace zrt {

int64_t BucketLayout::ownedElements(int64_t rank, int64_t begin, int64_t end) const {
  int64_t total = 0;
  forEachOwned(rank, begin, end, [&](const Piece &owned) { total += owned.count; });
  return total;
}

ElementType stateType(const Bucket &bucket, StateKind kind) {
  return bucket.state[static_cast<int>(kind)].type;
}

int64_t stateElements(const Bucket &bucket, StateKind kind, int64_t ranks) {
  bool sharded = bucket.state[static_cast<int>(kind)].sharded;
  return sharded ? bucket.lengthElements / ranks : bucket.lengthElements;
}

const StatePlace *gradientState(const Bucket &bucket) {
  for (StateKind kind : {StateKind::GradAccum, StateKind::Grad})
    if (bucket.state[static_cast<int>(kind)].present)
      return &bucket.state[static_cast<int>(kind)];
  return nullptr;
}

} // namespace zrt
