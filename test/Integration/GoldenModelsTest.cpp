//===- GoldenModelsTest.cpp - model families against their truth --------------===//
//
// The golden run of LLaMA at every stage and several rank counts; and models of all
// families whose sizes divide by nothing, made here, against the f64 reference.
//
//===----------------------------------------------------------------------===//

#include "ExpectGolden.h"

#include "zero/Trainer/ReferenceRun.h"
#include "zero/Training/Safetensors.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <random>

using namespace zero;
using namespace zero::test;

namespace {

TEST(GoldenModels, N3_Llama) { expectGoldenAtAllStages("llama", {1, 2, 3, 4}); }

/// A model and batches that this test makes, in a folder that goes with it.
class MadeModel {
public:
  MadeModel(const std::string &config, int64_t vocabulary, int64_t sequence, double labelled)
      : sequence(sequence) {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("zero-models", folder));
    std::error_code code;
    llvm::raw_fd_ostream(path("config.json"), code) << config;
    writeBatches(vocabulary, labelled);
  }
  ~MadeModel() { llvm::sys::fs::remove_directories(folder); }

  static constexpr int64_t kSteps = 6, kMicroSteps = 3, kBatch = 6;

  /// Losses, norms and weights of a run at these ranks, by the program or by the reference.
  Outcome run(int64_t ranks, int64_t stage, bool reference) const {
    Outcome outcome;
    ModelOptions model;
    model.path = path("config.json");
    model.microBatch = kBatch / ranks;
    model.seqLen = sequence;
    auto module = readModel(sharedCompiler(), model);
    if (!module) {
      outcome.error = llvm::toString(module.takeError());
      return outcome;
    }
    std::unique_ptr<TrainingRun> trainer;
    auto take = [&](auto made) {
      if (made)
        trainer = std::move(*made);
      else
        outcome.error = llvm::toString(made.takeError());
    };
    TrainOptions options = recipe(ranks, stage);
    if (reference)
      take(ReferenceRun::create(sharedCompiler(), **module, options));
    else
      take(Trainer::create(sharedCompiler(), **module, options));
    for (int64_t step = 0; trainer && step < kSteps; ++step) {
      llvm::Expected<training::StepRecord> record = trainer->step();
      if (!record) {
        outcome.error = llvm::toString(record.takeError());
        return outcome;
      }
      outcome.records.push_back(*record);
    }
    if (trainer)
      outcome.weights = weightsOf(*trainer);
    return outcome;
  }

private:
  std::string path(const std::string &name) const { return (folder + "/" + name).str(); }

  TrainOptions recipe(int64_t ranks, int64_t stage) const {
    TrainOptions options;
    options.compile.ranks = ranks;
    options.compile.stage = stage;
    options.compile.microBatch = kBatch / ranks;
    options.compile.microSteps = kMicroSteps;
    // Above the rounding noise of gradients, which Adam would else scale up to full steps where one
    // happens to be as small.
    options.compile.eps = 1e-5;
    options.compile.weightDecay = 0.1;
    options.compile.clip = 0.7;
    options.schedule = {training::ScheduleKind::Constant, 1e-2, 0, kSteps};
    options.data = path("batches.safetensors");
    options.seed = 5;
    return options;
  }

  /// Tokens at random, and a share of the labels; the rest are ignored.
  void writeBatches(int64_t vocabulary, double labelled) const {
    const std::vector<int64_t> shape = {kSteps, kMicroSteps, kBatch, sequence};
    std::mt19937 generator(11);
    auto fill = [&](size_t index, llvm::MutableArrayRef<uint8_t> bytes) {
      for (size_t at = 0; at < bytes.size(); at += sizeof(int32_t)) {
        auto token = static_cast<int32_t>(generator() % vocabulary);
        bool ignored = index == 1 && generator() % 1000 >= labelled * 1000;
        int32_t value = ignored ? -100 : token;
        std::memcpy(bytes.data() + at, &value, sizeof(value));
      }
      return llvm::Error::success();
    };
    llvm::Error error = training::writeSafetensors(
        path("batches.safetensors"),
        {{"input_ids", training::DType::I32, shape}, {"labels", training::DType::I32, shape}},
        fill);
    EXPECT_FALSE(static_cast<bool>(error));
  }

  int64_t sequence;
  llvm::SmallString<128> folder;
};

