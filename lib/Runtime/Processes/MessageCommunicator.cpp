//===- MessageCommunicator.cpp - collectives made of messages -------------===//
//
// Every collective is a round, or several, in which each rank sends something to each
// peer. A gather's pieces are received where they belong. A reduction sends to each
// rank its piece and receives the peers' values of the own one into scratch, as much
// at a time as fits there; the sum is then formed here, in rank order, with the bits
// of ranks that are threads (N1). No library's sum would promise that order.
//
// A rank sends its own pieces to N-1 peers, or N-1 peers' pieces: in both cases
// length·(N-1)/N elements, as many as a ring would (C1).
//
//===----------------------------------------------------------------------===//

#include "MessageCommunicator.h"

#include "zero/Runtime/RankSum.h"

#include <cstring>

namespace zrt {

namespace {

constexpr int64_t kLeastBlockBytes = 64;

class MessageCommunicator final : public ProcessCommunicator {
public:
  MessageCommunicator(std::unique_ptr<Transport> bytes, std::unique_ptr<Lifeline> line,
                      const JoinOptions &options)
      : transport(std::move(bytes)), lifeline(std::move(line)), self(transport->rank()),
        count(transport->ranks()), patience{lifeline->ended(), options.rankTimeout},
        messageBytes(std::max(options.messageBytes, kLeastBlockBytes)),
        blockBytes(std::clamp(options.scratchBytes / count / kLeastBlockBytes * kLeastBlockBytes,
                              kLeastBlockBytes, messageBytes)),
        scratch(size_t(blockBytes * count)), parts(size_t(count)), nothing(size_t(count)) {}

  ~MessageCommunicator() override {
    transport->close(!lifeline->ended());
    lifeline.reset();
  }

  int64_t rank() const override { return self; }
  int64_t ranks() const override { return count; }
  int64_t scratchBytes() const override { return int64_t(scratch.size()); }

  bool allGather(const BucketLayout &layout, ElementType type, const void *shard,
                 void *full) override {
    int64_t width = elementBytes(type);
    for (int64_t chunk = 0; chunk < layout.chunks(); ++chunk) {
      Piece own = layout.piece(chunk, self);
      char *place = bytesAt(full, own.begin * width);
      if (shard)
        std::memcpy(place, bytesAt(shard, own.shardBegin * width), size_t(own.count * width));
      if (!gatherChunk(layout, chunk, width, full))
        return false;
      sent.allGatherElements += own.count * (count - 1);
    }
    return !lifeline->ended();
  }

  bool reduceScatter(const BucketLayout &layout, ElementType type, void *full, void *shard,
                     bool add) override {
    for (int64_t chunk = 0; chunk < layout.chunks(); ++chunk) {
      if (!reduceChunk(layout, chunk, type, full, shard, add))
        return false;
      sent.reduceScatterElements += layout.piece(chunk, self).count * (count - 1);
    }
    return !lifeline->ended();
  }

  bool allReduce(const BucketLayout &layout, ElementType type, void *full) override {
    for (int64_t chunk = 0; chunk < layout.chunks(); ++chunk) {
      if (!reduceChunk(layout, chunk, type, full, nullptr, false) ||
          !gatherChunk(layout, chunk, elementBytes(type), full))
        return false;
      sent.allReduceElements += 2 * layout.piece(chunk, self).count * (count - 1);
    }
    return !lifeline->ended();
  }

  bool broadcast(void *data, int64_t bytes, int64_t root) override {
    for (int64_t done = 0; done < bytes; done += messageBytes) {
      int64_t length = std::min(messageBytes, bytes - done);
      char *place = bytesAt(data, done);
      for (int64_t rank = 0; rank < count; ++rank)
        parts[size_t(rank)] = self == root   ? Part{place, length, nullptr, 0}
                              : rank == root ? Part{nullptr, 0, place, length}
                                             : Part{};
      if (!exchangeParts())
        return false;
    }
    if (self == root)
      sent.controlBytes += bytes * (count - 1);
    return !lifeline->ended();
  }

