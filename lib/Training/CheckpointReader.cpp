//===- CheckpointReader.cpp - open a checkpoint, or say what is wrong ----===//
//
// Nothing is taken from a checkpoint before all of it was checked: the manifest's
// own checksum, each file's size and head, each tensor's bytes, and that the ranges
// of each state follow each other from the first element to the last.
//
//===----------------------------------------------------------------------===//

#include "CheckpointShard.h"
#include "Checksum.h"
#include "Convert.h"
#include "Files.h"
#include "Parallel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

namespace zero::training {

static llvm::Error damaged(llvm::StringRef path, const llvm::Twine &message) {
  return llvm::make_error<DamagedError>(path.str(), message.str());
}

llvm::StringRef name(SavedKind kind) {
  switch (kind) {
  case SavedKind::Param:
    return "param";
  case SavedKind::Master:
    return "master";
  case SavedKind::Moment1:
    return "moment1";
  case SavedKind::Moment2:
    return "moment2";
  }
  return "";
}

std::string name(const SavedRange &range) {
  return (range.parameter + "#" + name(range.kind) + "[" + llvm::Twine(range.begin) + "," +
          llvm::Twine(range.begin + range.count) + ")")
      .str();
}

std::optional<SavedRange> parseSavedRange(llvm::StringRef text) {
  // Behind the last '#', since a parameter's name may hold one.
  auto [parameter, rest] = text.rsplit('#');
  auto [kindName, bounds] = rest.split('[');
  const SavedKind *kind =
      llvm::find_if(kSavedKinds, [&](SavedKind k) { return name(k) == kindName; });
  int64_t begin = 0, end = 0;
  if (parameter.size() == text.size() || kind == kSavedKinds.end() ||
      bounds.consumeInteger(10, begin) || !bounds.consume_front(",") ||
      bounds.consumeInteger(10, end) || bounds != ")" || begin < 0 || end <= begin)
    return std::nullopt;
  return SavedRange{parameter.str(), *kind, begin, end - begin};
}

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> mapFile(llvm::StringRef path) {
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (buffer)
    return std::move(*buffer);
  if (buffer.getError() == std::errc::no_such_file_or_directory ||
      buffer.getError() == std::errc::not_a_directory)
    return damaged(path, "expects a file of the checkpoint, got none of that name");
  return systemError(path, "cannot read the file", buffer.getError());
}

llvm::Error Checkpoint::openFile(const CheckpointFile &file) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, file.name);
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  llvm::StringRef content = (*buffer)->getBuffer();
  if (static_cast<int64_t>(content.size()) != file.bytes)
    return damaged(
        path, "expects the " + llvm::Twine(file.bytes) + " bytes that the manifest gives, got " +
                  llvm::Twine(content.size()) +
                  (static_cast<int64_t>(content.size()) < file.bytes ? " (was it cut off?)" : ""));
  uint64_t headBytes = content.size() < 8 ? 0 : llvm::support::endian::read64le(content.data());
  llvm::StringRef head =
      headBytes <= content.size() - 8 ? content.take_front(8 + headBytes) : content;
  if (checksum(head) != file.headChecksum)
    return damaged(path, "expects a header of checksum " + checksumText(file.headChecksum) +
                             ", got " + checksumText(checksum(head)) + " (was it changed?)");
  llvm::Expected<std::unique_ptr<Safetensors>> opened = Safetensors::open(path);
  if (!opened)
    return opened.takeError();
  files.push_back(std::move(*opened));
  return llvm::Error::success();
}

llvm::Error Checkpoint::checkTensors(size_t file) const {
  const Safetensors &tensors = *files[file];
  for (const TensorInfo &tensor : tensors.tensors()) {
    auto recordedSum = tensors.metadata().find(checksumKey(tensor.name));
    std::string sum = checksumText(checksum(tensors.bytes(tensor)));
    if (recordedSum == tensors.metadata().end() || recordedSum->second != sum)
      return damaged(
          tensors.path(),
          "expects tensor " + quoted(tensor.name) + " to have checksum " +
              (recordedSum == tensors.metadata().end() ? "in the header" : recordedSum->second) +
              ", got " + sum + " (was the file changed?)");
  }
  return llvm::Error::success();
}

