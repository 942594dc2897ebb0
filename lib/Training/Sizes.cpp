//===- Sizes.cpp - numbers in flags ----------------------------------------===//

#include "zero/Training/Sizes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cmath>

namespace zero::training {
namespace {

llvm::Error flagError(llvm::StringRef flag, const llvm::Twine &expected, llvm::StringRef got) {
  return llvm::createStringError("expects " + flag + " " + expected + ", got " +
                                 (got.empty() ? "nothing" : got));
}

constexpr int64_t kMostInteger = std::numeric_limits<int64_t>::max(); // as a maximum: unbounded

constexpr struct {
  llvm::StringLiteral suffix;
  unsigned shift;
} kUnits[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};

/// Digits, and in front of a unit perhaps a point and more digits.
bool isNumber(llvm::StringRef digits, bool fractionAllowed) {
  auto [whole, fraction] = digits.split('.');
  bool hasPoint = whole.size() != digits.size();
  return !whole.empty() && llvm::all_of(whole, llvm::isDigit) &&
         llvm::all_of(fraction, llvm::isDigit) &&
         (!hasPoint || (fractionAllowed && !fraction.empty()));
}

/// A number times 2^shift, rounded down; none beyond 63 bits.
std::optional<int64_t> scaled(llvm::StringRef digits, unsigned shift) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  auto [whole, fraction] = digits.split('.');
  unsigned __int128 units = 0;
  for (char c : whole) {
    units = units * 10 + (c - '0');
    if (units > kMost)
      return std::nullopt;
  }
  // Fifteen digits of a TiB are a thousandth of a byte apart, and fit when shifted.
  unsigned __int128 numerator = 0, denominator = 1;
  for (char c : fraction.take_front(15)) {
    numerator = numerator * 10 + (c - '0');
    denominator *= 10;
  }
  unsigned __int128 bytes = (units << shift) + (numerator << shift) / denominator;
  if (bytes > kMost)
    return std::nullopt;
  return static_cast<int64_t>(bytes);
}

template <typename T> std::string rangeText(T minimum, T maximum, T unbounded) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](T value) {
    if constexpr (std::is_floating_point_v<T>)
      os << llvm::format("%g", value);
    else
      os << value;
  };
  if (maximum >= unbounded) {
    os << "of at least ";
    print(minimum);
  } else {
    os << "between ";
    print(minimum);
    os << " and ";
    print(maximum);
  }
  return text;
}

} // namespace

llvm::Expected<int64_t> parseSize(llvm::StringRef flag, llvm::StringRef text, int64_t minimum,
                                  int64_t maximum) {
  llvm::StringRef digits = text;
  unsigned shift = 0;
  for (const auto &unit : kUnits)
    if (digits.consume_back(unit.suffix)) {
      shift = unit.shift;
      break;
    }
  if (!isNumber(digits, /*fractionAllowed=*/shift != 0))
    return flagError(flag, "to be bytes, such as 4096, 64KiB, 1MiB, 1.5GiB or 2TiB", text);
  std::optional<int64_t> bytes = scaled(digits, shift);
  if (!bytes && maximum == kMostInteger)
    return flagError(flag, "of at most " + llvm::Twine(kMostInteger) + " bytes", text);
  if (!bytes || *bytes < minimum || *bytes > maximum)
    return flagError(flag, rangeText(minimum, maximum, kMostInteger) + " bytes", text);
  return *bytes;
}

llvm::Expected<int64_t> parseInteger(llvm::StringRef flag, llvm::StringRef text, int64_t minimum,
                                     int64_t maximum) {
  int64_t value = 0;
  auto [end, status] = std::from_chars(text.begin(), text.end(), value);
  if (status == std::errc::invalid_argument || end != text.end())
    return flagError(flag, "to be an integer", text);
  bool isTooMuch = status == std::errc::result_out_of_range && !text.starts_with("-");
  if (isTooMuch && maximum == kMostInteger)
    return flagError(flag, "of at most " + llvm::Twine(kMostInteger), text);
  if (status != std::errc() || value < minimum || value > maximum)
    return flagError(flag, rangeText(minimum, maximum, kMostInteger), text);
  return value;
}

llvm::Expected<uint64_t> parseUnsigned(llvm::StringRef flag, llvm::StringRef text) {
  uint64_t value = 0;
  auto [end, status] = std::from_chars(text.begin(), text.end(), value);
  if (status != std::errc() || end != text.end())
    return flagError(flag, "to be an integer between 0 and 18446744073709551615", text);
  return value;
}

llvm::Expected<double> parseFloat(llvm::StringRef flag, llvm::StringRef text, double minimum,
                                  double maximum) {
  double value = 0;
  auto [end, status] = std::from_chars(text.begin(), text.end(), value);
  if (status == std::errc::invalid_argument || end != text.end() || !std::isfinite(value))
    return flagError(flag, "to be a finite number", text);
  if (status == std::errc::result_out_of_range)
    return flagError(flag, "to be a number that 64-bit floating point can hold", text);
  if (value < minimum || value > maximum)
    return flagError(flag, rangeText(minimum, maximum, std::numeric_limits<double>::infinity()),
                     text);
  return value;
}

llvm::Expected<size_t> parseChoice(llvm::StringRef flag, llvm::StringRef text,
                                   llvm::ArrayRef<llvm::StringRef> choices) {
  for (auto [index, choice] : llvm::enumerate(choices))
    if (text == choice)
      return index;
  return flagError(flag, "to be one of " + llvm::join(choices, ", "), text);
}

std::string formatSize(int64_t bytes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto &unit : llvm::reverse(kUnits))
    if (bytes >= int64_t(1) << unit.shift) {
      os << llvm::format("%.2f ",
                         static_cast<double>(bytes) / static_cast<double>(int64_t(1) << unit.shift))
         << unit.suffix;
      return text;
    }
  os << bytes << " B";
  return text;
}

} // namespace zero::training
