//===- Parallel.cpp - many files at a time -------------------------------===//

#include "Parallel.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace zero::training {

llvm::Error inParallel(size_t count, llvm::function_ref<llvm::Error(size_t)> task) {
  constexpr size_t kMaxThreads = 16;
  std::vector<std::optional<llvm::Error>> outcomes(count);
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++)
      outcomes[i].emplace(task(i));
  };
  std::vector<std::thread> threads;
  // The caller is one of them. Where the system gives no more threads, those there are do the work.
  try {
    for (size_t i = 1; i < std::min(count, kMaxThreads); ++i)
      threads.emplace_back(work);
  } catch (const std::system_error &) {
  }
  work();
  for (std::thread &thread : threads)
    thread.join();
  llvm::Error first = llvm::Error::success();
  for (std::optional<llvm::Error> &outcome : outcomes) {
    if (!*outcome)
      continue;
    if (first)
      llvm::consumeError(std::move(*outcome));
    else
      first = std::move(*outcome);
  }
  return first;
}

} // namespace zero::training
