//===- PlotText.h - texts and round numbers of a picture -------------------===//
#ifndef ZERO_PLANNING_PLOTTEXT_H
#define ZERO_PLANNING_PLOTTEXT_H

#include <cstdint>
#include <string>
#include <string_view>

namespace zero::planning::plot {

/// `text` as character data or an attribute of XML 1.0, cut behind `limit` characters. What is no
/// UTF-8, and characters that XML has no way to spell, become U+FFFD.
std::string escaped(std::string_view text, size_t limit = 160);

/// The same, cut in the middle: the ends of a long name tell it from others.
std::string shortened(std::string_view text, size_t limit);

/// How many characters a reader sees of UTF-8.
int64_t lengthOf(std::string_view text);

/// `1.25 MiB`: at most two decimals, rounded half up. Bytes are not negative.
std::string sizeText(int64_t bytes);

/// A number of hundredths as a decimal: 1250 is `12.5`.
std::string hundredths(int64_t value);

/// The smallest power of two of which 8 reach `top`.
int64_t byteStep(int64_t top);

/// The smallest 1, 2 or 5 times a power of ten of which `most` reach `span`.
uint64_t timeStep(uint64_t span, uint64_t most = 10);

} // namespace zero::planning::plot

#endif // ZERO_PLANNING_PLOTTEXT_H
