//===- CheckpointManifest.cpp - what a checkpoint says of itself ---------===//
//
// One line a member, so that people can read and compare manifests. The last line is
// the checksum of all bytes before it.
//
//===----------------------------------------------------------------------===//

#include "Checksum.h"
#include "Files.h"
#include "Json.h"
#include "zero/Training/Checkpoint.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace zero::training {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

char DamagedError::ID = 0;

namespace {

constexpr llvm::StringLiteral kFormat = "zero-checkpoint";
constexpr llvm::StringLiteral kChecksumKey = "\n\"checksum\": ";

template <typename T> Array arrayOf(llvm::ArrayRef<T> items, auto &&convert) {
  Array array;
  for (const T &item : items)
    array.push_back(convert(item));
  return array;
}

Value valueOf(const CheckpointManifest::Parameter &parameter) {
  return Object{{"name", parameter.name},
                {"shape", Array(parameter.shape)},
                {"category", parameter.category},
                {"type", parameter.type}};
}

Value valueOf(const CheckpointFile &file) {
  return Object{{"name", file.name},
                {"bytes", file.bytes},
                {"head_checksum", checksumText(file.headChecksum)}};
}

/// An object's members with their types. The first one that is not as expected stays in `fault`.
class Members {
public:
  Members(const Object *object, std::string where, std::string &fault)
      : object(object), where(std::move(where)), fault(fault) {
    if (!object)
      blame("", "an object");
  }

  void read(llvm::StringRef key, int64_t &into) {
    take(key, "an integer of 0 or more", into, [](const Value &value) {
      std::optional<int64_t> integer = value.getAsInteger();
      return integer && *integer >= 0 ? integer : std::nullopt;
    });
  }
  void read(llvm::StringRef key, uint64_t &into) {
    take(key, "an integer of 0 or more", into,
         [](const Value &value) { return value.getAsUINT64(); });
  }
  void read(llvm::StringRef key, double &into) {
    take(key, "a number", into, [](const Value &value) { return value.getAsNumber(); });
  }
  void read(llvm::StringRef key, std::string &into) {
    take(key, "text", into, [](const Value &value) { return value.getAsString(); });
  }
  void readChecksum(llvm::StringRef key, uint64_t &into) {
    take(key, "16 hexadecimal digits", into,
         [](const Value &value) { return parseChecksum(value.getAsString().value_or("")); });
  }
  void read(llvm::StringRef key, std::vector<int64_t> &into) {
    for (const Value &value : array(key)) {
      std::optional<int64_t> extent = value.getAsInteger();
      if (!extent || *extent < 0)
        return blame(key, "integers of 0 or more");
      into.push_back(*extent);
    }
  }
  void read(llvm::StringRef key, std::map<std::string, std::string> &into) {
    const Object *texts = object ? object->getObject(key) : nullptr;
    if (!texts)
      return blame(key, "an object");
    for (const auto &[name, value] : *texts) {
      std::optional<llvm::StringRef> text = value.getAsString();
      if (!text)
        return blame(key, "an object of texts");
      into[llvm::StringRef(name).str()] = text->str();
    }
  }

  Members inside(llvm::StringRef key) {
    return Members(object ? object->getObject(key) : nullptr, spelled(key), fault);
  }
  /// Calls fn(Members) for each object of an array.
  void forEach(llvm::StringRef key, auto &&fn) {
    for (const auto &[i, value] : llvm::enumerate(array(key)))
      fn(Members(value.getAsObject(), spelled(key) + "[" + std::to_string(i) + "]", fault));
  }

private:
  std::string spelled(llvm::StringRef key) const {
    return where + (where.empty() || key.empty() ? "" : ".") + key.str();
  }
  void blame(llvm::StringRef key, llvm::StringRef expected) {
    if (fault.empty())
      fault = "expects " + quoted(spelled(key)) + " to be " + expected.str();
  }
  template <typename T>
  void take(llvm::StringRef key, llvm::StringRef expected, T &into, auto &&convert) {
    const Value *value = object ? object->get(key) : nullptr;
    if (auto converted = value ? convert(*value) : decltype(convert(*value))())
      into = T(*converted);
    else
      blame(key, expected);
  }
  const Array &array(llvm::StringRef key) {
    static const Array none;
    if (const Array *found = object ? object->getArray(key) : nullptr)
      return *found;
    blame(key, "an array");
    return none;
  }

  const Object *object;
  std::string where;
  std::string &fault;
};

} // namespace

