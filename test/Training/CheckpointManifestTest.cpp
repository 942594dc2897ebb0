//===- CheckpointManifestTest.cpp - what a checkpoint says of itself ----------===//

#include "CheckpointCases.h"

namespace zero::training {
namespace {

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

} // namespace
} // namespace zero::training
