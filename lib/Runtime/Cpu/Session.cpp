//===- Session.cpp - make the local ranks and run them --------------------===//

#include "InputCheck.h"
#include "Launch.h"
#include "SessionImpl.h"

#include <exception>

namespace zrt {

/// Ranks of one process: far beyond any use, far below what an operating system refuses.
static constexpr int64_t kMaxThreadRanks = 1024;

Session::Impl::~Impl() {
  post(Command::Stop);
  for (auto &rank : ranks)
    if (rank->thread.joinable())
      rank->thread.join();
}

void Session::Impl::post(Command next) {
  std::lock_guard lock(mutex);
  command = next;
  busy = ranks.size();
  ++commands;
  posted.notify_all();
}

void Session::Impl::runOnAllRanks(Command next) {
  if (!overThreads())
    return perform(*ranks[0], next);
  post(next);
  std::unique_lock lock(mutex);
  finished.wait(lock, [&] { return busy == 0; });
}

void Session::Impl::serve(Rank &rank) {
  for (uint64_t seen = 0;;) {
    Command current;
    {
      std::unique_lock lock(mutex);
      posted.wait(lock, [&] { return commands != seen; });
      seen = commands;
      current = command;
    }
    if (current == Command::Stop)
      return;
    perform(rank, current);
    std::lock_guard lock(mutex);
    if (--busy == 0)
      finished.notify_one();
  }
}

void Session::Impl::perform(Rank &rank, Command current) {
  if (current == Command::Initialize)
    return rank.walker.initialize(seed);
  rank.succeeded = current == Command::Step ? rank.walker.step(*input)
                                            : rank.walker.evaluate(*evalData, rank.evaluated);
  if (!rank.succeeded || !options.poison)
    return;
  if (const char *fault = rank.arena->guardFault())
    rank.communicator->abort("rank " + std::to_string(rank.communicator->rank()) +
                             ": expects writes within the arena, got one " + fault);
}

bool Session::Impl::runOrBreak(Command next, std::string &error) {
  if (broken.empty()) {
    runOnAllRanks(next);
    broken = ranks[0]->communicator->error();
    for (const auto &rank : ranks)
      if (broken.empty() && !rank->succeeded)
        broken = "rank " + std::to_string(rank->communicator->rank()) +
                 ": expects all ranks to go on, got one that did not";
  }
  error = broken;
  return broken.empty();
}

/// What `check` cannot know: this process's kernels and ranks.
static std::string checkHere(const Program &program, const std::vector<GeneratedKernel> &generated,
                             const Communicator *communicator) {
  if (std::string fault = check(program); !fault.empty())
    return fault;
  if (communicator && communicator->ranks() != program.ranks)
    return "expects a program of " + std::to_string(communicator->ranks()) + " ranks, got one of " +
           std::to_string(program.ranks);
  if (!communicator && program.ranks > kMaxThreadRanks)
    return "expects at most " + std::to_string(kMaxThreadRanks) + " ranks in one process, got " +
           std::to_string(program.ranks);
  auto known = [&](int64_t index) {
    return index >= 0 && index < int64_t(generated.size()) && generated[index];
  };
  for (const Kernel &kernel : program.kernels)
    if (kernel.kind == KernelKind::Generated &&
        (!known(kernel.generated.index) ||
         (kernel.generated.addIndex != -1 && !known(kernel.generated.addIndex))))
      return "kernel '" + kernel.name + "': expects one of " + std::to_string(generated.size()) +
             " generated kernels";
  for (const Segment &segment : program.segments)
    for (size_t index = 0; index < segment.rows.size(); ++index) {
      const Row &row = segment.rows[index];
      if (row.opcode != Opcode::Launch)
        continue;
      const Kernel &kernel = program.kernels[row.kernel];
      int64_t needed = workspaceBytes(kernel, program.threadsPerRank);
      size_t place = size_t(operandsBeforeWorkspace(kernel));
      bool fits = needed == 0 || (place < row.operands.size() && row.operands[place] >= 0 &&
                                  needed <= program.arenaBytes - row.operands[place]);
      if (!fits)
        return "segment '" + segment.name + "', row " + std::to_string(index) +
               ": expects a workspace of " + std::to_string(needed) + " bytes for kernel '" +
               kernel.name + "'";
    }
  return {};
}

std::string Session::Impl::makeRanks() try {
  if (std::string fault = checkHere(program, generated, options.communicator.get()); !fault.empty())
    return fault;
  bool spin =
      program.ranks * program.threadsPerRank <= int64_t(std::thread::hardware_concurrency());
  std::vector<std::shared_ptr<Communicator>> communicators = {options.communicator};
  if (overThreads()) {
    communicators.clear();
    for (auto &communicator : createInProcessCommunicators(program.ranks, spin))
      communicators.push_back(std::move(communicator));
  }
  for (auto &communicator : communicators) {
    auto arena = RankArena::create(program.arenaBytes, options.poison);
    if (!arena)
      return "rank " + std::to_string(communicator->rank()) + ": expects " +
             std::to_string(program.arenaBytes) + " bytes for its arena, got no memory";
    bool profiled = options.profile && ranks.empty();
    ranks.push_back(std::make_unique<Rank>(program, generated, options, std::move(arena),
                                           std::move(communicator), spin, profiled));
  }
  if (overThreads())
    for (auto &rank : ranks)
      rank->thread = std::thread([this, rank = rank.get()] { serve(*rank); });
  return {};
} catch (const std::exception &failure) {
  return std::string("expects memory and threads for all ranks, got: ") + failure.what();
}

/// All ranks of all processes start, with one program, or none does (S3). Every process comes here,
/// also with a `fault` of its own, so that no other waits for it.
static std::string agreeToStart(Communicator &communicator, const Program &program,
                                const std::string &fault) {
  struct Start {
    uint64_t hash, failed;
  } mine = {hash(program), !fault.empty()};
  std::vector<Start> all(size_t(communicator.ranks()));
  if (!communicator.exchange(&mine, sizeof mine, all.data()))
    return fault.empty() ? communicator.error() : fault;
  for (size_t rank = 0; fault.empty() && rank < all.size(); ++rank) {
    if (all[rank].failed)
      return "rank " + std::to_string(rank) + ": expects to start, got a failure there";
    if (all[rank].hash != all[0].hash)
      return "rank " + std::to_string(rank) + ": expects the program of rank 0, got another";
  }
  return fault;
}

std::unique_ptr<Session> Session::create(Program program, std::vector<GeneratedKernel> kernels,
                                         SessionOptions options, std::string &error) {
  auto impl = std::make_unique<Impl>();
  impl->program = std::move(program);
  impl->generated = std::move(kernels);
  impl->options = std::move(options);
  error = impl->makeRanks();
  if (impl->options.communicator)
    error = agreeToStart(*impl->options.communicator, impl->program, error);
  if (!error.empty())
    return nullptr;
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

Session::Session(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Session::~Session() = default;

void Session::initialize(uint64_t seed) {
  impl->seed = seed;
  impl->runOnAllRanks(Impl::Command::Initialize);
}

bool Session::step(const StepInput &input, StepResult &result, std::string &error) {
  if (impl->broken.empty() && !checkStepInput(impl->program, input, error))
    return false;
  impl->input = &input;
  if (!impl->runOrBreak(Impl::Command::Step, error))
    return false;
  result = impl->ranks[0]->walker.result();
  return true;
}

bool Session::evaluate(const BatchPointers &data, EvalResult &result, std::string &error) {
  if (impl->broken.empty() && !checkData(impl->program, SegmentRole::Evaluation, data, error))
    return false;
  impl->evalData = &data;
  if (!impl->runOrBreak(Impl::Command::Evaluate, error))
    return false;
  result = impl->ranks[0]->evaluated;
  return true;
}

const Program &Session::program() const { return impl->program; }
RankRange Session::localRanks() const { return {impl->firstRank(), int64_t(impl->ranks.size())}; }
int64_t Session::allocatedArenaBytes() const { return impl->ranks[0]->arena->size(); }
TrafficCount Session::traffic() const { return traffic(impl->firstRank()); }

TrafficCount Session::traffic(int64_t rank) const {
  const Rank *local = impl->localRank(rank);
  return local ? local->walker.traffic() : TrafficCount();
}

char *Session::arena(int64_t rank) {
  const Rank *local = impl->localRank(rank);
  return local ? local->arena->data() : nullptr;
}

} // namespace zrt