std::string format(const CheckpointManifest &manifest) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto member = [&](llvm::StringRef key, Value value) {
    os << '"' << key << "\": " << value << ",\n";
  };
  auto lines = [&](llvm::StringRef key, Array values) {
    os << '"' << key << "\": [\n";
    for (auto [i, value] : llvm::enumerate(values))
      os << "  " << value << (i + 1 < values.size() ? ",\n" : "\n");
    os << "],\n";
  };
  Object configuration;
  for (const auto &[key, value] : manifest.configuration)
    configuration[key] = value;
  os << "{\n";
  member("format", kFormat);
  member("version", kCheckpointVersion);
  member("step", manifest.step);
  member("steps_taken", manifest.stepsTaken);
  member("samples", manifest.samples());
  member("global_batch", manifest.globalBatch);
  member("seed", manifest.seed);
  member("loss_scale", Object{{"scale", manifest.lossScale.scale},
                              {"good_steps", manifest.lossScale.goodSteps},
                              {"hysteresis", manifest.lossScale.hysteresis}});
  member("configuration", std::move(configuration));
  member("data", Object{{"file", manifest.data.file},
                        {"bytes", manifest.data.bytes},
                        {"fingerprint", checksumText(manifest.data.fingerprint)}});
  lines("parameters", arrayOf(llvm::ArrayRef(manifest.parameters),
                              [](const auto &parameter) { return valueOf(parameter); }));
  lines("files",
        arrayOf(llvm::ArrayRef(manifest.files), [](const auto &file) { return valueOf(file); }));
  text.pop_back(); // the line's end belongs to the checksum's key
  std::string sum = checksumText(checksum(text));
  text += kChecksumKey.str() + "\"" + sum + "\"\n}\n";
  return text;
}

llvm::Expected<CheckpointManifest> parseManifest(llvm::StringRef text, llvm::StringRef path) {
  auto damaged = [&](const llvm::Twine &message) {
    return llvm::make_error<DamagedError>(path.str(), message.str());
  };
  llvm::Expected<JsonDocument> document = parseJson(text, path);
  if (!document) {
    std::string message = "expects a manifest";
    llvm::handleAllErrors(document.takeError(), [&](const InputError &error) {
      message += ", got what is none (line " + std::to_string(error.location().line) +
                 "): " + error.detail();
    });
    return damaged(message);
  }
  const Object *root = document->root.getAsObject();
  if (!root || root->getString("format") != kFormat)
    return damaged("expects a manifest with \"format\": \"" + kFormat + "\"");
  // Before everything that another version may do in another way.
  std::optional<int64_t> version = root->getInteger("version");
  if (version && *version != kCheckpointVersion)
    return inputError(path, "expects a checkpoint of format version " +
                                llvm::Twine(kCheckpointVersion) + ", got version " +
                                llvm::Twine(*version));
  uint64_t sum = checksum(text.substr(0, text.rfind(kChecksumKey)));
  std::string fault;
  uint64_t recorded = 0;
  CheckpointManifest manifest;
  Members members(root, "", fault);
  members.readChecksum("checksum", recorded);
  if (fault.empty() && recorded != sum)
    return damaged("expects the manifest to have the checksum " + checksumText(recorded) +
                   " that it ends in, got " + checksumText(sum) + " (was it changed?)");
  int64_t samples = 0, expected = 0;
  members.read("step", manifest.step);
  members.read("steps_taken", manifest.stepsTaken);
  members.read("samples", samples);
  members.read("global_batch", manifest.globalBatch);
  members.read("seed", manifest.seed);
  Members scale = members.inside("loss_scale");
  scale.read("scale", manifest.lossScale.scale);
  scale.read("good_steps", manifest.lossScale.goodSteps);
  scale.read("hysteresis", manifest.lossScale.hysteresis);
  members.read("configuration", manifest.configuration);
  Members data = members.inside("data");
  data.read("file", manifest.data.file);
  data.read("bytes", manifest.data.bytes);
  data.readChecksum("fingerprint", manifest.data.fingerprint);
  members.forEach("parameters", [&](Members parameter) {
    CheckpointManifest::Parameter &read = manifest.parameters.emplace_back();
    parameter.read("name", read.name);
    parameter.read("shape", read.shape);
    parameter.read("category", read.category);
    parameter.read("type", read.type);
  });
  members.forEach("files", [&](Members file) {
    CheckpointFile &read = manifest.files.emplace_back();
    file.read("name", read.name);
    file.read("bytes", read.bytes);
    file.readChecksum("head_checksum", read.headChecksum);
  });
  if (!fault.empty())
    return damaged(fault);
  if (manifest.stepsTaken > manifest.step ||
      llvm::MulOverflow(manifest.step, manifest.globalBatch, expected) || expected != samples)
    return damaged("expects 'steps_taken' <= 'step' and 'samples' = 'step' * 'global_batch', got " +
                   llvm::Twine(manifest.stepsTaken) + ", " + llvm::Twine(manifest.step) + ", " +
                   llvm::Twine(samples) + " and " + llvm::Twine(manifest.globalBatch));
  for (const CheckpointFile &file : manifest.files)
    if (llvm::sys::path::filename(file.name) != file.name || file.name == "..")
      return damaged("expects files beside the manifest, got " + quoted(file.name));
  return std::move(manifest);
}

llvm::Expected<CheckpointManifest::Data> identifyData(llvm::StringRef path) {
  constexpr int64_t kSampleBytes = 64 * 1024;
  CheckpointManifest::Data data;
  data.file = llvm::sys::path::filename(path).str();
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return systemError(path, "cannot read the file", buffer.getError());
  llvm::StringRef content = (*buffer)->getBuffer();
  data.bytes = static_cast<int64_t>(content.size());
  int64_t last = std::max<int64_t>(data.bytes - kSampleBytes, 0);
  std::string sums = std::to_string(data.bytes);
  for (int64_t from : {int64_t(0), last / 2, last})
    sums += checksumText(checksum(content.substr(static_cast<size_t>(from), kSampleBytes)));
  data.fingerprint = checksum(sums);
  return data;
}

} // namespace zero::training
