//===- InProcessCommunicator.cpp - ranks that are threads -----------------===//
//
// A collective is: publish a pointer, meet, read the peers' memory, meet again.
// Each rank pulls what it needs, which is as much as it would have sent; the
// second meeting keeps a rank from changing memory that a peer still reads.
//
// In place, a reduction writes the rank's own pieces, and of a peer's buffer
// only those same pieces are read, so no element is written and read between
// two meetings.
//
//===----------------------------------------------------------------------===//

#include "Waiting.h"
#include "zero/Runtime/Communicator.h"
#include "zero/Runtime/RankSum.h"

#include <cstring>
#include <mutex>

namespace zrt {

namespace {

/// What the ranks share: a barrier that can be broken, and one published pointer each.
class MeetingPlace {
public:
  MeetingPlace(int64_t ranks, bool spin) : published(size_t(ranks)), ranks(ranks), spin(spin) {}

  /// The phase is read before the abort flag and changed after it: a rank that misses the flag sees
  /// the phase move, and does not sleep through an abort.
  bool meet() {
    uint32_t now = phase.load(std::memory_order_acquire);
    if (aborted.load(std::memory_order_acquire))
      return false;
    if (ranks == 1)
      return true;
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks) {
      arrived.store(0, std::memory_order_relaxed);
      phase.fetch_add(1, std::memory_order_release);
      phase.notify_all();
    } else {
      waitWhileEqual(phase, now, spin);
    }
    return !aborted.load(std::memory_order_acquire);
  }

  void abort(const std::string &text) {
    {
      std::lock_guard lock(mutex);
      if (message.empty())
        message = text;
    }
    aborted.store(true, std::memory_order_release);
    phase.fetch_add(1, std::memory_order_release);
    phase.notify_all();
  }

  std::string error() const {
    std::lock_guard lock(mutex);
    return message;
  }

  struct alignas(64) Published {
    const void *address = nullptr;
  };
  std::vector<Published> published;

private:
  const int64_t ranks;
  const bool spin;
  std::atomic<uint32_t> phase{0};
  std::atomic<int64_t> arrived{0};
  std::atomic<bool> aborted{false};
  mutable std::mutex mutex;
  std::string message;
};

class InProcessCommunicator final : public Communicator {
public:
  InProcessCommunicator(std::shared_ptr<MeetingPlace> place, int64_t rank, int64_t ranks)
      : place(std::move(place)), self(rank), count(ranks) {}

  int64_t rank() const override { return self; }
  int64_t ranks() const override { return count; }

  bool allGather(const BucketLayout &layout, ElementType type, const void *shard,
                 void *full) override {
    bool inPlace = shard == nullptr;
    if (!publish(inPlace ? full : shard))
      return false;
    copyPieces(layout, type, full, inPlace, sent.allGatherElements);
    return place->meet();
  }

  bool reduceScatter(const BucketLayout &layout, ElementType type, void *full, void *shard,
                     bool add) override {
    if (!publish(full))
      return false;
    sumPieces(layout, type, full, shard, add, sent.reduceScatterElements);
    return place->meet();
  }

  bool allReduce(const BucketLayout &layout, ElementType type, void *full) override {
    if (!publish(full))
      return false;
    sumPieces(layout, type, full, nullptr, false, sent.allReduceElements);
    if (!place->meet())
      return false;
    copyPieces(layout, type, full, true, sent.allReduceElements);
    return place->meet();
  }

  bool broadcast(void *data, int64_t bytes, int64_t root) override {
    if (!publish(data))
      return false;
    if (self != root)
      std::memcpy(data, peer(root), size_t(bytes));
    else
      sent.controlBytes += bytes * (count - 1);
    return place->meet();
  }

  bool exchange(const void *mine, int64_t bytes, void *all) override {
    if (!publish(mine))
      return false;
    for (int64_t rank = 0; rank < count; ++rank)
      std::memcpy(static_cast<char *>(all) + rank * bytes, place->published[rank].address,
                  size_t(bytes));
    sent.controlBytes += bytes * (count - 1);
    return place->meet();
  }

  bool barrier() override { return place->meet(); }
  void abort(const std::string &message) override { place->abort(message); }
  std::string error() const override { return place->error(); }

private:
  bool publish(const void *address) {
    place->published[self].address = address;
    return place->meet();
  }

  const char *peer(int64_t rank) const {
    return static_cast<const char *>(place->published[rank].address);
  }

  /// Begins with the own piece, then the next rank's, so that ranks do not all read one peer at
  /// once.
  void copyPieces(const BucketLayout &layout, ElementType type, void *full, bool peersAreFull,
                  int64_t &elements) {
    int64_t width = elementBytes(type);
    for (int64_t chunk = 0; chunk < layout.chunks(); ++chunk)
      for (int64_t step = peersAreFull ? 1 : 0; step < count; ++step) {
        int64_t rank = (self + step) % count;
        Piece piece = layout.piece(chunk, rank);
        std::memcpy(static_cast<char *>(full) + piece.begin * width,
                    peer(rank) + (peersAreFull ? piece.begin : piece.shardBegin) * width,
                    size_t(piece.count * width));
        elements += rank == self ? 0 : piece.count;
      }
  }

  void sumPieces(const BucketLayout &layout, ElementType type, void *full, void *shard, bool add,
                 int64_t &elements) {
    int64_t width = elementBytes(type);
    for (int64_t chunk = 0; chunk < layout.chunks(); ++chunk) {
      Piece piece = layout.piece(chunk, self);
      char *target = shard ? static_cast<char *>(shard) + piece.shardBegin * width
                           : static_cast<char *>(full) + piece.begin * width;
      sumInRankOrder(
          type, count, piece.count, [&](int64_t rank) { return peer(rank) + piece.begin * width; },
          target, add);
      elements += piece.count * (count - 1);
    }
  }

  std::shared_ptr<MeetingPlace> place;
  const int64_t self, count;
};

} // namespace

std::vector<std::unique_ptr<Communicator>> createInProcessCommunicators(int64_t ranks, bool spin) {
  auto place = std::make_shared<MeetingPlace>(ranks, spin);
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int64_t rank = 0; rank < ranks; ++rank)
    communicators.push_back(std::make_unique<InProcessCommunicator>(place, rank, ranks));
  return communicators;
}

} // namespace zrt
