//===- TokenData.cpp - windows of a token file ----------------------------===//
//
// The order of windows is documented in Data.h.
//
//===----------------------------------------------------------------------===//

#include "DataSets.h"
#include "PageAdvice.h"

#include "zero/Training/Permutation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <limits>

namespace zero::training {
namespace {

/// llm.c's header: 256 int32, of which the first are magic, version and number of tokens.
constexpr uint64_t kHeaderBytes = 1024;
constexpr uint32_t kMagicUint16 = 20240520, kMagicUint32 = 20240801;

/// The tokens of a mapped file.
struct Tokens {
  const char *data = nullptr;
  int64_t count = 0;
  int64_t width = 1; // bytes a token

  int64_t at(int64_t index) const {
    return width == 1 ? static_cast<uint8_t>(data[index])
                      : llvm::support::endian::read16le(data + 2 * index);
  }
};

llvm::Expected<Tokens> findTokens(llvm::StringRef path, llvm::StringRef content, bool isText) {
  if (content.empty())
    return inputError(path, "expects tokens, got an empty file");
  if (isText)
    return Tokens{content.data(), static_cast<int64_t>(content.size()), 1};
  auto word = [&](size_t index) {
    return llvm::support::endian::read32le(content.data() + 4 * index);
  };
  if (content.size() >= 4 && word(0) == kMagicUint32)
    return inputError(path, "expects uint16 tokens, got llm.c's file of uint32 tokens");
  if (content.size() >= kHeaderBytes && word(0) == kMagicUint16) {
    if (word(1) != 1)
      return inputError(path, "expects version 1 in llm.c's header, got " + llvm::Twine(word(1)));
    uint64_t bytes = uint64_t(word(2)) * 2;
    content = content.drop_front(kHeaderBytes);
    if (content.size() != bytes)
      return inputError(path, "expects " + llvm::Twine(bytes) +
                                  " bytes of tokens, as llm.c's header says, got " +
                                  llvm::Twine(content.size()) + " (was it cut off?)");
  }
  if (content.size() % 2 != 0)
    return inputError(path, "expects uint16 tokens, got an odd number of bytes, " +
                                llvm::Twine(content.size()));
  return Tokens{content.data(), static_cast<int64_t>(content.size() / 2), 2};
}

class TokenData final : public DataSet {
public:
  TokenData(llvm::StringRef path, std::shared_ptr<llvm::MemoryBuffer> buffer, Tokens tokens,
            std::vector<BatchPlan> arguments, const DataOptions &options)
      : path(path.str()), buffer(std::move(buffer)), tokens(tokens), plans(std::move(arguments)),
        options(options), globalRows(plans[0].argument.shape[0] * options.ranks),
        length(plans[0].argument.shape[1]),
        windows(options.once ? (tokens.count - 1) / length
                             : std::max<int64_t>(1, (tokens.count - length) / length)),
        maxShift(std::min(length - 1, tokens.count - 1 - windows * length)), order(1, 0) {
    for (const BatchPlan &plan : plans) {
      memory.emplace_back(plan, options, /*ownsBatches=*/true);
      if (plan.argument.bound)
        bound = std::min(bound, *plan.argument.bound);
      if (plan.argument.role == BatchRole::Tokens && !stepTokens)
        stepTokens = plan.globalElements * options.microSteps;
    }
    isLong = tokens.count > kCheckOnOpenBytes / tokens.width;
    if (isLong)
      advise(tokens.data, tokens.count * tokens.width,
             options.once ? PageAdvice::Sequential : PageAdvice::Random);
    if (!options.once)
      enterEpoch(0);
  }

  std::unique_ptr<DataSet> clone() const override { return std::make_unique<TokenData>(*this); }

  std::optional<int64_t> steps() const override {
    if (!options.once)
      return std::nullopt;
    int64_t samples = globalRows * options.microSteps;
    return canPad() ? (windows + samples - 1) / samples : windows / samples;
  }

  /// Checks all tokens of a file that isn't too long for it.
  llvm::Error checkAll() {
    bool fits = bound > (tokens.width == 1 ? 255 : 65535);
    checked = fits || !isLong;
    return fits || isLong ? llvm::Error::success() : checkRange(0, tokens.count);
  }

  llvm::Error load(int64_t step) override {
    if (step < 0 ||
        step > std::numeric_limits<int64_t>::max() / (globalRows * options.microSteps) - 1)
      return inputError(path, "expects a step whose samples can be counted in 63 bits, got " +
                                  llvm::Twine(step));
    if (isLong && !options.once)
      fetch(step);
    for (int64_t micro = 0; micro < options.microSteps; ++micro)
      for (int64_t row = 0; row < globalRows; ++row) {
        int64_t sample = (step * options.microSteps + micro) * globalRows + row;
        if (options.once && sample >= windows) {
          pad(micro, row);
          continue;
        }
        int64_t begin = options.once ? sample * length : beginOf(sample);
        if (!checked)
          if (llvm::Error error = checkRange(begin, begin + length + 1))
            return error;
        for (auto [plan, into] : llvm::zip_equal(plans, memory)) {
          int64_t first = begin + (plan.argument.role == BatchRole::Labels);
          if (plan.argument.type == BatchType::I32)
            copy(reinterpret_cast<int32_t *>(into.batch(micro)) + row * length, first);
          else
            copy(reinterpret_cast<int64_t *>(into.batch(micro)) + row * length, first);
        }
      }
    for (BatchMemory &argument : memory)
      argument.orderByRank(argument.batch(0));
    return llvm::Error::success();
  }

