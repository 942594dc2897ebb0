//===- Plot.cpp - memory over time as a picture ----------------------------===//
//
// From back to front: segments, grid, rectangles by kind, lines, the staircase of
// live bytes, the rectangles' labels. Long texts never decide where anything lies: widths are
// estimated, and what has no room is left to the tooltips.
//
//===----------------------------------------------------------------------===//

#include "zero/Planning/Plot.h"

#include "PlotText.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace zero::planning::plot {

namespace {

// All in hundredths of a pixel from here on.
constexpr int64_t kX0 = 100 * kLeft, kX1 = 100 * (kLeft + kWidth);
constexpr int64_t kY0 = 100 * kTop, kY1 = 100 * (kTop + kHeight);
constexpr int64_t kPageWidth = 1260, kPageHeight = 720;

constexpr size_t kSegmentName = 40;      // characters
constexpr size_t kTitle = 100;           // of twice the size, up to the page's right edge
constexpr int64_t kCharacter = 600;      // a rather wide one at 10 px
constexpr int64_t kTickGap = 2000;       // between the numbers of the time
constexpr int64_t kThin = 150;           // rectangles below it have no edge
constexpr int64_t kLabelHeight = 1200;   // of a rectangle with a label
constexpr size_t kManyRectangles = 1000; // from which on only the widest are labelled
constexpr size_t kManySteps = 4000; // of the staircase, beyond which it takes quarters of pixels

/// ⌊a · b ÷ c + ½⌋.
int64_t scaled(__int128 a, int64_t b, __int128 c) {
  return static_cast<int64_t>((2 * a * b + c) / (2 * c));
}

struct Point {
  int64_t x = 0, bytes = 0;
};

struct Box {
  int64_t left = 0, right = 0, top = 0, bottom = 0;
  int64_t width() const { return right - left; }
  int64_t height() const { return bottom - top; }
};

using Change = std::pair<int64_t, int64_t>; // time, bytes more

/// How the highest of rectangles changes that come and go so.
void addHighest(std::vector<Change> comings, std::vector<Change> &changes) {
  std::sort(comings.begin(), comings.end());
  std::multiset<int64_t> there;
  int64_t highest = 0;
  for (size_t i = 0; i < comings.size();) {
    int64_t time = comings[i].first;
    for (; i < comings.size() && comings[i].first == time; ++i)
      if (int64_t bytes = comings[i].second; bytes < 0)
        there.erase(there.find(-bytes));
      else
        there.insert(bytes);
    int64_t now = there.empty() ? 0 : *there.rbegin();
    if (now != highest)
      changes.push_back({time, now - highest});
    highest = now;
  }
}

class Drawing {
public:
  explicit Drawing(const Picture &picture) : picture(picture) {
    for (const Rectangle &one : picture.rectangles)
      tallest = std::max(tallest, one.offset + one.bytes);
    if (picture.rectangles.empty())
      for (const Line &line : picture.lines)
        tallest = std::max(tallest, line.bytes);
    top = tallest;
    for (const Line &line : picture.lines)
      if (isInside(line))
        top = std::max(top, line.bytes);
    top = std::max<int64_t>(top + top / 20, 1);
  }

  std::string draw() {
    begin();
    drawSegments();
    drawGrid();
    drawRectangles();
    drawLines();
    drawLive();
    drawLabels();
    drawLegend();
    out += "</svg>\n";
    return std::move(out);
  }

private:
  int64_t x(int64_t time) const {
    time = std::clamp(time, picture.timeBegin, std::max(picture.timeBegin, picture.timeEnd));
    __int128 span = static_cast<__int128>(picture.timeEnd) - picture.timeBegin;
    return kX0 + scaled(static_cast<__int128>(time) - picture.timeBegin, kX1 - kX0,
                        std::max<__int128>(span, 1));
  }
  int64_t y(int64_t bytes) const { return kY1 - scaled(std::min(bytes, top), kY1 - kY0, top); }
  bool isInside(const Line &line) const { return line.bytes - tallest <= tallest / 2; }

