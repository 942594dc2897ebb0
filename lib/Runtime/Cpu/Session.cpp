//===- Session.cpp - N ranks as threads of one process --------------------===//
//
// One thread a rank, made once and parked between commands. The caller checks
// what it was given, posts a command, and waits until every rank is done.
//
//===----------------------------------------------------------------------===//

#include "zero/Runtime/Session.h"

#include "InputCheck.h"
#include "Launch.h"
#include "Walker.h"
#include "zero/Runtime/Layout.h"
#include "zero/Runtime/ThreadTeam.h"

#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

namespace zrt {

/// Ranks of one process: far beyond any use, far below what an operating system refuses.
static constexpr int64_t kMaxThreadRanks = 1024;

struct Rank {
  Rank(const Program &program, const std::vector<GeneratedKernel> &generated,
       const SessionOptions &options, std::unique_ptr<RankArena> arenaOfRank,
       std::unique_ptr<Communicator> communicatorOfRank, bool spin)
      : arena(std::move(arenaOfRank)), communicator(std::move(communicatorOfRank)),
        team(createThreadTeam(program.threadsPerRank, spin)),
        walker({program, generated, options, *arena, *communicator, *team}) {}

  std::unique_ptr<RankArena> arena;
  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<ThreadTeam> team;
  Walker walker;
  std::thread thread;
};

struct Session::Impl {
  enum class Command { Step, Initialize, Stop };

  Program program;
  std::vector<GeneratedKernel> generated;
  SessionOptions options;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::string broken; // why no step can run any more

  std::mutex mutex;
  std::condition_variable posted, finished;
  Command command = Command::Step;
  const StepInput *input = nullptr;
  uint64_t seed = 0, commands = 0;
  size_t busy = 0;

  ~Impl() {
    post(Command::Stop);
    for (auto &rank : ranks)
      if (rank->thread.joinable())
        rank->thread.join();
  }

  void post(Command next) {
    std::lock_guard lock(mutex);
    command = next;
    busy = ranks.size();
    ++commands;
    posted.notify_all();
  }

  void runOnAllRanks(Command next) {
    post(next);
    std::unique_lock lock(mutex);
    finished.wait(lock, [&] { return busy == 0; });
  }

  void serve(Rank &rank) {
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
      if (current == Command::Initialize)
        rank.walker.initialize(seed);
      else
        step(rank);
      std::lock_guard lock(mutex);
      if (--busy == 0)
        finished.notify_one();
    }
  }

  void step(Rank &rank) {
    if (!rank.walker.step(*input) || !options.poison)
      return;
    if (const char *fault = rank.arena->guardFault())
      rank.communicator->abort("rank " + std::to_string(rank.communicator->rank()) +
                               ": expects writes within the arena, got one " + fault);
  }

  /// The slot of a parameter that has this kind of state and this many elements, or a message.
  const Slot *find(std::string_view name, int64_t elements, StateKind kind, const Bucket *&owner,
                   std::string &error) const {
    std::string quoted = "parameter '" + std::string(name) + "'";
    for (const Bucket &bucket : program.buckets)
      for (const Slot &slot : bucket.slots) {
        if (slot.parameter != name)
          continue;
        if (slot.elements == elements && bucket.state[int(kind)].present) {
          owner = &bucket;
          return &slot;
        }
        error = slot.elements != elements
                    ? quoted + ": expects " + std::to_string(slot.elements) + " elements, got " +
                          std::to_string(elements)
                    : quoted + ": expects a state that it has, got " + std::string(zrt::name(kind));
        return nullptr;
      }
    error = "expects the name of a parameter, got '" + std::string(name) + "'";
    return nullptr;
  }

  float *state(int64_t rank, const StatePlace &place) const {
    return reinterpret_cast<float *>(ranks[rank]->arena->data() + place.offset);
  }
};