/// The program, at 3 ranks and stage 3 and at 1 rank and stage 0, against the reference in f64.
void expectReference(const MadeModel &model) {
  Outcome truth = model.run(1, 0, /*reference=*/true);
  ASSERT_EQ(truth.error, "");
  for (auto [ranks, stage] : {std::pair<int64_t, int64_t>(1, 0), {2, 2}, {3, 3}}) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks, stage " + std::to_string(stage));
    Outcome outcome = model.run(ranks, stage, /*reference=*/false);
    ASSERT_EQ(outcome.error, "");
    ASSERT_EQ(outcome.records.size(), truth.records.size());
    for (size_t i = 0; i < truth.records.size(); ++i) {
      double loss = *truth.records[i].loss, norm = *truth.records[i].gradNorm;
      EXPECT_NEAR(*outcome.records[i].loss, loss, 1e-6 * loss) << "step " << i;
      EXPECT_NEAR(*outcome.records[i].gradNorm, norm, 3e-6 * norm) << "step " << i;
    }
    EXPECT_LE(weightDistance(outcome.weights, truth.weights), 3e-6);
  }
}

// Seven heads of width 6 on one head of keys and values, biases, a tied head that also reads the
// padding token, llama3 scaling.
TEST(GoldenModels, LlamaOfOddSizes) {
  expectReference(MadeModel(R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 35,
    "num_attention_heads": 7, "num_key_value_heads": 1, "head_dim": 6, "intermediate_size": 53,
    "max_position_embeddings": 13, "vocab_size": 37, "attention_bias": true, "mlp_bias": true,
    "tie_word_embeddings": true, "pad_token_id": 3, "initializer_range": 0.2, "rms_norm_eps": 1e-5,
    "rope_theta": 500.0, "rope_scaling": {"rope_type": "llama3", "factor": 4.0,
    "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8}})",
                            37, 13, 0.8));
}

// Sequences longer than the positions, sines and cosines that are scaled, an untied head.
TEST(GoldenModels, LlamaUnderYarn) {
  expectReference(MadeModel(R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 30,
    "num_attention_heads": 3, "num_key_value_heads": 3, "intermediate_size": 17,
    "max_position_embeddings": 8, "vocab_size": 29, "initializer_range": 0.2,
    "rope_parameters": {"rope_type": "yarn", "factor": 4.0, "rope_theta": 100.0,
    "beta_fast": 2.0, "beta_slow": 0.5}})",
                            29, 11, 1.0));
}

// Seven heads of width 5; few labels, so that some rows and ranks have none; the padding token is
// read like any other.
TEST(GoldenModels, BertOfOddSizes) {
  expectReference(MadeModel(R"({"model_type": "bert", "num_hidden_layers": 2, "hidden_size": 35,
    "num_attention_heads": 7, "intermediate_size": 53, "max_position_embeddings": 17,
    "type_vocab_size": 3, "vocab_size": 41, "initializer_range": 0.2, "hidden_act": "relu",
    "hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0})",
                            41, 13, 0.05));
}

// The families' dropout (N2): one mask at all rank counts, and the reference's.
TEST(GoldenModels, Dropout) {
  expectReference(MadeModel(R"({"model_type": "bert", "num_hidden_layers": 1, "hidden_size": 15,
    "num_attention_heads": 3, "intermediate_size": 23, "max_position_embeddings": 9,
    "vocab_size": 29, "initializer_range": 0.2})",
                            29, 9, 0.5));
  expectReference(MadeModel(R"({"model_type": "gpt2", "n_layer": 1, "n_embd": 15, "n_head": 3,
    "n_positions": 9, "vocab_size": 29, "initializer_range": 0.2})",
                            29, 9, 0.8));
  expectReference(MadeModel(R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 24,
    "num_attention_heads": 6, "num_key_value_heads": 2, "intermediate_size": 23,
    "max_position_embeddings": 9, "vocab_size": 29, "initializer_range": 0.2,
    "attention_dropout": 0.2})",
                            29, 9, 0.8));
}

TEST(GoldenModels, BertOfOneHead) {
  expectReference(MadeModel(R"({"model_type": "bert", "num_hidden_layers": 1, "hidden_size": 7,
    "num_attention_heads": 1, "intermediate_size": 11, "max_position_embeddings": 9,
    "type_vocab_size": 1, "vocab_size": 19, "initializer_range": 0.3, "layer_norm_eps": 1e-5,
    "pad_token_id": null, "hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0})",
                            19, 9, 0.3));
}

} // namespace