  /// Of a text of 12 pixels, and of one that is cut behind `limit` characters.
  static int64_t widthOf(int64_t characters) { return 7 * kCharacter / 6 * characters; }
  static int64_t widthOf(const std::string &text, size_t limit) {
    return widthOf(std::min(lengthOf(text), static_cast<int64_t>(limit) + 1));
  }

  void text(int64_t x, int64_t y, const std::string &escapedText, const char *more = "") {
    out += "<text x=\"" + hundredths(x) + "\" y=\"" + hundredths(y) + "\"" + more + ">" +
           escapedText + "</text>\n";
  }
  void line(int64_t x1, int64_t y1, int64_t x2, int64_t y2, const char *more) {
    out += "<path d=\"M" + hundredths(x1) + " " + hundredths(y1) + "L" + hundredths(x2) + " " +
           hundredths(y2) + "\" " + more + "/>\n";
  }
  void rectangle(const Box &box, const std::string &more, const std::string &content = "") {
    out += "<rect x=\"" + hundredths(box.left) + "\" y=\"" + hundredths(box.top) + "\" width=\"" +
           hundredths(box.width()) + "\" height=\"" + hundredths(box.height()) + "\"" + more +
           (content.empty() ? "/>\n" : ">" + content + "</rect>\n");
  }

  void begin() {
    std::string size = "width=\"" + std::to_string(kPageWidth) + "\" height=\"" +
                       std::to_string(kPageHeight) + "\" viewBox=\"0 0 " +
                       std::to_string(kPageWidth) + " " + std::to_string(kPageHeight) + "\"";
    std::string title = escaped(picture.title);
    out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<svg xmlns=\"http://www.w3.org/2000/svg\" " +
           size + " font-family=\"sans-serif\" font-size=\"12\" role=\"img\" aria-label=\"" +
           title + "\">\n<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n";
    text(kX0, 2400, shortened(picture.title, kTitle), " font-size=\"16\" font-weight=\"bold\"");
  }

  /// Bands of two shades, names above them. A name stands above those that begin below it, so that
  /// no mark crosses it, in up to three rows.
  void drawSegments() {
    const std::vector<Segment> &segments = picture.segments;
    std::vector<int> rows(segments.size());
    for (size_t i = segments.size(); i-- > 0;) {
      int64_t end = x(segments[i].begin) + 800 + widthOf(segments[i].name, kSegmentName);
      for (size_t j = i + 1; j < segments.size() && x(segments[j].begin) < end; ++j)
        rows[i] = std::max(rows[i], rows[j] + 1);
    }
    for (size_t i = 0; i < segments.size(); ++i) {
      int64_t left = x(segments[i].begin);
      int64_t right = i + 1 < segments.size() ? x(segments[i + 1].begin) : kX1;
      rectangle({left, right, kY0, kY1}, i % 2 ? " fill=\"#FFFFFF\"" : " fill=\"#F1F1F1\"");
      bool hasRoom = rows[i] < 3;
      int64_t baseline = kY0 - 600 - 1400 * (hasRoom ? rows[i] : 0);
      line(left, kY1, left, baseline - 900, "stroke=\"#999999\"");
      if (hasRoom)
        text(left + 400, baseline, escaped(segments[i].name, kSegmentName), " fill=\"#333333\"");
    }
  }

  void drawGrid() {
    for (int64_t step = byteStep(top), bytes = 0; bytes <= top; bytes += step) {
      line(kX0, y(bytes), kX1, y(bytes), "stroke=\"#DDDDDD\"");
      text(kX0 - 800, y(bytes) + 400, sizeText(bytes), " text-anchor=\"end\"");
    }
    __int128 begin = picture.timeBegin, end = picture.timeEnd;
    // As many as there is room for side by side: ten of numbers of up to ten digits.
    size_t digits =
        std::max(std::to_string(picture.timeBegin).size(), std::to_string(picture.timeEnd).size());
    int64_t most = std::min<int64_t>(10, (kX1 - kX0) / (widthOf(digits) + kTickGap));
    __int128 step = timeStep(static_cast<uint64_t>(std::max<__int128>(end - begin, 1)), most);
    __int128 first = begin / step * step;
    for (__int128 time = first < begin ? first + step : first; time <= end; time += step) {
      int64_t at = x(static_cast<int64_t>(time));
      line(at, kY1, at, kY1 + 500, "stroke=\"#333333\"");
      text(at, kY1 + 1800, std::to_string(static_cast<int64_t>(time)), " text-anchor=\"middle\"");
    }
    line(kX0, kY1, kX1, kY1, "stroke=\"#333333\"");
    line(kX0, kY0, kX0, kY1, "stroke=\"#333333\"");
    text((kX0 + kX1) / 2, kY1 + 3800, escaped(picture.timeLabel), " text-anchor=\"middle\"");
  }

