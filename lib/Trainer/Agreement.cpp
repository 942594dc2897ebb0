//===- Agreement.cpp - ranks that are processes go on together, or not at all ===//

#include "zero/Trainer/Agreement.h"

#include "zero/Runtime/InstructionSet.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

namespace zero {

/// One value a rank, on the stack.
template <typename T> using PerRank = llvm::SmallVector<T, 1024>;

char CommonError::ID;

/// The job has ended; why, the communicator knows.
static llvm::Error endedError(const zrt::Communicator &communicator) {
  return llvm::createStringError("error: " + communicator.error());
}

std::string withRank(int64_t rank, llvm::StringRef lines) {
  std::string text, name = "rank " + std::to_string(rank) + ": ";
  for (llvm::StringRef line : llvm::split(lines, '\n')) {
    text += text.empty() ? "" : "\n";
    bool bare = line.consume_front("error: ");
    ((text += bare ? "error: " : "") += name) += line;
  }
  return text;
}

/// All ranks end with the text of the lowest rank that has one; empty where none has.
static llvm::Expected<std::pair<int64_t, std::string>> lowestText(zrt::Communicator &communicator,
                                                                  llvm::StringRef mine) {
  int64_t length = static_cast<int64_t>(mine.size());
  PerRank<int64_t> lengths(static_cast<size_t>(communicator.ranks()));
  if (!communicator.exchange(&length, sizeof length, lengths.data()))
    return endedError(communicator);
  auto first = llvm::find_if(lengths, [](int64_t bytes) { return bytes != 0; });
  if (first == lengths.end())
    return std::pair<int64_t, std::string>(0, "");
  int64_t rank = first - lengths.begin();
  std::string text = rank == communicator.rank() ? mine.str() : std::string(size_t(*first), ' ');
  if (!communicator.broadcast(text.data(), *first, rank))
    return endedError(communicator);
  return std::pair(rank, std::move(text));
}

llvm::Error settle(zrt::Communicator *communicator, llvm::Error mine) {
  if (!communicator || mine.isA<CommonError>())
    return mine;
  std::string text = llvm::toString(std::move(mine));
  auto lowest = lowestText(*communicator, text);
  if (!lowest)
    return text.empty() ? lowest.takeError() : llvm::createStringError(text);
  if (lowest->second.empty())
    return llvm::Error::success();
  bool same = text == lowest->second;
  PerRank<char> all(static_cast<size_t>(communicator->ranks()));
  if (!communicator->exchange(&same, 1, all.data()))
    return endedError(*communicator);
  if (llvm::is_contained(all, 0))
    return llvm::make_error<CommonError>(withRank(lowest->first, lowest->second));
  return llvm::make_error<CommonError>(lowest->second);
}

llvm::Error sameEverywhere(zrt::Communicator *communicator, llvm::Error error) {
  return communicator && error ? llvm::make_error<CommonError>(llvm::toString(std::move(error)))
                               : std::move(error);
}

bool onAnyRank(zrt::Communicator *communicator, bool mine) {
  if (!communicator)
    return mine;
  PerRank<char> all(static_cast<size_t>(communicator->ranks()));
  return communicator->exchange(&mine, 1, all.data()) && llvm::is_contained(all, 1);
}

/// Facts as one text: a NUL behind each half.
static std::string pack(llvm::ArrayRef<Fact> facts) {
  std::string packed;
  for (const Fact &fact : facts)
    (((packed += fact.verb) += '\0') += fact.object) += '\0';
  return packed;
}

/// How the facts of this rank are not those of rank 0.
static std::string firstDifference(llvm::ArrayRef<Fact> mine, llvm::StringRef packed,
                                   int64_t rank) {
  std::string self = "rank " + std::to_string(rank);
  for (const Fact &fact : mine) {
    auto [verb, behind] = packed.split('\0');
    auto [object, rest] = behind.split('\0');
    packed = rest;
    if (verb != fact.verb)
      break; // not even the same facts: another version of this program
    if (object != fact.object)
      return "error: " + self + " " + fact.verb + " " + fact.object + ", rank 0 " + object.str();
    if (&fact == &mine.back() && packed.empty())
      return "";
  }
  return "error: expects all ranks to be started with one build of Zero, got another on " + self;
}

llvm::Error expectAlike(zrt::Communicator *communicator, llvm::ArrayRef<Fact> facts) {
  if (!communicator || facts.empty())
    return llvm::Error::success();
  std::string packed = pack(facts);
  int64_t bytes = static_cast<int64_t>(packed.size());
  if (!communicator->broadcast(&bytes, sizeof bytes, 0))
    return endedError(*communicator);
  packed.resize(static_cast<size_t>(bytes));
  if (!communicator->broadcast(packed.data(), bytes, 0))
    return endedError(*communicator);
  auto lowest = lowestText(*communicator, firstDifference(facts, packed, communicator->rank()));
  if (!lowest)
    return lowest.takeError();
  return lowest->second.empty() ? llvm::Error::success()
                                : llvm::make_error<CommonError>(lowest->second);
}

llvm::Expected<std::string> useCommonInstructionSet(zrt::Communicator *communicator) {
  if (!communicator)
    return "";
  zrt::InstructionSet mine = zrt::instructionSet();
  PerRank<zrt::InstructionSet> all(static_cast<size_t>(communicator->ranks()));
  if (!communicator->exchange(&mine, sizeof mine, all.data()))
    return endedError(*communicator);
  auto least = llvm::min_element(all), most = llvm::max_element(all);
  if (*least == *most)
    return "";
  zrt::limitInstructionSet(*least);
  auto having = [&](const zrt::InstructionSet *rank) {
    return "rank " + std::to_string(rank - all.begin()) + " to have " +
           std::string(zrt::nameOf(*rank));
  };
  return "expects all ranks to have one instruction set, got " + having(least) + " and " +
         having(most) + "; all compute with " + std::string(zrt::nameOf(*least));
}

std::string identify(llvm::StringRef path) {
  constexpr uint64_t kMostBytes = 1 << 20;
  std::string name = llvm::sys::path::filename(path).str();
  uint64_t size = 0;
  if (llvm::sys::fs::file_size(path, size))
    return name;
  auto head = llvm::MemoryBuffer::getFileSlice(path, std::min(size, kMostBytes), 0);
  if (!head)
    return name;
  return name + " (" + std::to_string(size) + " bytes, hash " +
         llvm::utohexstr(llvm::xxh3_64bits((*head)->getBuffer()), true) + ")";
}

} // namespace zero
