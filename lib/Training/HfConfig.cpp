//===- HfConfig.cpp - Hugging Face model configurations --------------------===//

#include "HfReader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

namespace zero::training {

static constexpr llvm::StringRef kModelTypes[] = {"gpt2", "llama", "bert"};

llvm::ArrayRef<llvm::StringRef> supportedModelTypes() { return kModelTypes; }

llvm::Expected<ModelConfig> readModelConfig(llvm::StringRef path, const HfConfigOptions &options) {
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return inputError(path, "cannot read the file: " + buffer.getError().message());
  return parseModelConfig((*buffer)->getBuffer(), path, options);
}

llvm::Expected<ModelConfig> parseModelConfig(llvm::StringRef text, llvm::StringRef file,
                                             const HfConfigOptions &options) {
  llvm::Expected<JsonDocument> document = parseJson(text, file);
  if (!document)
    return document.takeError();
  if (!document->root.getAsObject())
    return inputError(locationAt(text, file, 0), "expects a JSON object");

  HfReader reader(text, file, *document);
  const llvm::json::Value *value = reader.get("model_type");
  std::optional<llvm::StringRef> type = value ? value->getAsString() : std::nullopt;
  ModelConfig config;
  if (type == "gpt2")
    config = readGpt2(reader, options);
  else if (type == "llama")
    config = readLlama(reader, options);
  else if (type == "bert")
    config = readBert(reader, options);
  else
    reader.fail("model_type", "expects a 'model_type' that is supported (" +
                                  llvm::join(supportedModelTypes(), ", ") + "), got " +
                                  (type ? quoted(*type) : HfReader::print(value)));
  if (llvm::Error error = reader.error())
    return std::move(error);
  return config;
}

} // namespace zero::training
