//===- CheckpointCases.h - a small state to be stored --------------------===//
//
// Two parameters over two ranks, by hand. `w` has 2×3 trainable elements in chunks
// of 4: rank 0 owns [0,2) and [4,5), rank 1 owns [2,4) and [5,6). `f` has 2 frozen
// elements of bf16, one a rank.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TEST_TRAINING_CHECKPOINTCASES_H
#define ZERO_TEST_TRAINING_CHECKPOINTCASES_H

#include "zero/Training/CheckpointFolder.h"

#include "TestFiles.h"

namespace zero::training {

struct SmallState {
  // Padding between the pieces of a shard must not be stored: 777 marks it.
  float master[2][4] = {{0, 1, 4, 777}, {2, 3, 5, 777}};
  float moment1[2][4] = {{10, 11, 14, 777}, {12, 13, 15, 777}};
  float moment2[2][4] = {{20, 21, 24, 777}, {22, 23, 25, 777}};
  uint16_t frozen[2] = {0x3f80, 0xc000}; // 1 and -2

  std::vector<RankPieces> pieces() const {
    std::vector<RankPieces> all(2);
    for (int64_t rank = 0; rank < 2; ++rank) {
      all[rank].rank = rank;
      auto add = [&](SavedKind kind, const float *shard) {
        all[rank].pieces.push_back({{"w", kind, rank * 2, 2}, DType::F32, shard});
        all[rank].pieces.push_back({{"w", kind, 4 + rank, 1}, DType::F32, shard + 2});
      };
      add(SavedKind::Master, master[rank]);
      add(SavedKind::Moment1, moment1[rank]);
      add(SavedKind::Moment2, moment2[rank]);
      all[rank].pieces.push_back({{"f", SavedKind::Param, rank, 1}, DType::BF16, &frozen[rank]});
    }
    return all;
  }
};

inline CheckpointManifest smallManifest(int64_t step) {
  CheckpointManifest manifest;
  manifest.step = step;
  manifest.stepsTaken = step - 1;
  manifest.globalBatch = 12;
  manifest.seed = 0xffff'ffff'ffff'fffe;
  manifest.lossScale = {0x1p-3, 7, 2};
  manifest.configuration = {{"stage", "3"}, {"ranks", "2"}};
  manifest.data = {"corpus.txt", 1000, 0xabc};
  manifest.parameters = {{"w", {2, 3}, "trainable", "bf16"}, {"f", {2}, "frozen", "bf16"}};
  return manifest;
}

inline std::vector<float> read(const Checkpoint &checkpoint, llvm::StringRef parameter,
                               SavedKind kind, int64_t begin, size_t count) {
  std::vector<float> values(count, -1.0f);
  checkpoint.read(parameter, kind, begin, values);
  return values;
}

/// A folder of checkpoints of that state.
class CheckpointTest : public testing::Test {
protected:
  void save(int64_t step, int64_t keep = 0) {
    expectSuccess(folder().write(smallManifest(step), state.pieces(), 2, keep));
  }
  CheckpointFolder &folder() {
    if (!opened)
      opened = unwrap(CheckpointFolder::open(root()));
    return *opened;
  }
  std::string root() const { return files.path("D"); }
  std::string in(llvm::StringRef name) const { return (root() + "/" + name).str(); }
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(root(), code), end; it != end && !code;
         it.increment(code))
      names.push_back(llvm::sys::path::filename(it->path()).str());
    std::sort(names.begin(), names.end());
    return names;
  }

  TestFolder files;
  SmallState state;
  std::unique_ptr<CheckpointFolder> opened;
};

} // namespace zero::training

#endif // ZERO_TEST_TRAINING_CHECKPOINTCASES_H
