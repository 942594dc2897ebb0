//===- RunLists.h - sorted runs in one block of memory -------------------===//
//
// A million short lists that grow one run at a time, and are walked far more often
// than they grow. A list is 8 bytes, and its runs lie side by side in a block that
// all share: in a room for 2 to 8 of them, then 10, 12, 14, 16, 20 and so on. What a
// list leaves when it grows is the next one's who needs such a room; where a
// sixteenth of the block finds no taker, all lists move together.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_RUNLISTS_H
#define ZERO_LIB_PLANNING_RUNLISTS_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace zero::planning::arena {

/// Below 2^48: a terabyte in bytes needs no more, and runs are three quarters of those in 64 bits.
class Word48 {
public:
  Word48() = default;
  explicit Word48(int64_t value)
      : parts{uint16_t(value), uint16_t(value >> 16), uint16_t(value >> 32)} {}
  explicit operator int64_t() const {
    return int64_t(parts[0]) | int64_t(parts[1]) << 16 | int64_t(parts[2]) << 32;
  }

private:
  uint16_t parts[3];
};

/// [begin, end), in words of 16, 32, 48 or 64 bits.
template <typename Word> struct Run {
  Word begin, end;
};

template <typename Word> class RunLists {
public:
  RunLists() { vacant.fill(kVacant); }
  RunLists(const RunLists &) = delete;
  RunLists &operator=(const RunLists &) = delete;
  ~RunLists() { std::free(block); }

  /// So many lists, none of which takes runs before it is open.
  void resize(size_t count) { lists.resize(count); }
  void open(size_t list) { lists[list].rank = 0; }
  bool isOpen(size_t list) const { return lists[list].rank != kClosed; }

  size_t size(size_t list) const { return lists[list].size; }
  Run<Word> *begin(size_t list) { return block + lists[list].at; }
  Run<Word> *end(size_t list) { return begin(list) + size(list); }

  /// One run more, whatever it is, at the end. Moves lists: pointers into them are void.
  void lengthen(size_t list) {
    if (lists[list].size == roomOf(lists[list].rank))
      grow(list);
    ++lists[list].size;
  }
  /// The last `runs` are gone.
  void shorten(size_t list, size_t runs) { lists[list].size -= runs; }

  /// Empties all lists, and keeps those open that are.
  void clear();

  void prefetchList(size_t list) const { __builtin_prefetch(&lists[list], 1); }
  void prefetchRuns(size_t list) const { __builtin_prefetch(block + lists[list].at, 1); }

  /// Of the block, in runs, those in vacant rooms and in the spare ones of lists included.
  size_t runsOfBlock() const { return used; }

private:
  static constexpr uint32_t kClosed = 127;
  struct List {
    uint64_t at : 32 = 0, size : 25 = 0, rank : 7 = kClosed; // of its room
  };
  static constexpr uint32_t kMostRuns = (1u << 25) - 1;
  static constexpr size_t kRanks = 96; // enough for kMostRuns
  /// The mark of a vacant room, and the end of a chain of them.
  static constexpr uint32_t kVacant = 0xffffff00;
  /// A larger block is given back when it is cleared: tables are made then that need not lie
  /// beside it.
  static constexpr size_t kKeptBytes = 1 << 20;
  static constexpr size_t kFewRuns = 4096; // to move lists for

  static uint32_t roomOf(uint32_t rank) {
    return rank < 4 ? rank + (rank > 0) : (4 + (rank - 3) % 4) << ((rank - 3) / 4);
  }
  /// The first four bytes of a room.
  uint32_t mark(size_t at) const {
    uint32_t value;
    std::memcpy(&value, block + at, sizeof value);
    return value;
  }
  void setMark(size_t at, uint32_t value) { std::memcpy(block + at, &value, sizeof value); }

  void grow(size_t list);
  uint32_t claim(uint32_t rank);
  void moveTogether();

  std::vector<List> lists;
  Run<Word> *block = nullptr;
  size_t used = 0, room = 0, vacantRuns = 0;
  std::array<uint32_t, kRanks> vacant; // the first vacant room of each rank, whose mark is the next
};

template <typename Word> void RunLists<Word>::clear() {
  const bool isLarge = used * sizeof(Run<Word>) > kKeptBytes;
  for (List &list : lists)
    if (list.rank != kClosed)
      list = isLarge ? List{0, 0, 0} : List{list.at, 0, list.rank};
  if (!isLarge)
    return;
  std::free(std::exchange(block, nullptr));
  used = room = vacantRuns = 0;
  vacant.fill(kVacant);
}

template <typename Word> void RunLists<Word>::grow(size_t index) {
  if (lists[index].size == kMostRuns)
    throw std::bad_alloc();
  const uint32_t rank = uint32_t(lists[index].rank) + 1;
  const uint32_t at = claim(rank); // may move the list
  List &list = lists[index];
  if (list.rank > 0) {
    std::memcpy(block + at, block + list.at, list.size * sizeof(Run<Word>));
    setMark(list.at, vacant[list.rank]);
    vacant[list.rank] = list.at;
    vacantRuns += roomOf(list.rank);
  }
  list.at = at;
  list.rank = rank;
}

template <typename Word> uint32_t RunLists<Word>::claim(uint32_t rank) {
  const uint32_t count = roomOf(rank);
  if (vacantRuns > used / 16 + kFewRuns && vacant[rank] == kVacant)
    moveTogether();
  if (uint32_t at = vacant[rank]; at != kVacant) {
    vacant[rank] = mark(at);
    vacantRuns -= count;
    return at;
  }
  if (used + count >= kVacant)
    throw std::bad_alloc();
  if (room - used < count) {
    // Grown in place by the system, where it can; what is not touched takes no memory.
    room = std::max(room + room / 2, used + count + 1024);
    auto *grown = static_cast<Run<Word> *>(std::realloc(block, room * sizeof(Run<Word>)));
    if (!grown)
      throw std::bad_alloc();
    block = grown;
  }
  used += count;
  return uint32_t(used - count);
}

/// A room is marked with its list, and the list keeps what the mark took the place of: so the rooms
/// can be gone through as they lie, without a table of them.
template <typename Word> void RunLists<Word>::moveTogether() {
  for (uint32_t rank = 1; rank < kRanks; ++rank)
    for (uint32_t at = std::exchange(vacant[rank], kVacant); at != kVacant;) {
      uint32_t next = mark(at);
      setMark(at, kVacant + rank);
      at = next;
    }
  for (size_t i = 0; i < lists.size(); ++i) {
    List &list = lists[i];
    if (list.rank == 0 || list.rank == kClosed)
      continue;
    uint32_t kept = mark(list.at);
    setMark(list.at, uint32_t(i));
    list.at = kept;
  }
  size_t to = 0;
  for (size_t at = 0, next = 0; at < used; at = next) {
    const uint32_t owner = mark(at);
    if (owner >= kVacant) {
      next = at + roomOf(owner - kVacant);
      continue;
    }
    List &list = lists[owner];
    next = at + roomOf(list.rank);
    setMark(at, list.at);
    while (list.rank > 1 && list.size <= roomOf(list.rank - 1))
      --list.rank;
    std::memmove(block + to, block + at, list.size * sizeof(Run<Word>));
    list.at = to;
    to += roomOf(list.rank);
  }
  used = to;
  vacantRuns = 0;
}

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_RUNLISTS_H
