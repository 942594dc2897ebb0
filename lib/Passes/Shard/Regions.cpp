//===- Regions.cpp - how long a gathered bucket stays -------------------------===//

#include "Regions.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <utility>

namespace zero {

namespace {

constexpr int64_t kNone = -1;

class RegionFinder {
public:
  RegionFinder(llvm::ArrayRef<BucketReader> readers, llvm::ArrayRef<int64_t> bytes)
      : readers(readers), bytes(bytes), numbers(readers.size()) {
    for (size_t i = 0; i < readers.size(); ++i)
      numbers[i].assign(readers[i].buckets.size(), kNone);
  }

  std::vector<std::vector<int64_t>> run(int64_t holdBytes) {
    findOfBackward();
    addRepetitions();
    if (holdBytes >= 0)
      bound(holdBytes);
    return std::move(numbers);
  }

private:
  /// Regions that may go on: those of the last reader.
  struct Open {
    std::vector<int64_t> region; // by bucket
    std::vector<int64_t> read;   // buckets whose region is open

    void moveTo(llvm::ArrayRef<int64_t> buckets, llvm::ArrayRef<int64_t> numbers) {
      for (int64_t bucket : read)
        region[bucket] = kNone;
      for (auto [bucket, number] : llvm::zip(buckets, numbers))
        region[bucket] = number;
      read = buckets;
    }
  };

  /// The regions that there are where nothing is computed again.
  void findOfBackward() {
    Open open{std::vector<int64_t>(bytes.size(), kNone), {}};
    for (auto [reader, number] : llvm::zip(readers, numbers)) {
      if (reader.repeats)
        continue;
      for (size_t i = 0; i < reader.buckets.size(); ++i) {
        int64_t there = open.region[reader.buckets[i]];
        number[i] = there != kNone ? there : count++;
      }
      open.moveTo(reader.buckets, number);
    }
  }

  /// A repetition reads what is there, else what is needed next, else what it gathers itself.
  void addRepetitions() {
    std::vector<std::vector<int64_t>> needed = numbers;
    std::vector<int64_t> next(bytes.size(), kNone);
    for (size_t at = readers.size(); at-- > 0;)
      for (size_t i = 0; i < readers[at].buckets.size(); ++i) {
        int64_t &known = next[readers[at].buckets[i]];
        if (readers[at].repeats)
          needed[at][i] = known;
        else
          known = numbers[at][i];
      }
    Open open{std::vector<int64_t>(bytes.size(), kNone), {}};
    for (size_t at = 0; at < readers.size(); ++at) {
      const std::vector<int64_t> &buckets = readers[at].buckets;
      for (size_t i = 0; i < buckets.size() && readers[at].repeats; ++i) {
        int64_t there = open.region[buckets[i]];
        numbers[at][i] = there != kNone ? there : needed[at][i] != kNone ? needed[at][i] : count++;
      }
      open.moveTo(buckets, numbers[at]);
    }
  }

  /// Breaks regions off where activations and what is held take more than `most`.
  void bound(int64_t most) {
    std::vector<std::vector<size_t>> nextRead(readers.size()); // of the region, or the end
    std::vector<size_t> known(count, readers.size());
    for (size_t at = readers.size(); at-- > 0;)
      for (int64_t number : numbers[at])
        nextRead[at].push_back(std::exchange(known[number], at));

    struct Held {
      int64_t region, bucket;
      size_t next;
    };
    std::vector<Held> open; // what is there and read again
    std::vector<int64_t> renamed(count);
    for (int64_t i = 0, end = count; i < end; ++i)
      renamed[i] = i;
    for (size_t at = 0; at < readers.size(); ++at) {
      llvm::erase_if(open, [&](const Held &held) { return held.next == at; });
      int64_t bytesHeld = open.empty() ? 0 : readers[at].liveBytes;
      for (const Held &held : open)
        bytesHeld += bytes[held.bucket];
      while (bytesHeld > most && !open.empty()) {
        auto last = std::max_element(open.begin(), open.end(), [](const Held &a, const Held &b) {
          return std::pair(a.next, a.region) < std::pair(b.next, b.region);
        });
        bytesHeld -= bytes[last->bucket];
        renamed[last->region] = count++;
        open.erase(last);
      }
      for (size_t i = 0; i < numbers[at].size(); ++i) {
        int64_t region = numbers[at][i];
        numbers[at][i] = renamed[region];
        if (nextRead[at][i] < readers.size())
          open.push_back({region, readers[at].buckets[i], nextRead[at][i]});
      }
    }
  }

  llvm::ArrayRef<BucketReader> readers;
  llvm::ArrayRef<int64_t> bytes;
  std::vector<std::vector<int64_t>> numbers;
  int64_t count = 0;
};

} // namespace

std::vector<std::vector<int64_t>> regionsOf(llvm::ArrayRef<BucketReader> readers,
                                            llvm::ArrayRef<int64_t> bytes, int64_t holdBytes) {
  return RegionFinder(readers, bytes).run(holdBytes);
}

} // namespace zero
