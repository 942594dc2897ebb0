//===- Status.cpp - how good a plan is -------------------------------------===//
#include "zero/Planning/Status.h"

namespace zero::planning {

const char *name(Status status) {
  switch (status) {
  case Status::Optimal:
    return "optimal";
  case Status::Feasible:
    return "feasible";
  case Status::Infeasible:
    return "infeasible";
  case Status::Unknown:
    break;
  }
  return "unknown";
}

} // namespace zero::planning