/// What `check` cannot know: this process's kernels, types and memory.
static std::string checkHere(const Program &program,
                             const std::vector<GeneratedKernel> &generated) {
  if (std::string fault = check(program); !fault.empty())
    return fault;
  if (program.ranks > kMaxThreadRanks)
    return "expects at most " + std::to_string(kMaxThreadRanks) + " ranks in one process, got " +
           std::to_string(program.ranks);
  for (const Bucket &bucket : program.buckets)
    if (bucket.type != ElementType::f32 || bucket.state[int(StateKind::Master)].present)
      return "bucket '" + bucket.name + "': expects f32 weights without master copies";
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

std::unique_ptr<Session> Session::create(Program program, std::vector<GeneratedKernel> kernels,
                                         SessionOptions options, std::string &error) try {
  if (error = checkHere(program, kernels); !error.empty())
    return nullptr;
  auto impl = std::make_unique<Impl>();
  impl->program = std::move(program);
  impl->generated = std::move(kernels);
  impl->options = options;
  int64_t count = impl->program.ranks;
  bool spin = count * impl->program.threadsPerRank <= int64_t(std::thread::hardware_concurrency());
  auto communicators = createInProcessCommunicators(count, spin);
  for (int64_t rank = 0; rank < count; ++rank) {
    auto arena = RankArena::create(impl->program.arenaBytes, options.poison);
    if (!arena) {
      error = "rank " + std::to_string(rank) + ": expects " +
              std::to_string(impl->program.arenaBytes) + " bytes for its arena, got no memory";
      return nullptr;
    }
    impl->ranks.push_back(std::make_unique<Rank>(impl->program, impl->generated, impl->options,
                                                 std::move(arena), std::move(communicators[rank]),
                                                 spin));
  }
  for (auto &rank : impl->ranks)
    rank->thread = std::thread([impl = impl.get(), rank = rank.get()] { impl->serve(*rank); });
  return std::unique_ptr<Session>(new Session(std::move(impl)));
} catch (const std::exception &failure) {
  error = std::string("expects memory and threads for all ranks, got: ") + failure.what();
  return nullptr;
}

Session::Session(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Session::~Session() = default;

void Session::initialize(uint64_t seed) {
  impl->seed = seed;
  impl->runOnAllRanks(Impl::Command::Initialize);
}

bool Session::step(const StepInput &input, StepResult &result, std::string &error) {
  if (!impl->broken.empty()) {
    error = impl->broken;
    return false;
  }
  if (!checkStepInput(impl->program, input, error))
    return false;
  impl->input = &input;
  impl->runOnAllRanks(Impl::Command::Step);
  if (impl->broken = impl->ranks[0]->communicator->error(); !impl->broken.empty()) {
    error = impl->broken;
    return false;
  }
  result = impl->ranks[0]->walker.result();
  return true;
}

bool Session::setParameter(std::string_view name, const float *values, int64_t elements,
                           std::string &error, StateKind kind) {
  const Bucket *bucket = nullptr;
  const Slot *slot = impl->find(name, elements, kind, bucket, error);
  if (!slot)
    return false;
  const StatePlace &place = bucket->state[int(kind)];
  BucketLayout layout(*bucket, impl->program.ranks);
  for (int64_t rank = 0; rank < impl->program.ranks; ++rank) {
    float *base = impl->state(rank, place);
    auto write = [&](float *to, int64_t element, int64_t count) {
      std::memcpy(to, values + (element - slot->beginElement), size_t(count) * sizeof(float));
    };
    if (!place.sharded)
      write(base + slot->beginElement, slot->beginElement, elements);
    else
      layout.forEachOwned(
          rank, slot->beginElement, slot->beginElement + elements,
          [&](const Piece &owned) { write(base + owned.shardBegin, owned.begin, owned.count); });
  }
  return true;
}

/// Each piece from its owner, also where all ranks hold the whole: after a reduction in place only
/// the owner's piece is the sum.
bool Session::getParameter(std::string_view name, float *values, int64_t elements,
                           std::string &error, StateKind kind) const {
  const Bucket *bucket = nullptr;
  const Slot *slot = impl->find(name, elements, kind, bucket, error);
  if (!slot)
    return false;
  const StatePlace &place = bucket->state[int(kind)];
  BucketLayout layout(*bucket, impl->program.ranks);
  for (int64_t rank = 0; rank < impl->program.ranks; ++rank) {
    const float *base = impl->state(rank, place);
    layout.forEachOwned(rank, slot->beginElement, slot->beginElement + elements,
                        [&](const Piece &owned) {
                          std::memcpy(values + (owned.begin - slot->beginElement),
                                      base + (place.sharded ? owned.shardBegin : owned.begin),
                                      size_t(owned.count) * sizeof(float));
                        });
  }
  return true;
}

const Program &Session::program() const { return impl->program; }
int64_t Session::allocatedArenaBytes() const { return impl->ranks[0]->arena->size(); }
TrafficCount Session::traffic() const { return traffic(0); }
TrafficCount Session::traffic(int64_t rank) const {
  return impl->ranks[rank]->communicator->traffic();
}
char *Session::arena(int64_t rank) { return impl->ranks[rank]->arena->data(); }

static std::string rowLabel(const Program &program, const Row &row) {
  std::string bucket = row.bucket >= 0 ? " " + program.buckets[row.bucket].name : "";
  switch (row.opcode) {
  case Opcode::Launch:
    return program.kernels[row.kernel].name;
  case Opcode::AllGather:
    return "all_gather" + bucket;
  case Opcode::ReduceScatter:
    return "reduce_scatter" + bucket;
  case Opcode::AllReduce:
    return "all_reduce" + bucket;
  case Opcode::Count:
    return "count";
  case Opcode::SetSeed:
    return "set_seed";
  case Opcode::SetRandom:
    return "set_random";
  case Opcode::Norm:
    return "norm";
  case Opcode::Update:
    return "update" + bucket;
  case Opcode::Wait:
    return "wait";
  }
  return "unknown";
}

std::vector<RowProfile> Session::profile() const {
  std::vector<RowProfile> rows;
  const std::vector<Walker::RowTime> &times = impl->ranks[0]->walker.times();
  if (times.empty())
    return rows;
  for (const Segment &segment : impl->program.segments)
    for (size_t index = 0; index < segment.rows.size(); ++index) {
      const Row &row = segment.rows[index];
      const Walker::RowTime &time = times[rows.size()];
      int64_t flops = row.opcode == Opcode::Launch ? impl->program.kernels[row.kernel].flops : 0;
      rows.push_back({segment.name, rowLabel(impl->program, row), int64_t(index), time.runs,
                      time.seconds, flops});
    }
  return rows;
}

} // namespace zrt