  Box boxOf(const Rectangle &one) const {
    Box box = {x(one.lower), x(one.upper), y(one.offset + one.bytes), y(one.offset)};
    // SVG draws nothing where a side is 0.
    box.right = std::max(box.right, box.left + 1);
    box.top = std::min(box.top, box.bottom - 1);
    return box;
  }

  /// Indices of the rectangles that are drawn, by kind, then in the picture's order.
  std::vector<size_t> chosen() const {
    std::vector<size_t> order(picture.rectangles.size());
    std::iota(order.begin(), order.end(), size_t(0));
    if (order.size() > static_cast<size_t>(kMaxDrawn)) {
      std::vector<int64_t> area;
      for (const Rectangle &one : picture.rectangles)
        area.push_back(boxOf(one).width() * boxOf(one).height());
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t a, size_t b) { return area[a] > area[b]; });
      order.resize(kMaxDrawn);
      std::sort(order.begin(), order.end());
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return picture.rectangles[a].kind < picture.rectangles[b].kind;
    });
    return order;
  }

  std::string lifetimeText(const Rectangle &one) const {
    if (one.lower <= picture.timeBegin && one.upper >= picture.timeEnd)
      return "all the time";
    std::string result = std::to_string(one.lower) + " to " + std::to_string(one.upper);
    auto next =
        std::upper_bound(picture.segments.begin(), picture.segments.end(), one.lower,
                         [](int64_t time, const Segment &segment) { return time < segment.begin; });
    return next == picture.segments.begin() ? result
                                            : result + ", " + escaped(std::prev(next)->name, 40);
  }

  std::string placeText(const Rectangle &one) const {
    auto next =
        std::upper_bound(picture.floors.begin(), picture.floors.end(), one.offset,
                         [](int64_t offset, const Floor &floor) { return offset < floor.offset; });
    if (next == picture.floors.begin())
      return std::to_string(one.offset);
    const Floor &floor = *std::prev(next);
    return std::to_string(one.offset - floor.offset) + " of " + escaped(floor.name, 40);
  }

  void drawRectangles() {
    std::vector<size_t> order = chosen();
    bool isMany = order.size() > kManyRectangles;
    for (size_t i = 0; i < order.size(); ++i) {
      const Rectangle &one = picture.rectangles[order[i]];
      bool isFirst = i == 0 || picture.rectangles[order[i - 1]].kind != one.kind;
      if (isFirst)
        out += std::string(i ? "</g>\n" : "") + "<g fill=\"" +
               escaped(picture.kinds[static_cast<size_t>(one.kind)].colour) +
               "\" fill-opacity=\"0.85\" stroke=\"#222222\" stroke-width=\"" +
               (isMany ? "0.1" : "0.5") + "\">\n";
      Box box = boxOf(one);
      // Edges would hide what is thinner than they are.
      bool isThin = std::min(box.width(), box.height()) < kThin;
      rectangle(box, isThin ? " stroke=\"none\"" : "",
                "<title>" + escaped(one.name) + "\n" + sizeText(one.bytes) + " (" +
                    std::to_string(one.bytes) + " bytes) at " + placeText(one) + "\n" +
                    lifetimeText(one) + "</title>");
      int64_t wide = kCharacter * lengthOf(one.name) + 600;
      if (one.name.empty() || box.height() < kLabelHeight || box.width() < wide ||
          (isMany && box.width() < (kX1 - kX0) / 4))
        continue;
      labels += "<text x=\"" + hundredths((box.left + box.right) / 2) + "\" y=\"" +
                hundredths((box.top + box.bottom) / 2 + 350) + "\">" + escaped(one.name) +
                "</text>\n";
    }
    if (!order.empty())
      out += "</g>\n";
    if (picture.rectangles.empty())
      text((kX0 + kX1) / 2, (kY0 + kY1) / 2, "nothing to draw", " text-anchor=\"middle\"");
    if (order.size() < picture.rectangles.size())
      text(kX1, kY1 + 3800,
           "the largest " + std::to_string(order.size()) + " of " +
               std::to_string(picture.rectangles.size()) + " rectangles",
           " text-anchor=\"end\" fill=\"#555555\"");
  }

  /// One label a height, at the right; pushed apart where heights are close.
  void drawLines() {
    std::vector<Line> merged;
    for (const Line &one : picture.lines) {
      auto same = std::find_if(merged.begin(), merged.end(),
                               [&](const Line &other) { return other.bytes == one.bytes; });
      if (same == merged.end())
        merged.push_back(one);
      else
        same->name += " = " + one.name;
    }
    std::stable_sort(merged.begin(), merged.end(),
                     [](const Line &a, const Line &b) { return a.bytes > b.bytes; });
    constexpr int64_t kApart = 3000;
    std::vector<int64_t> at;
    for (const Line &one : merged)
      at.push_back(std::max(isInside(one) ? y(one.bytes) : kY0 - kApart,
                            at.empty() ? 0 : at.back() + kApart));
    for (size_t i = at.size(); i-- > 0;)
      at[i] = std::min(at[i], i + 1 < at.size() ? at[i + 1] - kApart : kY1);
    for (size_t i = 0; i < merged.size(); ++i) {
      const Line &one = merged[i];
      if (isInside(one)) {
        line(kX0, y(one.bytes), kX1, y(one.bytes),
             i % 2 ? "stroke=\"#7A0000\" stroke-width=\"1.4\" stroke-dasharray=\"2 3\""
                   : "stroke=\"#7A0000\" stroke-width=\"1.4\" stroke-dasharray=\"8 4\"");
        line(kX1, y(one.bytes), kX1 + 800, at[i], "stroke=\"#7A0000\"");
      }
      text(kX1 + 1200, at[i] - 200, escaped(one.name, 40), " fill=\"#7A0000\"");
      std::string size = sizeText(one.bytes);
      if (one.bytes >= 1024) // heights a hair apart read alike
        size += ", " + std::to_string(one.bytes) + " B";
      text(kX1 + 1200, at[i] + 1100, size + (isInside(one) ? "" : " \u2191"),
           " fill=\"#7A0000\" font-size=\"11\"");
    }
  }

  /// Corners of the staircase: from each x on, so many bytes are live.
  std::vector<Point> livePoints() const {
    std::vector<Change> changes;
    std::map<int64_t, std::vector<Change>> shared;
    for (const Rectangle &one : picture.rectangles) {
      int64_t lower = std::max(one.lower, picture.timeBegin);
      int64_t upper = std::min(one.upper, picture.timeEnd);
      int64_t unit = picture.liveUnitBytes;
      if (lower >= upper)
        continue;
      int64_t bytes = (one.bytes / unit + (one.bytes % unit != 0)) * unit;
      std::vector<Change> &its = one.sharing < 0 ? changes : shared[one.sharing];
      its.push_back({lower, bytes});
      its.push_back({upper, -bytes});
    }
    for (auto &[number, its] : shared)
      addHighest(std::move(its), changes);
    std::sort(changes.begin(), changes.end());
    int64_t grain = changes.size() > kManySteps ? 25 : 1;
    std::vector<Point> points;
    int64_t live = 0;
    for (size_t i = 0; i < changes.size();) {
      int64_t time = changes[i].first;
      for (; i < changes.size() && changes[i].first == time; ++i)
        live += changes[i].second;
      int64_t at = x(time) / grain * grain;
      // Of several steps in one place the highest is seen.
      if (!points.empty() && points.back().x == at && i < changes.size())
        points.back().bytes = std::max(points.back().bytes, live);
      else if (points.empty() || points.back().bytes != live)
        points.push_back({at, live});
    }
    return points;
  }

  void drawLive() {
    if (!picture.drawsLive)
      return;
    std::string path;
    for (const Point &point : livePoints())
      path += (path.empty() ? "M" + hundredths(point.x) + " " + hundredths(kY1)
                            : "H" + hundredths(point.x)) +
              "V" + hundredths(y(point.bytes));
    if (!path.empty())
      out += "<path d=\"" + path +
             "\" fill=\"none\" stroke=\"#000000\" stroke-width=\"1.5\" pointer-events=\"none\"/>\n";
  }

  /// With a light edge, so that they are read on lines too.
  void drawLabels() {
    if (!labels.empty())
      out +=
          "<g font-size=\"10\" text-anchor=\"middle\" pointer-events=\"none\" stroke=\"#FFFFFF\" "
          "stroke-opacity=\"0.7\" stroke-width=\"3\" stroke-linejoin=\"round\" "
          "paint-order=\"stroke\">\n" +
          labels + "</g>\n";
  }

  /// Kinds that there are rectangles of, each with their number.
  void drawLegend() {
    std::vector<int64_t> count(picture.kinds.size());
    for (const Rectangle &one : picture.rectangles)
      ++count[static_cast<size_t>(one.kind)];
    int64_t left = kX0;
    for (size_t i = 0; i < count.size(); ++i) {
      if (!count[i])
        continue;
      const Kind &kind = picture.kinds[i];
      rectangle({left, left + 1200, 3600, 4800},
                " stroke=\"#222222\" stroke-width=\"0.5\" fill-opacity=\"0.85\" fill=\"" +
                    escaped(kind.colour) + "\"");
      std::string label = kind.name + " (" + std::to_string(count[i]) + ")";
      text(left + 1700, 4600, escaped(label, 60));
      left += 3200 + widthOf(label, 60);
    }
    if (!picture.drawsLive)
      return;
    line(left, 4200, left + 1600, 4200, "stroke=\"#000000\" stroke-width=\"1.5\"");
    text(left + 2100, 4600, "live bytes");
  }

  const Picture &picture;
  int64_t tallest = 0; // of the rectangles
  int64_t top = 0;     // of the plot
  std::string out, labels;
};

} // namespace