/// Every state that is there at all is there from its first element to its last, once.
llvm::Error Checkpoint::index() {
  for (size_t file = 0; file < files.size(); ++file)
    for (const TensorInfo &tensor : files[file]->tensors()) {
      std::optional<SavedRange> range = parseSavedRange(tensor.name);
      if (!range || tensor.elements != range->count || !isFloat(tensor.type))
        return damaged(
            files[file]->path(),
            "expects tensors named parameter#kind[begin,end), with as many elements, got " +
                quoted(tensor.name) + " of shape " + shapeText(tensor.shape));
      states[{range->parameter, range->kind}].push_back(
          {range->begin, range->count, file, &tensor});
    }
  llvm::StringMap<int64_t> elements;
  for (const CheckpointManifest::Parameter &parameter : recorded.parameters) {
    int64_t count = 1;
    for (int64_t extent : parameter.shape)
      if (llvm::MulOverflow(count, extent, count))
        return damaged(folder, "expects parameter " + quoted(parameter.name) +
                                   " to have less than 2^63 elements, got shape " +
                                   shapeText(parameter.shape));
    elements[parameter.name] = count;
    if (count > 0 && !has(parameter.name, SavedKind::Param) &&
        !has(parameter.name, SavedKind::Master))
      return damaged(folder, "expects weights of parameter " + quoted(parameter.name) +
                                 " in one of its files, got none");
  }
  for (auto &[key, ranges] : states) {
    auto known = elements.find(key.first);
    if (known == elements.end())
      return damaged(folder,
                     "expects states of the manifest's parameters, got " + quoted(key.first));
    llvm::sort(ranges, [](const Stored &a, const Stored &b) { return a.begin < b.begin; });
    int64_t at = 0;
    for (const Stored &range : ranges) {
      if (range.begin != at)
        return damaged(folder, "expects each element of " + name(key.second) + " of " +
                                   quoted(key.first) + " once, got a range that begins at " +
                                   llvm::Twine(range.begin) + " where " + llvm::Twine(at) +
                                   " comes next");
      at += range.count;
    }
    if (at != known->second)
      return damaged(folder, "expects all " + llvm::Twine(known->second) + " elements of " +
                                 name(key.second) + " of " + quoted(key.first) + ", got " +
                                 llvm::Twine(at));
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Checkpoint>> Checkpoint::open(llvm::StringRef folder,
                                                             const CheckpointPeers &peers) {
  auto checkpoint = std::make_unique<Checkpoint>();
  checkpoint->folder = folder.str();
  auto openAll = [&]() -> llvm::Error {
    if (!llvm::sys::fs::is_directory(folder))
      return inputError(
          folder, "expects the folder of a checkpoint, got " +
                      llvm::Twine(llvm::sys::fs::exists(folder) ? "a file" : "nothing there"));
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, kManifestName);
    llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> text = mapFile(path);
    if (!text)
      return text.takeError();
    llvm::Expected<CheckpointManifest> manifest = parseManifest((*text)->getBuffer(), path);
    if (!manifest)
      return manifest.takeError();
    checkpoint->recorded = std::move(*manifest);
    for (const CheckpointFile &file : checkpoint->recorded.files)
      if (llvm::Error error = checkpoint->openFile(file))
        return error;
    return checkpoint->index();
  };
  if (llvm::Error error = peers.agree(openAll()))
    return std::move(error);
  // Reading every byte is what takes time: each process sums the files of some ranks.
  std::vector<size_t> share;
  for (size_t file = 0; file < checkpoint->files.size(); ++file)
    if (static_cast<int64_t>(file) % peers.processes == peers.process)
      share.push_back(file);
  if (llvm::Error error = peers.agree(
          inParallel(share.size(), [&](size_t i) { return checkpoint->checkTensors(share[i]); })))
    return std::move(error);
  return std::move(checkpoint);
}

bool Checkpoint::has(llvm::StringRef parameter, SavedKind kind) const {
  return states.count({parameter.str(), kind}) != 0;
}

void Checkpoint::read(llvm::StringRef parameter, SavedKind kind, int64_t begin,
                      llvm::MutableArrayRef<float> into) const {
  const std::vector<Stored> &ranges = states.at({parameter.str(), kind});
  auto range = std::prev(llvm::upper_bound(
      ranges, begin, [](int64_t element, const Stored &stored) { return element < stored.begin; }));
  while (!into.empty()) {
    int64_t skipped = begin - range->begin;
    size_t count = std::min(into.size(), static_cast<size_t>(range->count - skipped));
    const uint8_t *bytes = files[range->file]->bytes(*range->tensor).data();
    (void)convertToF32(range->tensor->type, bytes + skipped * byteSize(range->tensor->type),
                       into.take_front(count));
    into = into.drop_front(count);
    begin += static_cast<int64_t>(count);
    ++range;
  }
}

} // namespace zero::training
