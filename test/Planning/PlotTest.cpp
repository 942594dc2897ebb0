//===- PlotTest.cpp - pictures, coordinate by coordinate -------------------===//
#include "PlotText.h"
#include "zero/Planning/PlotPlans.h"

#include <gtest/gtest.h>

using namespace zero::planning;
using namespace zero::planning::plot;

namespace {

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

int64_t count(const std::string &text, const std::string &part) {
  int64_t result = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++result;
  return result;
}

Picture twoBuffers() {
  Picture picture;
  picture.title = "two";
  picture.timeEnd = 4;
  picture.kinds = {{"activations", kColours[2]}, {"unseen", kColours[0]}};
  picture.rectangles = {{0, 3, 0, 800, 0, "a"}, {1, 4, 800, 800, 0, "b"}};
  picture.lines = {{"height", 1600}, {"lower bound", 1600}, {"budget", 2401}};
  return picture;
}

// The plot is 950 × 560 pixels from (80, 100) to (1030, 660). Four times: 950 ÷ 4 = 237.5 pixels
// each. The tallest top is 1600 bytes, and a twentieth is left above it: 560 ÷ 1680 = 1/3 pixel a
// byte. So 800 bytes are 266.67 pixels, and their top is at 660 − 266.67 = 393.33; 1600 bytes are
// 533.33, with the top at 126.67.
TEST(Plot, PutsTwoBuffersWhereTheyLie) {
  Picture picture = twoBuffers();
  ASSERT_EQ(check(picture), std::nullopt);
  std::string text = svg(picture);
  EXPECT_TRUE(has(text, "<rect x=\"80\" y=\"393.33\" width=\"712.5\" height=\"266.67\"><title>a\n"
                        "800 B (800 bytes) at 0\n0 to 3</title></rect>"))
      << text;
  // From 80 + 237.5 to the end; 393.33 − 126.67 high.
  EXPECT_TRUE(has(text, "<rect x=\"317.5\" y=\"126.67\" width=\"712.5\" height=\"266.66\">"))
      << text;
  // Live: 800 bytes from 0, 1600 from 1, 800 from 3 (80 + 712.5), nothing from 4.
  EXPECT_TRUE(has(text, "d=\"M80 660V393.33H317.5V126.67H792.5V393.33H1030V660\"")) << text;
}

// 2400 bytes would still be 1.5 times the height; 2401 is above the picture.
TEST(Plot, LinesOfOneHeightShareALabelAndFarOnesStayAbove) {
  std::string text = svg(twoBuffers());
  EXPECT_TRUE(has(text, "d=\"M80 126.67L1030 126.67\" stroke=\"#7A0000\"")) << text;
  EXPECT_TRUE(has(text, ">height = lower bound</text>"));
  EXPECT_TRUE(has(text, ">1.56 KiB, 1600 B</text>"));
  EXPECT_TRUE(has(text, ">2.34 KiB, 2401 B \u2191</text>"));
  EXPECT_EQ(count(text, "stroke-dasharray"), 1);
  Picture picture = twoBuffers();
  picture.lines.back().bytes = 2400;
  EXPECT_EQ(count(svg(picture), "stroke-dasharray"), 2);
}

// 1680 bytes in at most 8 steps: 256 bytes each, up to 1536. Four times in at most 10: 1 each.
TEST(Plot, AxesHaveRoundNumbers) {
  std::string text = svg(twoBuffers());
  for (const char *tick : {"0 B", "256 B", "768 B", "1 KiB", "1.5 KiB"})
    EXPECT_TRUE(has(text, "text-anchor=\"end\">" + std::string(tick) + "</text>")) << tick;
  EXPECT_FALSE(has(text, ">1.75 KiB<"));
  for (const char *tick : {"0", "1", "2", "3", "4"})
    EXPECT_TRUE(has(text, "y=\"678\" text-anchor=\"middle\">" + std::string(tick) + "</text>"));
  EXPECT_EQ(byteStep(8 << 20), 1 << 20);
  EXPECT_EQ(byteStep((8 << 20) + 1), 2 << 20);
  EXPECT_EQ(timeStep(10), 1u);
  EXPECT_EQ(timeStep(11), 2u);
  EXPECT_EQ(timeStep(21), 5u);
  EXPECT_EQ(timeStep(~uint64_t(0)), 2'000'000'000'000'000'000u);
}

TEST(Plot, LegendCountsTheKindsThatThereAre) {
  std::string text = svg(twoBuffers());
  EXPECT_TRUE(has(text, ">activations (2)</text>"));
  EXPECT_FALSE(has(text, "unseen"));
  EXPECT_TRUE(has(text, ">live bytes</text>"));
}

// 1048575 bytes are 1023.999 KiB, which rounds to 1024.00: 1 MiB. 1152 = 1.125 KiB rounds up.
TEST(Plot, SizesAreRoundedIntoTheirUnit) {
  EXPECT_EQ(sizeText(0), "0 B");
  EXPECT_EQ(sizeText(1023), "1023 B");
  EXPECT_EQ(sizeText(1024), "1 KiB");
  EXPECT_EQ(sizeText(1152), "1.13 KiB");
  EXPECT_EQ(sizeText(1048575), "1 MiB");
  EXPECT_EQ(sizeText(int64_t(3) << 29), "1.5 GiB");
  EXPECT_EQ(sizeText(INT64_MAX), "8 EiB");
}

TEST(Plot, EscapesWhatUsersWrite) {
  EXPECT_EQ(escaped("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos;");
  EXPECT_EQ(escaped("\u00FC \u2192 \U0001F600"), "\u00FC \u2192 \U0001F600");
  const char *const replaced = "\uFFFD";
  EXPECT_EQ(escaped(std::string("\0", 1)), replaced);
  EXPECT_EQ(escaped("\x1B"), replaced);
  EXPECT_EQ(escaped("\xFF"), replaced);                               // no lead
  EXPECT_EQ(escaped("\xC3"), replaced);                               // cut off
  EXPECT_EQ(escaped("\xEF\xBF\xBF"), replaced);                       // U+FFFF: none in XML
  EXPECT_EQ(escaped("\xC0\xAF"), "\uFFFD\uFFFD");                     // overlong
  EXPECT_EQ(escaped("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");           // a surrogate
  EXPECT_EQ(escaped("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD"); // past U+10FFFF
  EXPECT_EQ(escaped("&&&", 2), "&amp;&amp;\u2026");
  Picture picture = twoBuffers();
  picture.title = picture.timeLabel = picture.rectangles[0].name = picture.kinds[0].name =
      picture.lines[0].name = "</svg>";
  picture.segments = {{"</svg>", 0}};
  EXPECT_EQ(count(svg(picture), "</svg>"), 1);
}

TEST(Plot, AnEmptyPictureSaysSo) {
  Picture picture;
  ASSERT_EQ(check(picture), std::nullopt);
  std::string text = svg(picture);
  EXPECT_TRUE(has(text, ">nothing to draw</text>"));
  EXPECT_TRUE(has(text, "</svg>\n"));
}

// 0 to 100 over 950 pixels: `x` begins at 80 + 95 = 175, and the 17 characters above it take 8 +
// 119 pixels from 80 on, up to 207: they stand in the second row, 14 pixels higher. `last` begins
// at 80 + 475 = 555.
TEST(Plot, NamesOfNarrowSegmentsTakeRowsOfTheirOwn) {
  Picture picture = twoBuffers();
  picture.timeEnd = 100;
  picture.segments = {{"first of them all", 0}, {"x", 10}, {"last", 50}};
  std::string text = svg(picture);
  EXPECT_TRUE(has(text, "<text x=\"84\" y=\"80\" fill=\"#333333\">first of them all</text>"))
      << text;
  EXPECT_TRUE(has(text, "<text x=\"179\" y=\"94\" fill=\"#333333\">x</text>")) << text;
  EXPECT_TRUE(has(text, "<text x=\"559\" y=\"94\" fill=\"#333333\">last</text>")) << text;
  EXPECT_TRUE(has(text, "at 0\n0 to 3, first of them all</title>"));
}

// Labels take 6 pixels a character and 6 more: 12 for `a`, 318 for 52 characters.
TEST(Plot, LabelsStandWhereTheyFit) {
  Picture picture = twoBuffers();
  EXPECT_EQ(count(svg(picture), ">a</text>"), 1);
  picture.timeEnd = 200; // `a` is 14.25 wide
  EXPECT_EQ(count(svg(picture), ">a</text>"), 1);
  picture.timeEnd = 300; // 9.5
  EXPECT_EQ(count(svg(picture), ">a</text>"), 0);
  picture = twoBuffers();
  picture.rectangles[1].bytes = 30; // 830 + 41 bytes over 560 pixels: 19.29
  EXPECT_EQ(count(svg(picture), ">b</text>"), 1);
  picture.rectangles[1].bytes = 15; // 815 + 40: 9.82
  EXPECT_EQ(count(svg(picture), ">b</text>"), 0);
}

TEST(Plot, LabelsLieOnTheLiveBytes) {
  std::string text = svg(twoBuffers());
  size_t live = text.find("stroke=\"#000000\" stroke-width=\"1.5\" pointer-events"),
         label = text.find(">a</text>");
  ASSERT_NE(live, std::string::npos);
  EXPECT_LT(live, label);
  size_t group = text.rfind("<g ", label);
  EXPECT_LT(live, group);
  EXPECT_TRUE(has(text.substr(group, label - group), "paint-order=\"stroke\""));
}

// Digits take 7 pixels, and 20 lie between two numbers: 19 digits and a sign are 160 of 950, which
// has room for 5 steps; 2^64 / 5 is 3.7 · 10^18, so 5 · 10^18 each. 10 digits are 90: 10 steps.
TEST(Plot, LongTimesAreFewer) {
  EXPECT_EQ(timeStep(~uint64_t(0), 5), 5'000'000'000'000'000'000u);
  EXPECT_EQ(timeStep(10, 5), 2u);
  auto ticks = [](int64_t begin, int64_t end) {
    Picture picture = twoBuffers();
    picture.timeBegin = begin;
    picture.timeEnd = end;
    return count(svg(picture), "y=\"678\" text-anchor=\"middle\">");
  };
  EXPECT_EQ(ticks(INT64_MIN, INT64_MAX), 3); // −5, 0 and 5 · 10^18
  EXPECT_EQ(ticks(1'000'000'000, 1'000'000'010), 11);
  EXPECT_EQ(ticks(1'000'000'000'000'000'000, 1'000'000'000'000'000'010), 6);
}

TEST(Plot, LongTitlesAreCutInTheMiddle) {
  EXPECT_EQ(shortened("abcdefg", 7), "abcdefg");
  EXPECT_EQ(shortened("abcdefgh", 7), "abcd\u2026fgh");
  EXPECT_EQ(shortened("<\u00FC<\u00FC<\xFF", 4), "&lt;\u00FC\u2026&lt;\uFFFD");
  Picture picture = twoBuffers();
  picture.title = "gpt2" + std::string(200, 'x') + "step=9.csv";
  std::string text = svg(picture);
  EXPECT_TRUE(has(text, "step=9.csv</text>")) << text;
  EXPECT_TRUE(has(text, ">gpt2xx"));
}

Picture many(int64_t buffers) {
  Picture picture = twoBuffers();
  picture.rectangles.clear();
  picture.timeEnd = buffers + 20;
  for (int64_t i = 0; i < buffers; ++i)
    picture.rectangles.push_back(
        {i, i + 20, i % 20 * 1000, 1000, 0, "transformer.layer." + std::to_string(i)});
  return picture;
}

TEST(Plot, FiveThousandBuffersFitInAMegabyteWithTheirTooltips) {
  std::string text = svg(many(5000));
  EXPECT_EQ(count(text, "<title>"), 5000);
  EXPECT_EQ(count(text, "transformer.layer."), 5000); // in tooltips, and no labels
  EXPECT_LT(text.size(), size_t(1) << 20);
}

TEST(Plot, BeyondTheLimitTheLargestAreDrawn) {
  Picture picture = many(kMaxDrawn + 1);
  picture.rectangles[7].bytes = 1; // the smallest
  std::string text = svg(picture);
  EXPECT_EQ(count(text, "<title>"), kMaxDrawn);
  EXPECT_FALSE(has(text, "transformer.layer.7\n"));
  EXPECT_TRUE(has(text, ">the largest 20000 of 20001 rectangles</text>"));
  EXPECT_LT(text.size(), size_t(5) << 20);
}

TEST(Plot, ExtremeNumbersStayOnThePage) {
  Picture picture = twoBuffers();
  picture.timeBegin = INT64_MIN;
  picture.timeEnd = INT64_MAX;
  picture.rectangles = {{INT64_MIN, INT64_MAX, 0, int64_t(1) << 61, 0, "all"},
                        {0, INT64_MAX, int64_t(1) << 61, 1, 0, "half"}};
  picture.lines = {{"far", int64_t(1) << 62}};
  ASSERT_EQ(check(picture), std::nullopt);
  std::string text = svg(picture);
  EXPECT_TRUE(has(text, "<rect x=\"80\" y=\"126.67\" width=\"950\" height=\"533.33\">")) << text;
  EXPECT_TRUE(has(text, "\nall the time</title>"));
  // Half of the time is half of the width; the byte is one hundredth of a pixel, the least there
  // is.
  EXPECT_TRUE(has(text, "<rect x=\"555\" y=\"126.66\" width=\"475\" height=\"0.01\"")) << text;
}

TEST(Plot, ChecksPictures) {
  auto wrong = [](auto change) {
    Picture picture = twoBuffers();
    change(picture);
    return check(picture).value_or("");
  };
  EXPECT_TRUE(has(wrong([](Picture &p) { p.rectangles[0].upper = 0; }), "lower below upper"));
  EXPECT_TRUE(has(wrong([](Picture &p) { p.rectangles[0].offset = -1; }), "place and a size"));
  EXPECT_TRUE(
      has(wrong([](Picture &p) { p.rectangles[0].bytes = INT64_MAX; }), "place and a size"));
  EXPECT_TRUE(has(wrong([](Picture &p) { p.rectangles[0].kind = 2; }), "one of 2 kinds, got 2"));
  EXPECT_TRUE(has(wrong([](Picture &p) { p.lines[0].bytes = -1; }), "line 'height'"));
  EXPECT_TRUE(has(wrong([](Picture &p) { p.timeEnd = -1; }), "ends behind its begin"));
  EXPECT_TRUE(has(wrong([](Picture &p) { p.liveUnitBytes = 0; }), "unit"));
  EXPECT_TRUE(has(wrong([](Picture &p) { p.segments = {{"s", 5}}; }), "segment 's'"));
  EXPECT_TRUE(has(wrong([](Picture &p) { p.segments = {{"s", 2}, {"t", 1}}; }), "segment 't'"));
  EXPECT_TRUE(has(wrong([](Picture &p) {
                    for (Rectangle &one : p.rectangles)
                      one.bytes = (int64_t(1) << 61) + 1, one.offset = 0;
                  }),
                  "2^62 bytes together"));
}

// [0,4) 64 bytes with a gap [1,2), [1,2) 64 bytes in it, one that lasts: 100 bytes, which take 128
// in units of 64 at the bottom. Height and bound 192.
TEST(Plot, DrawsAnArenasPlanWithItsGaps) {
  arena::Problem problem;
  problem.buffers = {
      {0, 0, 4, 64, 64}, {1, 1, 2, 64, 64}, {2, arena::kTimeBegin, arena::kTimeEnd, 100, 64}};
  problem.buffers[0].gaps = {{1, 2}};
  problem.buffers[1].name = "guest";
  problem.capacityBytes = 256;
  arena::Plan plan;
  plan.offsets = {128, 128, 0};
  plan.heightBytes = plan.lowerBoundBytes = 192;
  Picture picture = pictureOf(problem, plan);
  ASSERT_EQ(check(picture), std::nullopt);
  EXPECT_EQ(picture.timeBegin, 0);
  EXPECT_EQ(picture.timeEnd, 4);
  EXPECT_EQ(picture.liveUnitBytes, 64);
  ASSERT_EQ(picture.rectangles.size(), 4u);
  auto is = [&](size_t i, int64_t lower, int64_t upper, int64_t offset, const char *name) {
    const Rectangle &one = picture.rectangles[i];
    return one.lower == lower && one.upper == upper && one.offset == offset && one.name == name;
  };
  EXPECT_TRUE(is(0, 0, 1, 128, "0"));
  EXPECT_TRUE(is(1, 2, 4, 128, "0"));
  EXPECT_TRUE(is(2, 1, 2, 128, "1 guest"));
  EXPECT_TRUE(is(3, arena::kTimeBegin, arena::kTimeEnd, 0, "2"));
  ASSERT_EQ(picture.lines.size(), 3u);
  EXPECT_EQ(picture.lines[2].bytes, 256);
  // Live is 192 throughout: one step up and one down. 256 ≤ 1.5 · 192 sets the scale, 268 bytes
  // over 560 pixels: 192 are 401.19.
  EXPECT_TRUE(has(svg(picture), "d=\"M80 660V258.81H1030V660\"")) << svg(picture);
}

// Space 0: [0,10) 64 bytes, on them [2,4) 48, and behind both [0,4) 64: 128 high. Space 1: [0,4)
// 64, on top of it. Live are 192 until 4, as the second lies on the first, then 64.
TEST(Plot, StacksSpacesAndCountsSharedBytesOnce) {
  arena::Problem problem;
  problem.buffers = {{1, 0, 10, 64}, {2, 2, 4, 48}, {3, 0, 4, 64}, {4, 0, 4, 64}};
  problem.buffers[1].sharesWith = 1;
  problem.buffers[2].adjacentTo = 1;
  problem.buffers[3].space = 1;
  problem.capacityBytes = 150;
  arena::Plan plan = arena::plan(problem);
  ASSERT_EQ(arena::verify(problem, plan), std::nullopt);
  ASSERT_EQ(plan.offsets, (std::vector<int64_t>{0, 0, 64, 0}));
  Picture picture = pictureOf(problem, plan);
  ASSERT_EQ(check(picture), std::nullopt);
  EXPECT_EQ(picture.rectangles[2].offset, 64);
  EXPECT_EQ(picture.rectangles[3].offset, 128);
  EXPECT_EQ(picture.rectangles[0].sharing, picture.rectangles[1].sharing);
  EXPECT_NE(picture.rectangles[0].sharing, picture.rectangles[2].sharing);
  // 192 and a twentieth are 201 bytes over 560 pixels: 192 are 534.93, 64 are 178.31. 4 of 10 times
  // end at 80 + 380.
  std::string text = svg(picture);
  EXPECT_TRUE(has(text, "d=\"M80 660V125.07H460V481.69H1030V660\"")) << text;
  EXPECT_TRUE(has(text, "64 B (64 bytes) at 0 of space 1\n")) << text;
  EXPECT_TRUE(has(text, ">height = lower bound</text>")) << text;
  EXPECT_TRUE(has(text, ">top of space 0</text>"));
  EXPECT_FALSE(has(text, "capacity"));
  // Only space 0 is higher.
  problem.capacityBytes = 100;
  EXPECT_TRUE(has(svg(pictureOf(problem, plan)), ">capacity of space 0</text>"));
  EXPECT_FALSE(has(svg(pictureOf(problem, plan)), "capacity of space 1"));
}

// Of 8, 5 and 3 on the same bytes in [0,4), [2,6) and [5,9): 8 until 4, 5 until 6, 3 until 9.
TEST(Plot, OfSharersTheHighestIsLive) {
  Picture picture = twoBuffers();
  picture.timeEnd = 10;
  picture.rectangles = {{0, 4, 0, 8, 0, "a", 7}, {2, 6, 0, 5, 0, "b", 7}, {5, 9, 0, 3, 0, "c", 7}};
  picture.lines.clear();
  ASSERT_EQ(check(picture), std::nullopt);
  // 8 bytes over 560 pixels: 70 each. 95 pixels a unit of time.
  std::string text = svg(picture);
  EXPECT_TRUE(has(text, "d=\"M80 660V100H460V310H650V450H935V660\"")) << text;
  picture.floors = {{"one", 4}, {"two", 3}};
  EXPECT_TRUE(has(check(picture).value_or(""), "floor 'two'"));
}

// a 1 byte, b 4 bytes from a, c 1 byte from b, d 1 byte from a and c, in the order a b c a d. Live:
// a; a and b; b and c; c and the second a; both and d. A peak of 5.
TEST(Plot, DrawsACheckpointPlanBarByBar) {
  checkpoint::Problem problem;
  problem.nodes = {
      {7, 1, 1}, {8, 1, 4, false, {0}}, {9, 1, 1, false, {1}}, {10, 1, 1, true, {0, 2}}};
  problem.budgetBytes = 5;
  checkpoint::Plan plan;
  plan.computations = {0, 1, 2, 0, 3};
  plan.peakBytes = 5;
  Picture picture = pictureOf(problem, plan);
  ASSERT_EQ(check(picture), std::nullopt);
  ASSERT_EQ(picture.rectangles.size(), 5u);
  const int64_t bytes[] = {1, 5, 5, 2, 3}, kinds[] = {0, 0, 0, 2, 1};
  const char *const names[] = {"7", "8", "9", "7", "10"};
  for (size_t i = 0; i < 5; ++i) {
    const Rectangle &one = picture.rectangles[i];
    EXPECT_EQ(one.lower, static_cast<int64_t>(i));
    EXPECT_EQ(one.upper, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(one.offset, 0);
    EXPECT_EQ(one.bytes, bytes[i]) << i;
    EXPECT_EQ(one.kind, kinds[i]) << i;
    EXPECT_EQ(one.name, names[i]);
  }
  EXPECT_TRUE(has(svg(picture), ">peak = budget</text>"));
}

// 4001 computations of one node are 3 a bar: 1333 bars of 3 and one of 2, of which the first bar is
// split in one first computation and two more.
TEST(Plot, ManyComputationsShareBars) {
  checkpoint::Problem problem;
  problem.nodes = {{1, 1, 64}};
  checkpoint::Plan plan;
  plan.computations.assign(4001, 0);
  Picture picture = pictureOf(problem, plan);
  ASSERT_EQ(picture.rectangles.size(), 1335u);
  EXPECT_EQ(picture.rectangles[0].upper, 1);
  EXPECT_EQ(picture.rectangles[0].kind, 0);
  EXPECT_EQ(picture.rectangles[1].upper, 3);
  EXPECT_EQ(picture.rectangles[1].kind, 2);
  EXPECT_EQ(picture.rectangles[1].name, "1 to 1");
  EXPECT_EQ(picture.rectangles.back().upper, 4001);
}

} // namespace
