//===- CheckpointTest.cpp - states written, read, and damaged -----------------===//

#include "CheckpointCases.h"

#include <unistd.h>

namespace zero::training {
namespace {

using Values = std::vector<float>;
using Names = std::vector<std::string>;

TEST_F(CheckpointTest, RoundTrips) {
  save(14);
  std::unique_ptr<Checkpoint> back = unwrap(Checkpoint::open(in("step-00000014")));
  EXPECT_EQ(back->manifest().step, 14);
  EXPECT_EQ(back->manifest().parameters[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(read(*back, "w", SavedKind::Master, 0, 6), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(read(*back, "w", SavedKind::Moment1, 0, 6), (Values{10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(read(*back, "w", SavedKind::Moment2, 0, 6), (Values{20, 21, 22, 23, 24, 25}));
  EXPECT_EQ(read(*back, "f", SavedKind::Param, 0, 2), (Values{1, -2}));
  // Across the borders of pieces: [0,2) [2,4) [4,5) [5,6).
  EXPECT_EQ(read(*back, "w", SavedKind::Master, 1, 4), (Values{1, 2, 3, 4}));
  EXPECT_EQ(read(*back, "w", SavedKind::Master, 5, 1), (Values{5}));
  EXPECT_TRUE(read(*back, "w", SavedKind::Master, 6, 0).empty());
  EXPECT_TRUE(back->has("w", SavedKind::Master));
  EXPECT_FALSE(back->has("w", SavedKind::Param));
  EXPECT_FALSE(back->has("f", SavedKind::Moment1));
  EXPECT_FALSE(back->has("x", SavedKind::Param));
}

TEST_F(CheckpointTest, HoldsOneFileARankWithLogicalNames) {
  save(2);
  auto rank1 = unwrap(Safetensors::open(in("step-00000002/rank-00001.safetensors")));
  Names names;
  int64_t bytes = 0;
  for (const TensorInfo &tensor : rank1->tensors()) {
    names.push_back(tensor.name);
    bytes += tensor.byteLength;
  }
  EXPECT_EQ(names, (Names{"f#param[1,2)", "w#master[2,4)", "w#master[5,6)", "w#moment1[2,4)",
                          "w#moment1[5,6)", "w#moment2[2,4)", "w#moment2[5,6)"}));
  // Three kinds of three f32, and one bf16: no padding.
  EXPECT_EQ(bytes, 3 * 3 * 4 + 2);
  Names there = entries();
  EXPECT_EQ(there, (Names{".lock", "step-00000002"}));
}

// At one rank every parameter is one tensor.
TEST_F(CheckpointTest, JoinsNeighbours) {
  float values[6] = {0, 1, 2, 3, 4, 5};
  RankPieces rank;
  for (int64_t begin : {0, 2, 4})
    rank.pieces.push_back({{"w", SavedKind::Param, begin, 2}, DType::F32, values + begin});
  CheckpointManifest manifest = smallManifest(1);
  manifest.parameters.resize(1);
  expectSuccess(folder().write(manifest, rank, 1, 0));
  auto file = unwrap(Safetensors::open(in("step-00000001/rank-00000.safetensors")));
  ASSERT_EQ(file->tensors().size(), 1u);
  EXPECT_EQ(file->tensors()[0].name, "w#param[0,6)");
}

TEST_F(CheckpointTest, EqualStatesGiveEqualBytes) {
  save(1);
  std::string first = readAll(in("step-00000001/rank-00000.safetensors"));
  EXPECT_FALSE(first.empty());
  TestFolder other;
  std::string path = other.path("E");
  expectSuccess(
      unwrap(CheckpointFolder::open(path))->write(smallManifest(1), SmallState().pieces(), 2, 0));
  EXPECT_EQ(readAll(path + "/step-00000001/rank-00000.safetensors"), first);
  EXPECT_EQ(readAll(path + "/step-00000001/checkpoint.json"),
            readAll(in("step-00000001/checkpoint.json")));
}

//===-- Damage ------------------------------------------------------------===//

TEST_F(CheckpointTest, NoFlippedBitIsTaken) {
  save(1);
  for (const char *name : {"rank-00000.safetensors", "rank-00001.safetensors"}) {
    std::string path = in("step-00000001/") + name, whole = readAll(path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (size_t i = 0; i < whole.size(); ++i) {
      file.seekp(static_cast<std::streamoff>(i));
      file.put(static_cast<char>(whole[i] ^ 1 << (i % 8))).flush();
      llvm::Error error = Checkpoint::open(in("step-00000001")).takeError();
      EXPECT_TRUE(error.isA<DamagedError>()) << name << ", byte " << i;
      EXPECT_TRUE(llvm::StringRef(errorOf(std::move(error))).starts_with(path)) << i;
      file.seekp(static_cast<std::streamoff>(i));
      file.put(whole[i]).flush();
    }
  }
  EXPECT_TRUE(bool(unwrap(Checkpoint::open(in("step-00000001")))));
}

TEST_F(CheckpointTest, NamesTheTensorThatChanged) {
  save(1);
  std::string path = in("step-00000001/rank-00000.safetensors"), content = readAll(path);
  // The widest type first, then by name: the file's data begins with w#master[0,2), 0 and 1.
  size_t at = content.find(bytesOf<float>({0, 1}), content.find("w#master") + 8);
  ASSERT_NE(at, std::string::npos);
  content[at] = 1;
  std::ofstream(path, std::ios::binary) << content;
  std::string message = errorOf(Checkpoint::open(in("step-00000001")));
  EXPECT_TRUE(llvm::StringRef(message).starts_with(
      path + ": error: expects tensor 'w#master[0,2)' to have checksum "))
      << message;
  EXPECT_TRUE(llvm::StringRef(message).ends_with("(was the file changed?)")) << message;
}

TEST_F(CheckpointTest, TellsOfMissingAndCutFiles) {
  save(1);
  std::string folderPath = in("step-00000001"), path = folderPath + "/rank-00001.safetensors";
  std::string whole = readAll(path), size = std::to_string(whole.size());
  std::ofstream(path, std::ios::binary) << whole.substr(0, whole.size() - 1);
  EXPECT_EQ(errorOf(Checkpoint::open(folderPath)),
            path + ": error: expects the " + size + " bytes that the manifest gives, got " +
                std::to_string(whole.size() - 1) + " (was it cut off?)");
  std::ofstream(path, std::ios::binary) << "";
  EXPECT_EQ(errorOf(Checkpoint::open(folderPath)),
            path + ": error: expects the " + size +
                " bytes that the manifest gives, got 0 (was it "
                "cut off?)");
  std::ofstream(path, std::ios::binary) << whole << "x";
  EXPECT_EQ(errorOf(Checkpoint::open(folderPath)), path + ": error: expects the " + size +
                                                       " bytes that the manifest gives, got " +
                                                       std::to_string(whole.size() + 1));
  ::unlink(path.c_str());
  EXPECT_EQ(errorOf(Checkpoint::open(folderPath)),
            path + ": error: expects a file of the checkpoint, got none of that name");
  std::string manifest = folderPath + "/checkpoint.json";
  ::unlink(manifest.c_str());
  EXPECT_EQ(errorOf(Checkpoint::open(folderPath)),
            manifest + ": error: expects a file of the checkpoint, got none of that name");
  EXPECT_EQ(errorOf(Checkpoint::open(path)),
            path + ": error: expects the folder of a checkpoint, got nothing there");
}

// Files of one checkpoint that don't belong together, with their sums in order.
TEST_F(CheckpointTest, WantsEachElementOnce) {
  auto failure = [&](auto change) {
    std::vector<RankPieces> pieces = state.pieces();
    CheckpointManifest manifest = smallManifest(1);
    change(pieces, manifest);
    expectSuccess(folder().write(manifest, pieces, static_cast<int64_t>(pieces.size()), 0));
    std::string message = errorOf(Checkpoint::open(in("step-00000001")));
    EXPECT_FALSE(llvm::sys::fs::remove_directories(in("step-00000001")));
    llvm::StringRef rest = message;
    EXPECT_TRUE(rest.consume_front(in("step-00000001") + ": error: ")) << message;
    return rest.str();
  };
  using Pieces = std::vector<RankPieces>;
  EXPECT_EQ(
      failure([](Pieces &pieces, auto &) { pieces[0].pieces[1].range.begin = 3; }),
      "expects each element of master of 'w' once, got a range that begins at 3 where 4 comes "
      "next");
  EXPECT_EQ(
      failure([](Pieces &pieces, auto &) { pieces[1].pieces.erase(pieces[1].pieces.begin() + 1); }),
      "expects all 6 elements of master of 'w', got 5");
  EXPECT_EQ(failure([](Pieces &pieces, auto &) {
              for (RankPieces &rank : pieces)
                rank.pieces.erase(rank.pieces.begin(), rank.pieces.begin() + 2);
            }),
            "expects weights of parameter 'w' in one of its files, got none");
  EXPECT_EQ(failure([](auto &, CheckpointManifest &manifest) { manifest.parameters.pop_back(); }),
            "expects states of the manifest's parameters, got 'f'");
}

} // namespace
} // namespace zero::training
