//===- CheckpointShard.cpp - the file of one rank ------------------------===//
//
// The bytes go from where training left them to the file, without a copy. They are
// summed first, since the head of the file, which holds the sums, comes first.
//
//===----------------------------------------------------------------------===//

#include "CheckpointShard.h"

#include "Checksum.h"
#include "Files.h"
#include "SafetensorsLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <unistd.h>

namespace zero::training {
namespace {

llvm::ArrayRef<uint8_t> bytesOf(const SavedPiece &piece) {
  return {static_cast<const uint8_t *>(piece.data),
          static_cast<size_t>(piece.range.count * byteSize(piece.type))};
}

std::vector<SavedPiece> joinNeighbours(llvm::ArrayRef<SavedPiece> pieces) {
  std::vector<SavedPiece> joined;
  for (const SavedPiece &piece : pieces) {
    if (piece.range.count == 0)
      continue;
    SavedPiece *last = joined.empty() ? nullptr : &joined.back();
    if (last && last->range.parameter == piece.range.parameter &&
        last->range.kind == piece.range.kind && last->type == piece.type &&
        last->range.begin + last->range.count == piece.range.begin &&
        bytesOf(*last).end() == bytesOf(piece).begin())
      last->range.count += piece.range.count;
    else
      joined.push_back(piece);
  }
  return joined;
}

} // namespace

std::string shardName(int64_t rank) { return llvm::formatv("rank-{0,0+5}.safetensors", rank); }

std::string checksumKey(llvm::StringRef tensor) { return ("xxh3 " + tensor).str(); }

llvm::Expected<CheckpointFile> writeShard(llvm::StringRef folder, int64_t rank,
                                          llvm::ArrayRef<SavedPiece> pieces) {
  CheckpointFile file;
  file.name = shardName(rank);
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, file.name);

  std::vector<SavedPiece> joined = joinNeighbours(pieces);
  std::vector<TensorSpec> specs;
  std::map<std::string, std::string> metadata = {{"format", "zero-checkpoint"}};
  for (const SavedPiece &piece : joined) {
    specs.push_back({name(piece.range), piece.type, {piece.range.count}});
    metadata[checksumKey(specs.back().name)] = checksumText(checksum(bytesOf(piece)));
  }
  llvm::Expected<SafetensorsLayout> layout = layOut(path, specs, metadata);
  if (!layout)
    return layout.takeError();
  file.bytes = static_cast<int64_t>(layout->head.size()) + layout->dataBytes;
  file.headChecksum = checksum(layout->head);

  OpenFile out(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!out)
    return systemError(path, "cannot create the file", lastError());
  std::error_code code = writeAll(out.get(), llvm::arrayRefFromStringRef(layout->head));
  for (size_t index : layout->order)
    if (!code)
      code = writeAll(out.get(), bytesOf(joined[index]));
  if (!code && ::fsync(out.get()) != 0)
    code = lastError();
  if (std::error_code closing = out.close(); !code)
    code = closing;
  if (code)
    return systemError(path, "cannot write the file (earlier checkpoints stand unchanged)", code);
  return file;
}

} // namespace zero::training
