//===- Checkpoint.h - the state of a run, on disk ------------------------===//
//
// A checkpoint is a folder: one safetensors file a rank, and `checkpoint.json`, the
// manifest. A tensor is a run of elements of one kind of one parameter's state,
// under a name that says which: `h.0.fc.weight#moment1[0,4096)`. So nothing in it
// depends on stage, ranks or buckets, and a run of any other shape reads it.
//
// Sums: the manifest ends in a checksum of itself; it holds each file's size and the
// checksum of its head; the head holds the checksum of each tensor. Every byte is
// thus covered, and a rank tells the others two numbers, whatever it wrote.
//
// docs/checkpoints.md has the format; CheckpointFolder.h writes and keeps them.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_CHECKPOINT_H
#define ZERO_TRAINING_CHECKPOINT_H

#include "zero/Training/CheckpointPeers.h"
#include "zero/Training/LossScale.h"
#include "zero/Training/Safetensors.h"

#include <array>
#include <map>

namespace zero::training {

/// Raised by any change that an older reader would misunderstand; others are refused.
inline constexpr int64_t kCheckpointVersion = 1;
inline constexpr llvm::StringLiteral kManifestName = "checkpoint.json";

/// Kinds of state that outlive a step. Where a parameter has a master copy, `Param` is its rounding
/// and is not stored.
enum class SavedKind : uint8_t { Param, Master, Moment1, Moment2 };
inline constexpr std::array<SavedKind, 4> kSavedKinds = {SavedKind::Param, SavedKind::Master,
                                                         SavedKind::Moment1, SavedKind::Moment2};
/// `param`, `master`, `moment1`, `moment2`.
llvm::StringRef name(SavedKind kind);

/// Elements [begin, begin + count) of one kind of a parameter's state, in row-major order.
struct SavedRange {
  std::string parameter;
  SavedKind kind = SavedKind::Param;
  int64_t begin = 0, count = 0;

  bool operator==(const SavedRange &) const = default;
};

/// `fc.weight#master[0,24)`, and back; none for another form or an empty range.
std::string name(const SavedRange &range);
std::optional<SavedRange> parseSavedRange(llvm::StringRef text);

/// A range in memory, of type F32, BF16 or F16.
struct SavedPiece {
  SavedRange range;
  DType type = DType::F32;
  const void *data = nullptr; // `count` elements; needs no alignment
};

/// A file of a checkpoint, as its manifest knows it.
struct CheckpointFile {
  std::string name; // beside the manifest
  int64_t bytes = 0;
  uint64_t headChecksum = 0; // of the first 8 bytes and the header behind them
};

struct CheckpointManifest {
  int64_t step = 0;        // steps run, skipped ones included
  int64_t stepsTaken = 0;  // those that moved weights: rates and bias corrections count these
  int64_t globalBatch = 0; // samples of a step, over all ranks and micro-steps
  uint64_t seed = 0;
  LossScale::State lossScale;

  /// The position in the data: global samples consumed.
  int64_t samples() const { return step * globalBatch; }

  /// How the run was set up, as text: stage, ranks, optimizer, … For people, and for whoever wants
  /// to compare.
  std::map<std::string, std::string> configuration;

  struct Data {
    std::string file; // without its folder; empty: none
    int64_t bytes = 0;
    uint64_t fingerprint = 0; // of its size and of samples of its bytes
    bool operator==(const Data &) const = default;
  } data;

  struct Parameter {
    std::string name;
    std::vector<int64_t> shape;
    std::string category; // trainable, frozen or unused
    std::string type;     // of its weights in the run: f32, bf16, f16
  };
  std::vector<Parameter> parameters;
  std::vector<CheckpointFile> files;
};

/// The manifest's text; equal manifests give equal bytes.
std::string format(const CheckpointManifest &manifest);
/// Errors (DamagedError): no JSON, another checksum, a key that is missing or has another type.
/// InputError: another format version.
llvm::Expected<CheckpointManifest> parseManifest(llvm::StringRef text, llvm::StringRef path);

/// A file that is not what was written: missing, cut off, changed.
class DamagedError : public llvm::ErrorInfo<DamagedError, InputError> {
public:
  static char ID;
  DamagedError(std::string file, std::string message)
      : ErrorInfo(Location{std::move(file)}, std::move(message)) {}
};

/// Size of a data file with a checksum of it and of three samples of 64 KiB: the same file gives
/// the same, another one hardly ever.
llvm::Expected<CheckpointManifest::Data> identifyData(llvm::StringRef path);

/// A whole checkpoint, open for reading.
class Checkpoint {
public:
  /// Maps all files and checks every checksum; with several processes each checks its share, and
  /// all get the same answer. Errors: DamagedError for a missing, cut or changed file, and for
  /// ranges that don't make up whole parameters; InputError for another format version or a file
  /// that may not be read.
  static llvm::Expected<std::unique_ptr<Checkpoint>> open(llvm::StringRef folder,
                                                          const CheckpointPeers &peers = {});

  llvm::StringRef path() const { return folder; }
  const CheckpointManifest &manifest() const { return recorded; }

  /// Whether a parameter has state of this kind; if so, all of its elements.
  bool has(llvm::StringRef parameter, SavedKind kind) const;
  /// Elements [begin, begin + into.size()) of a state that it has, as f32.
  void read(llvm::StringRef parameter, SavedKind kind, int64_t begin,
            llvm::MutableArrayRef<float> into) const;

private:
  struct Stored {
    int64_t begin = 0, count = 0;
    size_t file = 0;
    const TensorInfo *tensor = nullptr;
  };
  using Key = std::pair<std::string, SavedKind>;

  llvm::Error openFile(const CheckpointFile &file);
  llvm::Error checkTensors(size_t file) const;
  llvm::Error index();

  std::string folder;
  CheckpointManifest recorded;
  std::vector<std::unique_ptr<Safetensors>> files;
  std::map<Key, std::vector<Stored>> states; // by begin
};

} // namespace zero::training

#endif // ZERO_TRAINING_CHECKPOINT_H
