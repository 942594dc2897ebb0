//===- Safetensors.h - read and write tensors by name --------------------===//
//
// A safetensors file is 8 bytes of header length, a JSON header that gives each
// tensor's type, shape and byte range, and the bytes (little-endian, row-major).
// Files are memory-mapped, so they may be larger than memory; everything in the
// header is checked on opening, and afterwards no range can leave the file.
//
// Writing goes to a temporary file beside the target, which takes its place only
// when all bytes are on disk: after a crash or on a full disk the old file stands.
//
// Source: https://github.com/huggingface/safetensors (format description).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_SAFETENSORS_H
#define ZERO_TRAINING_SAFETENSORS_H

#include "zero/Training/Errors.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace zero::training {

enum class DType : uint8_t {
  Bool,
  U8,
  I8,
  F8E4M3,
  F8E5M2,
  U16,
  I16,
  F16,
  BF16,
  U32,
  I32,
  F32,
  U64,
  I64,
  F64
};

/// Bytes of one element.
int64_t byteSize(DType type);
/// The spelling in a file's header: `F32`, `BF16`, …
llvm::StringRef name(DType type);
std::optional<DType> parseDType(llvm::StringRef text);
bool isFloat(DType type);

/// What the header says of a tensor.
struct TensorInfo {
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> shape; // empty: a scalar
  int64_t elements = 0;       // product of the shape
  int64_t byteLength = 0;     // elements × byteSize(type)
  int64_t fileOffset = 0;     // of the first byte, from the start of its file
  uint32_t file = 0;          // index into files(), for sharded checkpoints
};

/// One file, or the shards of a Hugging Face checkpoint, seen as one set of tensors.
class Safetensors {
public:
  /// Maps and checks one file. Errors (InputError naming file and tensor): unreadable; shorter than
  /// its header says; a header length beyond the file; malformed JSON; a name or key given twice;
  /// unknown types; negative or overflowing shapes; byte ranges that overlap, leave gaps, leave the
  /// file or don't equal elements × size.
  static llvm::Expected<std::unique_ptr<Safetensors>> open(llvm::StringRef path);

  /// In the order of names.
  llvm::ArrayRef<TensorInfo> tensors() const { return infos; }
  /// Null where there is none of that name.
  const TensorInfo *find(llvm::StringRef tensorName) const;
  /// The mapped bytes; not aligned to the element size in general.
  llvm::ArrayRef<uint8_t> bytes(const TensorInfo &tensor) const;
  /// All elements as f32, rounded to nearest even from F64 and wide integers, exact from F16, BF16
  /// and narrow ones. `into` holds exactly `tensor.elements`. F8 is refused.
  llvm::Error readF32(const TensorInfo &tensor, llvm::MutableArrayRef<float> into) const;

  /// As the user gave it: a file or a folder.
  llvm::StringRef path() const { return userPath; }
  llvm::ArrayRef<std::string> files() const { return paths; }
  /// `__metadata__` of the (first) file.
  const std::map<std::string, std::string> &metadata() const { return meta; }

private:
  friend llvm::Expected<std::unique_ptr<Safetensors>> openWeights(llvm::StringRef path);
  llvm::Error addFile(llvm::StringRef path);

  std::string userPath;
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> buffers;
  std::vector<TensorInfo> infos;
  std::map<std::string, std::string> meta;
};

/// A `.safetensors` file, or a Hugging Face folder: `model.safetensors.index.json` with its shards
/// (also when that file itself is named), or `model.safetensors`. Errors of an index: a shard that
/// is not there, a tensor that its shard lacks, that lies in another one, or in two.
llvm::Expected<std::unique_ptr<Safetensors>> openWeights(llvm::StringRef path);

/// A tensor to be written.
struct TensorSpec {
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> shape;
};

/// Writes all bytes of `specs[index]` into `bytes` (aligned to 16). Called once a tensor, in file
/// order; one tensor at a time is held in memory.
using TensorFill =
    llvm::function_ref<llvm::Error(size_t index, llvm::MutableArrayRef<uint8_t> bytes)>;

/// Writes `path` by way of a temporary file in the same folder (F2). The bytes are a function of
/// the arguments: wider types first, so that every tensor is aligned, then by name; the header is
/// padded to 8 bytes. The default metadata is what Hugging Face transformers wants to see.
llvm::Error
writeSafetensors(llvm::StringRef path, llvm::ArrayRef<TensorSpec> specs, TensorFill fill,
                 const std::map<std::string, std::string> &metadata = {{"format", "pt"}});

/// Says before training what would stop `writeSafetensors`: no such folder, no permission, a target
/// that is no regular file or is write-protected, less than `bytes` of free disk. Leaves no file.
llvm::Error checkWritable(llvm::StringRef path, int64_t bytes = 0);

} // namespace zero::training

#endif // ZERO_TRAINING_SAFETENSORS_H
