//===- SafetensorsReader.cpp - map and check tensor files ----------------===//
//
// The header is the only part of a file that is trusted to say where things are,
// so nothing of it is used before it was checked, in 64 bits with overflow
// regarded. After `addFile` every tensor is a range inside its mapping.
//
//===----------------------------------------------------------------------===//

#include "Convert.h"
#include "Json.h"
#include "SafetensorsLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

namespace zero::training {

namespace {

constexpr struct {
  DType type;
  llvm::StringLiteral name;
  int64_t bytes;
} kTypes[] = {
    {DType::Bool, "BOOL", 1},      {DType::U8, "U8", 1},          {DType::I8, "I8", 1},
    {DType::F8E4M3, "F8_E4M3", 1}, {DType::F8E5M2, "F8_E5M2", 1}, {DType::U16, "U16", 2},
    {DType::I16, "I16", 2},        {DType::F16, "F16", 2},        {DType::BF16, "BF16", 2},
    {DType::U32, "U32", 4},        {DType::I32, "I32", 4},        {DType::F32, "F32", 4},
    {DType::U64, "U64", 8},        {DType::I64, "I64", 8},        {DType::F64, "F64", 8}};

/// A tensor's entry in the header. Offsets are still relative to the data, whose size is
/// `dataBytes`.
llvm::Error readEntry(llvm::StringRef path, llvm::StringRef tensorName,
                      const llvm::json::Value &value, int64_t dataBytes, TensorInfo &info) {
  std::string label = "tensor " + quoted(tensorName);
  auto fail = [&](const llvm::Twine &message) { return inputError(path, message); };
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return fail("expects " + label + " to be a JSON object in the header");
  std::optional<llvm::StringRef> dtype = object->getString("dtype");
  if (!dtype)
    return fail("expects " + label + " to have a 'dtype'");
  std::optional<DType> type = parseDType(*dtype);
  if (!type)
    return fail("expects " + label + " to have a known element type, got " + quoted(*dtype));
  const llvm::json::Array *shape = object->getArray("shape");
  if (!shape)
    return fail("expects " + label + " to have a 'shape'");

  info.name = tensorName.str();
  info.type = *type;
  info.elements = 1;
  bool hasZero = false, overflow = false;
  for (const llvm::json::Value &extent : *shape) {
    std::optional<int64_t> n = extent.getAsInteger();
    if (!n || *n < 0)
      return fail("expects " + label + " to have a shape of non-negative integers");
    info.shape.push_back(*n);
    hasZero |= *n == 0;
    overflow |= *n != 0 && llvm::MulOverflow(info.elements, *n, info.elements);
  }
  if (hasZero)
    info.elements = 0;
  else if (overflow || llvm::MulOverflow(info.elements, byteSize(*type), info.byteLength))
    return fail("expects " + label + " to have less than 2^63 bytes, got shape " +
                shapeText(info.shape));

  const llvm::json::Array *offsets = object->getArray("data_offsets");
  std::optional<int64_t> begin, end;
  if (offsets && offsets->size() == 2) {
    begin = (*offsets)[0].getAsInteger();
    end = (*offsets)[1].getAsInteger();
  }
  if (!begin || !end || *begin < 0 || *end < *begin)
    return fail("expects " + label + " to have 'data_offsets' [begin, end] with 0 <= begin <= end");
  if (*end > dataBytes)
    return fail("expects " + label + " to end inside the file, got bytes " + llvm::Twine(*begin) +
                " to " + llvm::Twine(*end) + " where the file holds " + llvm::Twine(dataBytes) +
                " (was it cut off?)");
  if (*end - *begin != info.byteLength)
    return fail("expects " + label + " of shape " + shapeText(info.shape) + " and type " + *dtype +
                " to take " + llvm::Twine(info.byteLength) + " bytes, got " +
                llvm::Twine(*end - *begin));
  info.fileOffset = *begin;
  return llvm::Error::success();
}

/// Text to text; kept where `into` is given.
llvm::Error readMetadata(llvm::StringRef path, const llvm::json::Value &value,
                         std::map<std::string, std::string> *into) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return inputError(path, "expects '__metadata__' to be a JSON object");
  for (const auto &[key, entry] : *object) {
    std::optional<llvm::StringRef> text = entry.getAsString();
    if (!text)
      return inputError(path, "expects '__metadata__' to map text to text");
    if (into)
      (*into)[llvm::StringRef(key).str()] = text->str();
  }
  return llvm::Error::success();
}

/// The ranges must tile the data: neither overlaps nor bytes that no tensor owns.
llvm::Error checkTiling(llvm::StringRef path, llvm::ArrayRef<TensorInfo> infos, int64_t dataBytes) {
  std::vector<const TensorInfo *> order;
  for (const TensorInfo &info : infos)
    order.push_back(&info);
  llvm::sort(order, [](const TensorInfo *a, const TensorInfo *b) {
    return std::tie(a->fileOffset, a->byteLength, a->name) <
           std::tie(b->fileOffset, b->byteLength, b->name);
  });
  int64_t at = 0;
  const TensorInfo *previous = nullptr;
  for (const TensorInfo *info : order) {
    if (info->fileOffset < at)
      return inputError(path, "expects tensors not to overlap, got " + quoted(info->name) +
                                  " at byte " + llvm::Twine(info->fileOffset) + " and " +
                                  quoted(previous->name) + " up to " + llvm::Twine(at));
    if (info->fileOffset > at)
      return inputError(path, "expects tensor " + quoted(info->name) + " to begin at byte " +
                                  llvm::Twine(at) + " of the data, got " +
                                  llvm::Twine(info->fileOffset));
    at += info->byteLength;
    previous = info;
  }
  if (at != dataBytes)
    return inputError(path, "expects " + llvm::Twine(at) + " bytes of data, got " +
                                llvm::Twine(dataBytes));
  return llvm::Error::success();
}

} // namespace

