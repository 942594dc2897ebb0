//===- Program.cpp - names and sizes of a step table ----------------------===//

#include "zero/Runtime/Program.h"

namespace zrt {

int64_t elementBytes(ElementType type) {
  return type == ElementType::f32 || type == ElementType::i32 ? 4 : 8;
}

std::string_view name(StateKind kind) {
  switch (kind) {
  case StateKind::Param:
    return "param";
  case StateKind::Grad:
    return "grad";
  case StateKind::GradAccum:
    return "grad_accum";
  case StateKind::Master:
    return "master";
  case StateKind::Moment1:
    return "moment1";
  case StateKind::Moment2:
    return "moment2";
  }
  return "unknown";
}

template <typename Named>
static const Named *findByName(const std::vector<Named> &list, std::string_view name) {
  for (const Named &item : list)
    if (item.name == name)
      return &item;
  return nullptr;
}

const Scalar *Program::findScalar(std::string_view name) const { return findByName(scalars, name); }

const Segment *Program::findSegment(std::string_view name) const {
  return findByName(segments, name);
}

} // namespace zrt