  const void *batch(int64_t microStep, int64_t argument) const override {
    return memory[argument].batch(microStep);
  }
  const void *stepLabels(int64_t argument) const override { return memory[argument].byRank(); }

private:
  /// Lets the disk read all windows of a step at once, where each would be waited for alone.
  void fetch(int64_t step) {
    int64_t samples = globalRows * options.microSteps;
    for (int64_t sample = step * samples; sample < (step + 1) * samples; ++sample)
      advise(tokens.data + beginOf(sample) * tokens.width, (length + 1) * tokens.width,
             PageAdvice::WillNeed);
  }

  int64_t beginOf(int64_t sample) {
    if (sample / windows != epoch)
      enterEpoch(sample / windows);
    return shift + static_cast<int64_t>(order(static_cast<uint64_t>(sample % windows))) * length;
  }

  bool canPad() const {
    return llvm::all_of(plans, [](const BatchPlan &plan) {
      return plan.argument.role != BatchRole::Labels || plan.argument.ignore.has_value();
    });
  }

  /// A row that counts for nothing.
  void pad(int64_t micro, int64_t row) {
    for (auto [plan, into] : llvm::zip_equal(plans, memory)) {
      int64_t value =
          plan.argument.role == BatchRole::Labels ? plan.argument.ignore.value_or(0) : 0;
      if (plan.argument.type == BatchType::I32)
        std::fill_n(reinterpret_cast<int32_t *>(into.batch(micro)) + row * length, length,
                    static_cast<int32_t>(value));
      else
        std::fill_n(reinterpret_cast<int64_t *>(into.batch(micro)) + row * length, length, value);
    }
  }

  void enterEpoch(int64_t next) {
    epoch = next;
    uint64_t key = mix(options.seed, static_cast<uint64_t>(epoch));
    order = Permutation(static_cast<uint64_t>(windows), key);
    shift = static_cast<int64_t>(mix(key, 1) % static_cast<uint64_t>(maxShift + 1));
  }

  template <typename T> void copy(T *into, int64_t first) const {
    for (int64_t i = 0; i < length; ++i)
      into[i] = static_cast<T>(tokens.at(first + i));
  }

  llvm::Error checkRange(int64_t begin, int64_t end) const {
    for (int64_t i = begin; i < end; ++i)
      if (tokens.at(i) >= bound)
        return inputError(path, "expects tokens " + boundText(bound, std::nullopt) +
                                    ", the model's vocabulary, got " + llvm::Twine(tokens.at(i)) +
                                    " at position " + llvm::Twine(i));
    return llvm::Error::success();
  }

  std::string path;
  std::shared_ptr<llvm::MemoryBuffer> buffer;
  Tokens tokens;
  std::vector<BatchPlan> plans;
  DataOptions options;
  int64_t globalRows, length, windows, maxShift;
  int64_t bound = std::numeric_limits<int64_t>::max();
  bool checked = false, isLong = false;
  std::vector<BatchMemory> memory;
  int64_t epoch = 0, shift = 0;
  Permutation order;
};

} // namespace

llvm::Expected<std::unique_ptr<DataSet>> openTokenData(llvm::StringRef path,
                                                       std::vector<BatchPlan> plans,
                                                       const DataOptions &options, bool isText) {
  bool hasTokens = false;
  for (const BatchPlan &plan : plans) {
    const BatchArgument &argument = plan.argument;
    hasTokens |= argument.role == BatchRole::Tokens;
    if (argument.role == BatchRole::Other || argument.type == BatchType::F32 ||
        argument.shape.size() != 2 || argument.shape != plans[0].argument.shape)
      return inputError(
          path,
          "expects a model of integer tokens and labels [batch, sequence] to feed from a token "
          "file, got argument " +
              quoted(argument.name) + " of " + name(argument.type) + " " +
              shapeText(argument.shape) + "; a .safetensors file can feed it");
  }
  if (!hasTokens)
    return inputError(
        path, "expects a model with an argument of tokens to feed from a token file, got none");
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return inputError(path, "cannot read the file: " + buffer.getError().message());
  llvm::Expected<Tokens> tokens = findTokens(path, (*buffer)->getBuffer(), isText);
  if (!tokens)
    return tokens.takeError();
  int64_t length = plans[0].argument.shape[1];
  if (tokens->count <= length)
    return inputError(path, "expects more than " + llvm::Twine(length) +
                                " tokens, a sequence and the label of its last token, got " +
                                llvm::Twine(tokens->count));
  auto data =
      std::make_unique<TokenData>(path, std::move(*buffer), *tokens, std::move(plans), options);
  if (llvm::Error error = data->checkAll())
    return std::move(error);
  return std::move(data);
}

} // namespace zero::training
