//===- ReadAhead.cpp - the next step's batches, prepared meanwhile -------===//
//
// Two data sets over one file take turns: while a step runs on the batches of one, a
// thread of its own loads the next step into the other. Under the mutex one of the two
// threads at a time has the set that isn't current, so none is read while it is written.
//
//===----------------------------------------------------------------------===//

#include "zero/Training/Data.h"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

namespace zero::training {
namespace {

class ReadAhead final : public DataSet {
public:
  explicit ReadAhead(std::unique_ptr<DataSet> data) : current(std::move(data)) {
    next = current->clone();
    notes = current->warnings();
    stepTokens = current->tokensPerStep();
    try {
      worker = std::thread([this] { serve(); });
    } catch (const std::system_error &) {
      // The system gives no more threads: `load` then does it all.
    }
  }

  ~ReadAhead() override {
    if (!worker.joinable())
      return;
    {
      std::lock_guard lock(mutex);
      ending = true;
    }
    changed.notify_all();
    worker.join();
    if (outcome)
      llvm::consumeError(std::move(*outcome));
  }

  std::unique_ptr<DataSet> clone() const override {
    return std::make_unique<ReadAhead>(current->clone());
  }

  std::optional<int64_t> steps() const override { return current->steps(); }

  llvm::Error load(int64_t step) override {
    std::optional<llvm::Error> prepared = await();
    if (prepared && nextStep != step) {
      llvm::consumeError(std::move(*prepared));
      prepared.reset();
    }
    llvm::Error error = prepared ? std::move(*prepared) : next->load(step);
    if (error)
      return error;
    std::swap(current, next);
    std::optional<int64_t> count = steps();
    if (worker.joinable() && (!count || step + 1 < *count))
      ask(step + 1);
    return llvm::Error::success();
  }

  const void *batch(int64_t microStep, int64_t argument) const override {
    return current->batch(microStep, argument);
  }
  const void *stepLabels(int64_t argument) const override { return current->stepLabels(argument); }

private:
  void ask(int64_t step) {
    {
      std::lock_guard lock(mutex);
      nextStep = step;
      asked = true;
    }
    changed.notify_all();
  }

  /// Waits for what was asked for; none where nothing was.
  std::optional<llvm::Error> await() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !asked; });
    return std::exchange(outcome, std::nullopt);
  }

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return asked || ending; });
      if (!asked)
        return;
      lock.unlock();
      llvm::Error error = next->load(nextStep);
      lock.lock();
      outcome.emplace(std::move(error));
      asked = false;
      changed.notify_all();
    }
  }

  /// `next`, `nextStep` and `outcome` are the worker's while something is asked for.
  std::unique_ptr<DataSet> current, next;
  int64_t nextStep = 0;
  std::optional<llvm::Error> outcome;

  std::mutex mutex;
  std::condition_variable changed;
  bool asked = false, ending = false;
  std::thread worker;
};

} // namespace

std::unique_ptr<DataSet> readAhead(std::unique_ptr<DataSet> data) {
  return std::make_unique<ReadAhead>(std::move(data));
}

} // namespace zero::training