int64_t byteSize(DType type) { return kTypes[static_cast<size_t>(type)].bytes; }

llvm::StringRef name(DType type) { return kTypes[static_cast<size_t>(type)].name; }

std::optional<DType> parseDType(llvm::StringRef text) {
  for (const auto &entry : kTypes)
    if (entry.name == text)
      return entry.type;
  return std::nullopt;
}

bool isFloat(DType type) {
  return type == DType::F8E4M3 || type == DType::F8E5M2 || type == DType::F16 ||
         type == DType::BF16 || type == DType::F32 || type == DType::F64;
}

llvm::Error Safetensors::addFile(llvm::StringRef path) {
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return inputError(path, "cannot read the file: " + buffer.getError().message());
  llvm::StringRef content = (*buffer)->getBuffer();
  uint64_t fileBytes = content.size();
  if (fileBytes < 8)
    return inputError(path, "expects a safetensors file, got " + llvm::Twine(fileBytes) +
                                " bytes, which is shorter than its first field");
  uint64_t headerBytes = llvm::support::endian::read64le(content.data());
  if (headerBytes > fileBytes - 8 || headerBytes > kMaxHeaderBytes)
    return inputError(path, "expects a safetensors file, got a header of " +
                                llvm::Twine(headerBytes) + " bytes in a file of " +
                                llvm::Twine(fileBytes) + " (was it cut off?)");
  llvm::StringRef header = content.substr(8, headerBytes);
  int64_t dataBytes = static_cast<int64_t>(fileBytes - 8 - headerBytes);

  llvm::Expected<JsonDocument> document = parseJson(header, path);
  if (!document) {
    // Lines and columns of a binary file help nobody.
    std::string message;
    llvm::handleAllErrors(document.takeError(), [&](const InputError &error) {
      message =
          error.detail() + " (header, column " + std::to_string(error.location().column) + ")";
    });
    return inputError(path, message);
  }
  const llvm::json::Object *root = document->root.getAsObject();
  if (!root)
    return inputError(path, "expects the header to be a JSON object");

  // In the order of names, so that of several faults the same one is always told.
  std::map<llvm::StringRef, const llvm::json::Value *> entries;
  for (const auto &[key, value] : *root)
    entries.emplace(key, &value);
  size_t first = infos.size();
  for (const auto &[tensorName, value] : entries) {
    if (tensorName == "__metadata__") {
      if (llvm::Error error = readMetadata(path, *value, buffers.empty() ? &meta : nullptr))
        return error;
      continue;
    }
    TensorInfo info;
    if (llvm::Error error = readEntry(path, tensorName, *value, dataBytes, info))
      return error;
    infos.push_back(std::move(info));
  }
  if (llvm::Error error = checkTiling(path, llvm::ArrayRef(infos).drop_front(first), dataBytes))
    return error;
  for (TensorInfo &info : llvm::MutableArrayRef(infos).drop_front(first)) {
    info.fileOffset += static_cast<int64_t>(8 + headerBytes);
    info.file = static_cast<uint32_t>(buffers.size());
  }
  buffers.push_back(std::move(*buffer));
  paths.push_back(path.str());
  return llvm::Error::success();
}

static void sortByName(std::vector<TensorInfo> &infos) {
  llvm::sort(infos, [](const TensorInfo &a, const TensorInfo &b) { return a.name < b.name; });
}

llvm::Expected<std::unique_ptr<Safetensors>> Safetensors::open(llvm::StringRef path) {
  auto file = std::make_unique<Safetensors>();
  file->userPath = path.str();
  if (llvm::Error error = file->addFile(path))
    return std::move(error);
  sortByName(file->infos);
  return std::move(file);
}

