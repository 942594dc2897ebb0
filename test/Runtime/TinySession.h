//===- TinySession.h - sessions of the hand-written program ---------------===//
#ifndef ZERO_TEST_RUNTIME_TINYSESSION_H
#define ZERO_TEST_RUNTIME_TINYSESSION_H

#include "TinyProgram.h"
#include "zero/Runtime/Layout.h"

namespace zrt::test {

inline const OptimizerDesc kAdamW = {.kind = OptimizerKind::AdamW, .weightDecay = 0.1, .clip = 1.0};
inline const OptimizerDesc kMomentum = {.kind = OptimizerKind::Sgd, .momentum = 0.9};

/// Expects to succeed.
std::unique_ptr<Session> start(const TinyOptions &options, SessionOptions session = {});

std::vector<float> state(const Session &session, const char *name, int64_t elements,
                         StateKind kind = StateKind::Param);

/// A kind of state of a parameter as it lies in the arenas, owner by owner, raw. All ranks local.
std::vector<char> stored(Session &session, std::string_view name, StateKind kind);

/// Weights, masters and moments of all local ranks, every byte that lies in a slot, also where
/// several ranks hold the same.
std::vector<char> everyByte(Session &session);

/// Everything that training leaves behind.
struct Trace {
  std::vector<double> losses, norms;
  std::vector<float> w, b, moments;
  std::vector<char> weights; // w and b as stored
  bool operator==(const Trace &) const = default;
};

/// `steps` steps on batches 0, 1, … at a rate of 0.05. Expects finite steps.
Trace train(const TinyOptions &options, int steps, SessionOptions session = {},
            double lossScale = 1.0);

} // namespace zrt::test

#endif // ZERO_TEST_RUNTIME_TINYSESSION_H