  bool exchange(const void *mine, int64_t bytes, void *all) override {
    std::memcpy(bytesAt(all, self * bytes), mine, size_t(bytes));
    for (int64_t done = 0; done < bytes; done += messageBytes) {
      int64_t length = std::min(messageBytes, bytes - done);
      for (int64_t rank = 0; rank < count; ++rank)
        parts[size_t(rank)] = {bytesAt(mine, done), length, bytesAt(all, rank * bytes + done),
                               length};
      if (!exchangeParts())
        return false;
    }
    sent.controlBytes += bytes * (count - 1);
    return !lifeline->ended();
  }

  bool barrier() override {
    for (int64_t rank = 0; rank < count; ++rank)
      parts[size_t(rank)] = {&nothing[size_t(self)], 1, &nothing[size_t(rank)], 1};
    return exchangeParts();
  }

  void abort(const std::string &message) override { lifeline->abort(message); }
  std::string error() const override { return lifeline->error(); }
  bool reports() override { return lifeline->reports(); }

private:
  static char *bytesAt(void *data, int64_t offset) { return static_cast<char *>(data) + offset; }
  static const char *bytesAt(const void *data, int64_t offset) {
    return static_cast<const char *>(data) + offset;
  }

  /// Each rank's piece of the chunk lies in its own `full`; afterwards all do.
  bool gatherChunk(const BucketLayout &layout, int64_t chunk, int64_t width, void *full) {
    Piece own = layout.piece(chunk, self);
    for (int64_t done = 0; done < own.count * width; done += messageBytes) {
      int64_t length = std::min(messageBytes, own.count * width - done);
      for (int64_t rank = 0; rank < count; ++rank)
        parts[size_t(rank)] = {bytesAt(full, own.begin * width + done), length,
                               bytesAt(full, layout.piece(chunk, rank).begin * width + done),
                               length};
      if (!exchangeParts())
        return false;
    }
    return true;
  }

  bool reduceChunk(const BucketLayout &layout, int64_t chunk, ElementType type, void *full,
                   void *shard, bool add) {
    int64_t width = elementBytes(type);
    Piece own = layout.piece(chunk, self);
    char *target =
        shard ? bytesAt(shard, own.shardBegin * width) : bytesAt(full, own.begin * width);
    for (int64_t done = 0; done < own.count * width; done += blockBytes) {
      int64_t length = std::min(blockBytes, own.count * width - done);
      for (int64_t rank = 0; rank < count; ++rank)
        parts[size_t(rank)] = {bytesAt(full, layout.piece(chunk, rank).begin * width + done),
                               length, valuesOf(rank), length};
      if (!exchangeParts())
        return false;
      sumInRankOrder(
          type, count, length / width,
          [&](int64_t rank) {
            return rank == self ? bytesAt(full, own.begin * width + done) : valuesOf(rank);
          },
          target + done, add);
    }
    return true;
  }

  char *valuesOf(int64_t rank) { return scratch.data() + rank * blockBytes; }

  bool exchangeParts() {
    Fault fault;
    if (!lifeline->ended() && transport->exchange(parts, patience, fault))
      return true;
    // What a peer's end is due to comes over the lifeline.
    constexpr double kSecondsForCause = 2.0;
    if (fault.hasCause)
      lifeline->awaitEnd(kSecondsForCause);
    if (!fault.text.empty())
      lifeline->abort(fault.text);
    return false;
  }

  std::unique_ptr<Transport> transport;
  std::unique_ptr<Lifeline> lifeline;
  const int64_t self, count;
  const Patience patience;
  const int64_t messageBytes, blockBytes;
  std::vector<char> scratch;
  std::vector<Part> parts;
  std::vector<char> nothing;
};

} // namespace

std::shared_ptr<ProcessCommunicator> createMessageCommunicator(std::unique_ptr<Transport> transport,
                                                               std::unique_ptr<Lifeline> lifeline,
                                                               const JoinOptions &options) {
  return std::make_shared<MessageCommunicator>(std::move(transport), std::move(lifeline), options);
}

} // namespace zrt
