//===- Communicator.h - how ranks meet ------------------------------------===//
//
// One object per rank; all ranks make the same calls in the same order (S3).
// Bucket collectives move a bucket chunk by chunk (see Layout.h); sums are
// formed in rank order, beginning with rank 0's value, in f32, and rounded once
// to the elements' type (N1; RankSum.h). Padding is moved like everything else
// and read by nobody. Sums are of f32, bf16 or f16; a gather moves any type.
//
// Calls return when the caller's buffers may be read, written and freed again.
// They return false once any rank has aborted: the caller unwinds, and `error`
// says why. Nothing here allocates after creation, except `abort`.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_COMMUNICATOR_H
#define ZERO_RUNTIME_COMMUNICATOR_H

#include "zero/Runtime/Layout.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zrt {

/// Elements and bytes that one rank really sent, by kind (C1): an all-gather or a reduce-scatter of
/// a bucket sends length·(N-1)/N elements, an all-reduce twice that.
struct TrafficCount {
  int64_t allReduceElements = 0, reduceScatterElements = 0, allGatherElements = 0, controlBytes = 0;
};

class Communicator {
public:
  virtual ~Communicator() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t ranks() const = 0;

  /// The pieces of all ranks → the full bucket. A null `shard`: in place, the rank's pieces of
  /// `full`. MPI_Allgather, ncclAllGather per chunk.
  [[nodiscard]] virtual bool allGather(const BucketLayout &layout, ElementType type,
                                       const void *shard, void *full) = 0;

  /// The sum of all ranks' full buckets → the rank's pieces. A null `shard`: in place, the rank's
  /// pieces of `full`; what the other pieces hold afterwards is unspecified. With `add`, the
  /// finished f32 sum is added to the shard before it is rounded. MPI_Reduce_scatter_block,
  /// ncclReduceScatter per chunk.
  [[nodiscard]] virtual bool reduceScatter(const BucketLayout &layout, ElementType type, void *full,
                                           void *shard, bool add) = 0;

  /// The sum of all ranks' full buckets, everywhere: the bits of reduceScatter followed by
  /// allGather. MPI_Allreduce, ncclAllReduce.
  [[nodiscard]] virtual bool allReduce(const BucketLayout &layout, ElementType type,
                                       void *full) = 0;

  /// `bytes` bytes of rank `root` → every rank's `data`. Outside of steps: weights on their way to
  /// a file. MPI_Bcast, ncclBroadcast.
  [[nodiscard]] virtual bool broadcast(void *data, int64_t bytes, int64_t root) = 0;

  /// `bytes` bytes of every rank → all[rank · bytes …], for control values: counts, losses, exact
  /// sums, agreement. Whoever reduces them does so in rank order. MPI_Allgather, ncclAllGather.
  [[nodiscard]] virtual bool exchange(const void *mine, int64_t bytes, void *all) = 0;

  /// MPI_Barrier.
  [[nodiscard]] virtual bool barrier() = 0;

  /// Ends every present and future call on all ranks; the first message stays. May be called from
  /// any thread. MPI_Abort, ncclCommAbort.
  virtual void abort(const std::string &message) = 0;

  /// The message of the rank that aborted, or empty.
  virtual std::string error() const = 0;

  /// Bytes of buffers that it holds beside the arena.
  virtual int64_t scratchBytes() const { return 0; }

  /// Since the last reset; to be asked by the rank itself or while no call runs.
  const TrafficCount &traffic() const { return sent; }
  void resetTraffic() { sent = {}; }

protected:
  TrafficCount sent;
};

/// Ranks that are threads of this process: each reads its peers' memory directly, between barriers.
/// Threads sleep while they wait; with `spin` they look around for some microseconds first.
std::vector<std::unique_ptr<Communicator>> createInProcessCommunicators(int64_t ranks, bool spin);

} // namespace zrt

#endif // ZERO_RUNTIME_COMMUNICATOR_H