/// `weight_map` of an index: tensor name to shard.
static llvm::Expected<std::map<std::string, std::string>> readIndex(llvm::StringRef path) {
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return inputError(path, "cannot read the file: " + buffer.getError().message());
  llvm::Expected<JsonDocument> document = parseJson((*buffer)->getBuffer(), path);
  if (!document)
    return document.takeError();
  const llvm::json::Object *root = document->root.getAsObject();
  const llvm::json::Object *weights = root ? root->getObject("weight_map") : nullptr;
  if (!weights)
    return inputError(path, "expects an object 'weight_map' from tensor names to files");
  std::map<std::string, std::string> result;
  for (const auto &[key, value] : *weights) {
    std::optional<llvm::StringRef> shard = value.getAsString();
    // A shard lies beside its index; a path could lead anywhere.
    if (!shard || shard->empty() || llvm::sys::path::filename(*shard) != *shard || *shard == "..")
      return inputError(path, "expects tensor " + quoted(key) + " to name a file beside the index");
    result[llvm::StringRef(key).str()] = shard->str();
  }
  return result;
}

llvm::Expected<std::unique_ptr<Safetensors>> openWeights(llvm::StringRef path) {
  llvm::SmallString<128> index(path);
  if (llvm::sys::fs::is_directory(path)) {
    llvm::SmallString<128> single(path);
    llvm::sys::path::append(single, "model.safetensors");
    llvm::sys::path::append(index, "model.safetensors.index.json");
    if (!llvm::sys::fs::exists(index)) {
      if (!llvm::sys::fs::exists(single))
        return inputError(
            path, "expects the folder to hold model.safetensors or model.safetensors.index.json");
      return Safetensors::open(single);
    }
  } else if (!path.ends_with(".index.json")) {
    return Safetensors::open(path);
  }

  llvm::Expected<std::map<std::string, std::string>> shardOf = readIndex(index);
  if (!shardOf)
    return shardOf.takeError();
  auto set = std::make_unique<Safetensors>();
  set->userPath = path.str();
  std::map<std::string, uint32_t> shards;
  for (const auto &[tensorName, shard] : *shardOf) {
    auto [entry, isNew] = shards.try_emplace(shard, static_cast<uint32_t>(set->paths.size()));
    if (!isNew)
      continue;
    llvm::SmallString<128> shardPath = llvm::sys::path::parent_path(index);
    llvm::sys::path::append(shardPath, shard);
    if (!llvm::sys::fs::exists(shardPath))
      return inputError(index, "expects file " + quoted(shard) + " beside it, which holds tensor " +
                                   quoted(tensorName) + ", got none of that name");
    if (llvm::Error error = set->addFile(shardPath))
      return std::move(error);
  }
  std::map<llvm::StringRef, const TensorInfo *> found;
  for (const TensorInfo &info : set->infos)
    if (auto [other, isNew] = found.try_emplace(info.name, &info);
        !isNew && shardOf->count(info.name))
      return inputError(index, "expects tensor " + quoted(info.name) + " in one file, got it in " +
                                   llvm::sys::path::filename(set->paths[other->second->file]) +
                                   " and " + llvm::sys::path::filename(set->paths[info.file]));
  for (const auto &[tensorName, shard] : *shardOf) {
    auto info = found.find(tensorName);
    if (info == found.end())
      return inputError(index, "expects tensor " + quoted(tensorName) + " in " + shard +
                                   ", which lacks it");
    if (info->second->file != shards[shard])
      return inputError(index, "expects tensor " + quoted(tensorName) + " in " + shard +
                                   ", got it in " +
                                   llvm::sys::path::filename(set->paths[info->second->file]));
  }
  // What the index doesn't know is not of the model, as for Hugging Face.
  llvm::erase_if(set->infos, [&](const TensorInfo &info) { return !shardOf->count(info.name); });
  sortByName(set->infos);
  return std::move(set);
}

const TensorInfo *Safetensors::find(llvm::StringRef tensorName) const {
  auto it = llvm::lower_bound(infos, tensorName, [](const TensorInfo &info, llvm::StringRef key) {
    return info.name < key;
  });
  return it != infos.end() && it->name == tensorName ? &*it : nullptr;
}

llvm::ArrayRef<uint8_t> Safetensors::bytes(const TensorInfo &tensor) const {
  const char *base = buffers[tensor.file]->getBufferStart();
  return {reinterpret_cast<const uint8_t *>(base) + tensor.fileOffset,
          static_cast<size_t>(tensor.byteLength)};
}

llvm::Error Safetensors::readF32(const TensorInfo &tensor,
                                 llvm::MutableArrayRef<float> into) const {
  if (static_cast<int64_t>(into.size()) != tensor.elements)
    return inputError(paths[tensor.file], "expects room for the " + llvm::Twine(tensor.elements) +
                                              " elements of tensor " + quoted(tensor.name) +
                                              ", got " + llvm::Twine(into.size()));
  if (!convertToF32(tensor.type, bytes(tensor).data(), into))
    return inputError(paths[tensor.file], "cannot convert tensor " + quoted(tensor.name) +
                                              " of type " + name(tensor.type) + " to F32");
  return llvm::Error::success();
}

} // namespace zero::training
