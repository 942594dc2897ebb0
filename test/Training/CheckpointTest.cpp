#include "CheckpointCases.h"

#include <barrier>
#include <csignal>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace zero::training {
namespace {

using Values = std::vector<float>;
using Names = std::vector<std::string>;

TEST(SavedRangeName, RoundTrips) {
  SavedRange range{"h.0.fc#1[x]", SavedKind::Moment2, 4, 20};
  EXPECT_EQ(name(range), "h.0.fc#1[x]#moment2[4,24)");
  EXPECT_EQ(parseSavedRange(name(range)), range);
}

TEST(SavedRangeName, RefusesOtherForms) {
  for (const char *text : {"w", "w#param", "w#grad[0,1)", "w#param[0,1]", "w#param[0,0)",
                           "w#param[3,1)", "w#param[-1,1)", "w#param[0,1) ", "w#param[0,x)",
                           "w#param[0;1)", "w#param[0,99999999999999999999)"})
    EXPECT_EQ(parseSavedRange(text), std::nullopt) << text;
}

//===-- Manifest ----------------------------------------------------------===//

TEST(Manifest, IsReadable) {
  CheckpointManifest manifest = smallManifest(14);
  manifest.files = {{"rank-00000.safetensors", 123, 0x5}};
  std::string text = format(manifest);
  // The last line is a checksum, which no one computes by hand.
  EXPECT_EQ(text.substr(0, text.find("\"checksum\"")), R"({
"format": "zero-checkpoint",
"version": 1,
"step": 14,
"steps_taken": 13,
"samples": 168,
"global_batch": 12,
"seed": 18446744073709551614,
"loss_scale": {"good_steps":7,"hysteresis":2,"scale":0.125},
"configuration": {"ranks":"2","stage":"3"},
"data": {"bytes":1000,"file":"corpus.txt","fingerprint":"0000000000000abc"},
"parameters": [
  {"category":"trainable","name":"w","shape":[2,3],"type":"bf16"},
  {"category":"frozen","name":"f","shape":[2],"type":"bf16"}
],
"files": [
  {"bytes":123,"head_checksum":"0000000000000005","name":"rank-00000.safetensors"}
],
)");
}

TEST(Manifest, RoundTrips) {
  CheckpointManifest manifest = smallManifest(14);
  manifest.files = {{"rank-00000.safetensors", 123, 0x8000'0000'0000'0005}};
  CheckpointManifest back = unwrap(parseManifest(format(manifest), "m"));
  EXPECT_EQ(format(back), format(manifest));
  EXPECT_EQ(back.seed, manifest.seed);
  EXPECT_EQ(back.lossScale, manifest.lossScale);
  EXPECT_EQ(back.data, manifest.data);
  EXPECT_EQ(back.configuration, manifest.configuration);
  EXPECT_EQ(back.files[0].headChecksum, 0x8000'0000'0000'0005);
  EXPECT_EQ(back.samples(), 14 * 12);
}

TEST(Manifest, NoChangedByteIsTaken) {
  std::string text = format(smallManifest(3));
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] ^= 1;
    EXPECT_FALSE(errorOf(parseManifest(changed, "m")).empty()) << "byte " << i;
  }
}

TEST(Manifest, Errors) {
  std::string text = format(smallManifest(3));
  auto failure = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    return errorOf(parseManifest(changed, "m"));
  };
  EXPECT_EQ(failure("\"version\": 1", "\"version\": 2"),
            "m: error: expects a checkpoint of format version 1, got version 2");
  EXPECT_EQ(failure("zero-checkpoint", "one-checkpoint"),
            "m: error: expects a manifest with \"format\": \"zero-checkpoint\"");
  EXPECT_EQ(
      failure("\"step\": 3,", "\"step\": 3"),
      "m: error: expects a manifest, got what is none (line 5): expects JSON: Expected , or } "
      "after object property");
  EXPECT_EQ(failure("\"checksum\": \"", "\"checksum\": \"x"),
            "m: error: expects 'checksum' to be 16 hexadecimal digits");
  std::string changed = failure("\"seed\": 18446744073709551614", "\"seed\": 5");
  EXPECT_TRUE(llvm::StringRef(changed).starts_with("m: error: expects the manifest to have the "
                                                   "checksum "))
      << changed;
}

// What a wrong writer may sum correctly.
TEST(Manifest, ChecksMembersBehindAGoodChecksum) {
  auto failure = [](auto change) {
    CheckpointManifest manifest = smallManifest(3);
    change(manifest);
    return errorOf(parseManifest(format(manifest), "m"));
  };
  EXPECT_EQ(
      failure([](CheckpointManifest &m) { m.stepsTaken = 4; }),
      "m: error: expects 'steps_taken' <= 'step' and 'samples' = 'step' * 'global_batch', got "
      "4, 3, 36 and 12");
  EXPECT_EQ(failure([](CheckpointManifest &m) { m.parameters[1].shape = {-1}; }),
            "m: error: expects 'parameters[1].shape' to be integers of 0 or more");
  EXPECT_EQ(failure([](CheckpointManifest &m) { m.files = {{"../x", 1, 1}}; }),
            "m: error: expects files beside the manifest, got '../x'");
  EXPECT_EQ(failure([](CheckpointManifest &m) { m.files = {{"x", -1, 1}}; }),
            "m: error: expects 'files[0].bytes' to be an integer of 0 or more");
}

TEST(IdentifyData, KnowsAnotherFile) {
  TestFolder folder;
  std::string content(300'000, 'a');
  std::string path = folder.write("d.txt", content);
  CheckpointManifest::Data data = unwrap(identifyData(path));
  EXPECT_EQ(data.file, "d.txt");
  EXPECT_EQ(data.bytes, 300'000);
  EXPECT_EQ(unwrap(identifyData(path)), data);
  for (size_t at : {size_t(0), content.size() / 2, content.size() - 1}) {
    std::string other = content;
    other[at] = 'b';
    folder.write("d.txt", other);
    EXPECT_NE(unwrap(identifyData(path)), data) << at;
  }
  EXPECT_EQ(unwrap(identifyData(folder.write("empty.txt", ""))).bytes, 0);
  EXPECT_EQ(errorOf(identifyData(folder.path("none.txt"))),
            folder.path("none.txt") + ": error: cannot read the file: No such file or directory");
}

//===-- Write and read ----------------------------------------------------===//

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
  Names entries() const {
    Names names;
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

//===-- The folder --------------------------------------------------------===//

TEST_F(CheckpointTest, KeepsTheNewest) {
  for (int64_t step : {2, 4, 6})
    save(step);
  EXPECT_EQ(unwrap(folder().steps()), (std::vector<int64_t>{2, 4, 6}));
  save(8, /*keep=*/2);
  EXPECT_EQ(entries(), (Names{".lock", "step-00000006", "step-00000008"}));
  save(1'000'000'000, /*keep=*/1);
  EXPECT_EQ(entries(), (Names{".lock", "step-1000000000"}));
  EXPECT_EQ(unwrap(Checkpoint::open(folder().pathOf(1'000'000'000)))->manifest().step,
            1'000'000'000);
}

TEST_F(CheckpointTest, CleansUpBehindTheDeadAndNothingElse) {
  save(2);
  opened.reset();
  for (const char *name :
       {".tmp-step-00000004", ".old-step-00000001", ".damaged-step-00000003", "step-4", "notes"})
    ASSERT_FALSE(llvm::sys::fs::create_directory(in(name)));
  std::ofstream(in(".tmp-step-00000004/rank-00000.safetensors")) << "half";
  ASSERT_EQ(::symlink(files.str().c_str(), in(".old-step-00000000").c_str()), 0);
  folder();
  EXPECT_EQ(entries(),
            (Names{".damaged-step-00000003", ".lock", "notes", "step-00000002", "step-4"}));
  EXPECT_EQ(unwrap(folder().steps()), std::vector<int64_t>{2});
  EXPECT_TRUE(llvm::sys::fs::exists(files.str())); // links are not followed
}

TEST_F(CheckpointTest, IsForOneRunAtATime) {
  folder();
  char host[256] = {};
  ASSERT_EQ(::gethostname(host, sizeof(host) - 1), 0);
  EXPECT_EQ(errorOf(CheckpointFolder::open(root())),
            root() +
                ": error: expects a checkpoint folder for one run at a time, got one that "
                "process " +
                std::to_string(::getpid()) + " on " + host + " holds");
  opened.reset();
  folder();
}

TEST_F(CheckpointTest, TellsOfAFolderThatCannotBe) {
  std::string file = files.write("file", "");
  EXPECT_EQ(errorOf(CheckpointFolder::open(file)),
            file + ": error: cannot write to the checkpoint folder: Not a directory");
  EXPECT_EQ(errorOf(CheckpointFolder::open(file + "/D")),
            file + "/D: error: cannot create the checkpoint folder: Not a directory");
}

TEST_F(CheckpointTest, DoesNotReplaceACheckpoint) {
  save(2);
  EXPECT_EQ(errorOf(folder().write(smallManifest(2), state.pieces(), 2, 1)),
            in("step-00000002") + ": error: expects no checkpoint of this step yet, got one");
}

TEST_F(CheckpointTest, NewestSetsDamagedOnesAside) {
  std::vector<std::string> warnings;
  EXPECT_EQ(unwrap(folder().openNewest(warnings)), nullptr);
  for (int64_t step : {2, 4, 6})
    save(step);
  ASSERT_EQ(::truncate(in("step-00000006/rank-00001.safetensors").c_str(), 10), 0);
  ::unlink(in("step-00000004/checkpoint.json").c_str());
  EXPECT_EQ(unwrap(folder().openNewest(warnings))->manifest().step, 2);
  ASSERT_EQ(warnings.size(), 4u);
  EXPECT_TRUE(llvm::StringRef(warnings[0]).ends_with("got 10 (was it cut off?)")) << warnings[0];
  EXPECT_EQ(warnings[1],
            in("step-00000006") + ": warning: damaged, and set aside as .damaged-step-00000006");
  EXPECT_EQ(warnings[3],
            in("step-00000004") + ": warning: damaged, and set aside as .damaged-step-00000004");
  EXPECT_EQ(entries(),
            (Names{".damaged-step-00000004", ".damaged-step-00000006", ".lock", "step-00000002"}));
}

TEST_F(CheckpointTest, NewestBeginsNothingAnewBehindDamage) {
  save(2);
  save(4);
  ::unlink(in("step-00000002/checkpoint.json").c_str());
  ::unlink(in("step-00000004/checkpoint.json").c_str());
  std::vector<std::string> warnings;
  std::string missing =
      "/checkpoint.json: error: expects a file of the checkpoint, got none of that "
      "name\n";
  EXPECT_EQ(errorOf(folder().openNewest(warnings)),
            in("step-00000004") + missing + in("step-00000002") + missing + root() +
                ": error: expects a whole checkpoint to resume from, got damaged ones only");
  EXPECT_EQ(entries(), (Names{".lock", "step-00000002", "step-00000004"}));
}

// A newer program's checkpoint is not damaged: nothing older is taken in its place.
TEST_F(CheckpointTest, NewestRefusesAnotherVersion) {
  save(2);
  save(4);
  std::string path = in("step-00000004/checkpoint.json"), text = readAll(path);
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 2");
  std::ofstream(path, std::ios::binary) << text;
  std::vector<std::string> warnings;
  EXPECT_EQ(errorOf(folder().openNewest(warnings)),
            path + ": error: expects a checkpoint of format version 1, got version 2");
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(entries(), (Names{".lock", "step-00000002", "step-00000004"}));
}

// A file-size limit stands for a full disk.
TEST_F(CheckpointTest, AFullDiskLeavesTheOldOne) {
  save(2);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limited{700, before.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  llvm::Error error = folder().write(smallManifest(4), state.pieces(), 2, 1);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(errorOf(std::move(error)),
            in(".tmp-step-00000004/rank-00000.safetensors") +
                ": error: cannot write the file (earlier checkpoints stand unchanged): File too "
                "large");
  EXPECT_EQ(entries(), (Names{".lock", "step-00000002"}));
  std::vector<std::string> warnings;
  EXPECT_EQ(unwrap(folder().openNewest(warnings))->manifest().step, 2);
  save(4);
}

//===-- Several processes -------------------------------------------------===//

/// Threads that meet as processes do.
class Meeting {
public:
  explicit Meeting(int64_t processes) : processes(processes), gate(processes) {}

  CheckpointPeers peers(int64_t process) {
    return {process, processes, [this, process](const void *mine, int64_t bytes, void *all) {
              gate.arrive_and_wait();
              if (process == 0)
                shared.resize(static_cast<size_t>(bytes * processes));
              gate.arrive_and_wait();
              std::memcpy(shared.data() + process * bytes, mine, static_cast<size_t>(bytes));
              gate.arrive_and_wait();
              std::memcpy(all, shared.data(), shared.size());
              return llvm::Error::success();
            }};
  }
  void run(llvm::function_ref<void(CheckpointPeers)> body) {
    std::vector<std::thread> threads;
    for (int64_t process = 0; process < processes; ++process)
      threads.emplace_back([&, process] { body(peers(process)); });
    for (std::thread &thread : threads)
      thread.join();
  }

private:
  int64_t processes;
  std::barrier<> gate;
  std::vector<char> shared;
};

TEST_F(CheckpointTest, ProcessesWriteTheSameCheckpoint) {
  save(2);
  Meeting meeting(2);
  std::string other = files.path("E");
  meeting.run([&](CheckpointPeers peers) {
    RankPieces mine = state.pieces()[static_cast<size_t>(peers.process)];
    auto folder = unwrap(CheckpointFolder::open(other, peers));
    expectSuccess(folder->write(smallManifest(2), mine, 2, 0));
    std::vector<std::string> warnings;
    EXPECT_EQ(read(*unwrap(folder->openNewest(warnings)), "w", SavedKind::Master, 0, 6),
              (Values{0, 1, 2, 3, 4, 5}));
  });
  for (const char *name : {"checkpoint.json", "rank-00000.safetensors", "rank-00001.safetensors"})
    EXPECT_EQ(readAll(other + "/step-00000002/" + name), readAll(in("step-00000002/") + name));
}

TEST_F(CheckpointTest, ProcessesFailTogether) {
  Meeting meeting(2);
  std::vector<std::string> errors(2), damage(2), locked(2);
  folder();
  meeting.run([&](CheckpointPeers peers) {
    // Only the first process asks for the lock.
    locked[peers.process] = errorOf(CheckpointFolder::open(root(), peers));
    auto folder = unwrap(CheckpointFolder::open(files.path("E"), peers));
    RankPieces mine = state.pieces()[static_cast<size_t>(peers.process)];
    if (peers.process == 1)
      mine.pieces.push_back(mine.pieces[0]); // a tensor of the same name
    errors[peers.process] = errorOf(folder->write(smallManifest(2), mine, 2, 0));
    mine = state.pieces()[static_cast<size_t>(peers.process)];
    expectSuccess(folder->write(smallManifest(4), mine, 2, 0));
    // The bytes of the second file are for the second process to check.
    if (peers.process == 1) {
      std::fstream file(folder->pathOf(4) + "/rank-00001.safetensors",
                        std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-1, std::ios::end);
      file.put('\x55');
    }
    expectSuccess(peers.agree(llvm::Error::success()));
    llvm::Error error = Checkpoint::open(folder->pathOf(4), peers).takeError();
    EXPECT_TRUE(error.isA<DamagedError>());
    damage[peers.process] = errorOf(std::move(error));
  });
  EXPECT_TRUE(llvm::StringRef(locked[0]).contains("for one run at a time")) << locked[0];
  EXPECT_EQ(locked[1], locked[0]);
  EXPECT_EQ(errors[0], files.path("E") + "/.tmp-step-00000002/rank-00001.safetensors: error: "
                                         "expects tensors with different names in UTF-8, got "
                                         "'w#master[2,4)'");
  EXPECT_EQ(errors[1], errors[0]);
  EXPECT_TRUE(llvm::StringRef(damage[0]).contains("to have checksum")) << damage[0];
  EXPECT_EQ(damage[1], damage[0]);
}

} // namespace
} // namespace zero::training
