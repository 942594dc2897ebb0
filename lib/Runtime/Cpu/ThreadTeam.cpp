//===- ThreadTeam.cpp - the threads of one rank ---------------------------===//

#include "zero/Runtime/ThreadTeam.h"

#include "Waiting.h"

#include <thread>

namespace zrt {

namespace {

class InlineTeam final : public ThreadTeam {
public:
  int64_t size() const override { return 1; }
  void run(int64_t parts, void (*fn)(void *, int64_t), void *context) override {
    for (int64_t part = 0; part < parts; ++part)
      fn(context, part);
  }
};

class PooledTeam final : public ThreadTeam {
public:
  PooledTeam(int64_t threads, bool spin) : spin(spin) {
    try {
      for (int64_t helper = 1; helper < threads; ++helper)
        helpers.emplace_back([this] { help(); });
    } catch (...) {
      stop();
      throw;
    }
  }
  ~PooledTeam() override { stop(); }

  int64_t size() const override { return int64_t(helpers.size()) + 1; }

  void run(int64_t parts, void (*fn)(void *, int64_t), void *context) override {
    if (parts <= 1) {
      if (parts == 1)
        fn(context, 0);
      return;
    }
    job = {fn, context, parts};
    nextPart.store(0, std::memory_order_relaxed);
    working.store(uint32_t(helpers.size()), std::memory_order_relaxed);
    wake();
    takeParts();
    for (uint32_t left; (left = working.load(std::memory_order_acquire)) != 0;)
      waitWhileEqual(working, left, spin);
  }

private:
  struct Job {
    void (*fn)(void *, int64_t) = nullptr;
    void *context = nullptr;
    int64_t parts = 0;
  };

  void wake() {
    jobs.fetch_add(1, std::memory_order_release);
    jobs.notify_all();
  }

  void takeParts() {
    for (int64_t part; (part = nextPart.fetch_add(1, std::memory_order_relaxed)) < job.parts;)
      job.fn(job.context, part);
  }

  void help() {
    for (uint32_t seen = 0;; ++seen) {
      waitWhileEqual(jobs, seen, spin);
      if (stopping.load(std::memory_order_relaxed))
        return;
      takeParts();
      if (working.fetch_sub(1, std::memory_order_acq_rel) == 1)
        working.notify_one();
    }
  }

  void stop() {
    stopping.store(true, std::memory_order_relaxed);
    wake();
    for (std::thread &helper : helpers)
      helper.join();
    helpers.clear();
  }

  const bool spin;
  Job job;
  std::atomic<int64_t> nextPart{0};
  std::atomic<uint32_t> jobs{0}, working{0};
  std::atomic<bool> stopping{false};
  std::vector<std::thread> helpers;
};

} // namespace

std::unique_ptr<ThreadTeam> createThreadTeam(int64_t threads, bool spin) {
  if (threads <= 1)
    return std::make_unique<InlineTeam>();
  return std::make_unique<PooledTeam>(threads, spin);
}

} // namespace zrt
