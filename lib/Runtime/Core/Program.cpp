//===- Program.cpp - names and sizes of a step table ----------------------===//

#include "zero/Runtime/Program.h"

namespace zrt {

int64_t elementBytes(ElementType type) {
  switch (type) {
  case ElementType::bf16:
  case ElementType::f16:
    return 2;
  case ElementType::f32:
  case ElementType::i32:
    return 4;
  case ElementType::f64:
  case ElementType::i64:
    return 8;
  }
  return 8;
}

std::string_view name(ElementType type) {
  constexpr std::string_view kNames[] = {"f32", "f64", "i32", "i64", "bf16", "f16"};
  return kNames[static_cast<size_t>(type)];
}

bool isTrainingType(ElementType type) {
  return type == ElementType::f32 || type == ElementType::bf16 || type == ElementType::f16;
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
