//===- Plot.h - memory over time as a picture ------------------------------===//
//
// Rectangles in time and bytes, as SVG: time runs to the right, bytes upwards,
// and a rectangle is as wide as its lifetime and as high as its size, so that
// an arena's plan can be seen. Horizontal lines mark what it is held against, a
// staircase the bytes that are live.
//
//   bytes
//   1600 |-------------------- height
//        |     +----------+
//    800 |+----+----+  b  |
//        ||    a    +-----+
//      0 |+---------+
//        +----------------- time
//
// The plot is kWidth × kHeight pixels with its upper left corner at (kLeft,
// kTop). Places are computed in hundredths of a pixel, in integers: the same
// picture gives the same bytes on every machine. A rectangle's name, size, place
// and lifetime show under the pointer; its name stands in it where it fits.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PLANNING_PLOT_H
#define ZERO_PLANNING_PLOT_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zero::planning::plot {

inline constexpr int64_t kLeft = 80, kTop = 100, kWidth = 950, kHeight = 560;

/// Of more rectangles the largest on the picture are drawn, so that a file has 5 MB or so at most.
inline constexpr int64_t kMaxDrawn = 20'000;

/// Told apart with any colour vision, and black text reads on each. Source: Okabe and Ito, "Color
/// Universal Design", 2008; the last is a grey in place of black.
inline constexpr std::array<const char *, 8> kColours = {
    "#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#0072B2", "#BBBBBB"};

/// What a colour stands for.
struct Kind {
  std::string name;
  std::string colour; ///< as SVG spells it
};

/// Bytes that hold in [lower, upper). Cut off at the ends of the picture's time.
struct Rectangle {
  int64_t lower = 0, upper = 0;
  int64_t offset = 0, bytes = 0;
  int64_t kind = 0; ///< index into Picture::kinds
  std::string name = {};
  /// Rectangles of one number from 0 on lie on the same bytes: of those that are live at one time
  /// the highest counts.
  int64_t sharing = -1;
};

/// A height to compare with. One beyond 1.5 times the tallest rectangle is named above the plot,
/// since it would flatten everything else.
struct Line {
  std::string name;
  int64_t bytes = 0;
};

/// A part of the time: from `begin` to the next segment's, or to the end.
struct Segment {
  std::string name;
  int64_t begin = 0;
};

/// A part of the height with places of its own: from `offset` to the next floor's, or to the top.
struct Floor {
  std::string name;
  int64_t offset = 0;
};

/// Names may hold any bytes: they are escaped, and cut where they are long.
struct Picture {
  std::string title;
  std::string timeLabel = "time";
  int64_t timeBegin = 0, timeEnd = 0; ///< half-open
  std::vector<Kind> kinds = {};
  std::vector<Rectangle> rectangles = {};
  std::vector<Line> lines = {};
  std::vector<Segment> segments = {}; ///< by rising `begin`
  std::vector<Floor> floors = {};     ///< by rising `offset`; tooltips tell places above them
  bool drawsLive = true;              ///< the sum of all rectangles at each time, as a staircase
  int64_t liveUnitBytes = 1;          ///< sizes are rounded up to it in that sum
};

/// What is wrong with `picture`, or nothing: empty lifetimes, negative places or sizes, kinds that
/// there are none of, segments out of order or of the picture's time, sums beyond 2^62.
std::optional<std::string> check(const Picture &picture);

/// The picture as the text of an SVG file. Needs a picture that `check` accepts. O(n log n).
std::string svg(const Picture &picture);

} // namespace zero::planning::plot

#endif // ZERO_PLANNING_PLOT_H