std::optional<std::string> check(const Picture &picture) {
  constexpr int64_t kMaxBytes = int64_t(1) << 62;
  if (picture.timeBegin > picture.timeEnd)
    return "expects a time that ends behind its begin";
  if (picture.liveUnitBytes < 1)
    return "expects a unit of at least one byte";
  __int128 sum = 0;
  for (const Rectangle &one : picture.rectangles) {
    std::string where = "rectangle '" + one.name + "': ";
    if (one.lower >= one.upper)
      return where + "expects lower below upper";
    if (one.offset < 0 || one.bytes < 0 || one.bytes > kMaxBytes - std::min(one.offset, kMaxBytes))
      return where + "expects a place and a size from 0 to 2^62 together";
    if (one.kind < 0 || static_cast<size_t>(one.kind) >= picture.kinds.size())
      return where + "expects one of " + std::to_string(picture.kinds.size()) + " kinds, got " +
             std::to_string(one.kind);
    sum += static_cast<__int128>(one.bytes) + picture.liveUnitBytes;
  }
  if (sum > kMaxBytes)
    return "expects rectangles of at most 2^62 bytes together";
  for (const Line &line : picture.lines)
    if (line.bytes < 0 || line.bytes > kMaxBytes)
      return "line '" + line.name + "': expects 0 to 2^62 bytes";
  int64_t below = 0;
  for (const Floor &floor : picture.floors) {
    if (floor.offset < below)
      return "floor '" + floor.name + "': expects to lie above the one before it";
    below = floor.offset;
  }
  int64_t before = picture.timeBegin;
  for (const Segment &segment : picture.segments) {
    if (segment.begin < before || segment.begin > picture.timeEnd)
      return "segment '" + segment.name +
             "': expects to begin within the time, behind the one "
             "before it";
    before = segment.begin;
  }
  return std::nullopt;
}

std::string svg(const Picture &picture) { return Drawing(picture).draw(); }

} // namespace zero::planning::plot
