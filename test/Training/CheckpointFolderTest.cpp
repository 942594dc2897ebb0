//===- CheckpointFolderTest.cpp - which checkpoints a folder holds ------------===//

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
