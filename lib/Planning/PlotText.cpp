//===- PlotText.cpp - texts and round numbers of a picture -----------------===//

#include "PlotText.h"

#include <algorithm>
#include <vector>

namespace zero::planning::plot {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD"; // U+FFFD

/// How many bytes the well-formed character at the head of `text` takes, by the table of RFC 3629;
/// 0 where there is none.
size_t characterAt(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  auto continues = [&](size_t i, unsigned lower = 0x80, unsigned upper = 0xBF) {
    return byte(i) >= lower && byte(i) <= upper;
  };
  unsigned lead = byte(0);
  if (lead < 0x80)
    return 1;
  if (lead >= 0xC2 && lead <= 0xDF)
    return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF)
    return continues(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && continues(2) ? 3
                                                                                                : 0;
  if (lead >= 0xF0 && lead <= 0xF4)
    return continues(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) && continues(2) &&
                   continues(3)
               ? 4
               : 0;
  return 0;
}

std::string_view spelled(std::string_view character) {
  switch (character[0]) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return "&quot;";
  case '\'':
    return "&apos;";
  default:
    break;
  }
  bool isControl = static_cast<unsigned char>(character[0]) < 0x20 || character[0] == 0x7F;
  return isControl || character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF" ? kReplacement
                                                                                 : character;
}

} // namespace

std::string escaped(std::string_view text, size_t limit) {
  std::string result;
  for (size_t seen = 0; !text.empty(); ++seen) {
    if (seen == limit)
      return result + "\u2026";
    size_t bytes = characterAt(text);
    result += bytes ? spelled(text.substr(0, bytes)) : kReplacement;
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return result;
}

std::string shortened(std::string_view text, size_t limit) {
  std::vector<std::string_view> characters;
  for (std::string_view rest = text; !rest.empty();) {
    size_t bytes = std::max<size_t>(characterAt(rest), 1);
    characters.push_back(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  if (characters.size() <= limit)
    return escaped(text, limit);
  size_t back = limit / 2, front = limit - back;
  const char *head = characters[front].data(), *tail = characters[characters.size() - back].data();
  return escaped({text.data(), head}, front) + "\u2026" +
         escaped({tail, text.data() + text.size()}, back);
}

int64_t lengthOf(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

std::string hundredths(int64_t value) {
  std::string text = std::to_string(value / 100);
  int64_t rest = value % 100;
  if (rest == 0)
    return text;
  text += "." + std::to_string(rest / 10);
  return rest % 10 ? text + std::to_string(rest % 10) : text;
}

std::string sizeText(int64_t bytes) {
  static constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  // What rounds to 1024 of a unit is 1 of the next.
  auto rounded = [&] {
    __int128 scale = static_cast<__int128>(1) << (10 * unit);
    return (static_cast<__int128>(bytes) * 200 + scale) / (2 * scale);
  };
  while (rounded() >= 102400)
    ++unit;
  return hundredths(static_cast<int64_t>(rounded())) + " " + kUnits[unit];
}

int64_t byteStep(int64_t top) {
  int64_t step = 1;
  while (step < top / 8 + (top % 8 != 0))
    step *= 2;
  return step;
}

uint64_t timeStep(uint64_t span, uint64_t most) {
  for (uint64_t step = 1;; step *= 10)
    for (uint64_t factor : {1, 2, 5})
      if (span / most < step * factor || (span % most == 0 && span / most == step * factor))
        return step * factor;
}

} // namespace zero::planning::plot
