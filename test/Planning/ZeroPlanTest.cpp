//===- ZeroPlanTest.cpp - zero-plan as its user runs it ------------------===//
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct Outcome {
  int code = -1;
  std::string text; // both streams
};

Outcome zeroPlan(const std::string &arguments) {
  Outcome outcome;
  std::string command = std::string(ZERO_BIN_DIR "/zero-plan ") + arguments + " 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (size_t count = fread(buffer, 1, sizeof buffer, pipe))
    outcome.text.append(buffer, count);
  outcome.code = WEXITSTATUS(pclose(pipe));
  return outcome;
}

std::string path(const std::string &name) {
  return testing::TempDir() + "/zero-plan-" + std::to_string(getpid()) + "-" + name;
}

std::string written(const std::string &name, const std::string &text) {
  std::ofstream(path(name)) << text;
  return path(name);
}

bool has(const Outcome &outcome, const std::string &part) {
  return outcome.text.find(part) != std::string::npos;
}

/// 64 + 128 alive at time 2.
const char *const kThree = "id,lower,upper,size\n0,0,2,64\n1,1,3,64\n2,2,4,128\n";

TEST(ZeroPlan, PrintsBoundHeightRatioStatusSeconds) {
  std::string file = written("three.csv", kThree), out = path("out.csv");
  Outcome outcome = zeroPlan("arena " + file + " -o " + out);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_TRUE(has(outcome, "lower bound 192\nheight      192\nratio       1.000000\n"
                           "status      optimal\nseconds     "))
      << outcome.text;
  std::stringstream text;
  text << std::ifstream(out).rdbuf();
  EXPECT_EQ(text.str(), "id,lower,upper,size,offset\n0,0,2,64,64\n1,1,3,64,0\n2,2,4,128,64\n");
  std::remove(file.c_str());
  std::remove(out.c_str());
}

TEST(ZeroPlan, CapacityAndAlignmentTakeUnits) {
  std::string file = written("units.csv", kThree);
  Outcome outcome = zeroPlan("arena " + file + " --alignment 1KiB --capacity 2KiB");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(has(outcome, "height      2048")) << outcome.text; // two of 1024 alive
  outcome = zeroPlan("arena " + file + " --capacity 191");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome, "status      infeasible")) << outcome.text;
  std::remove(file.c_str());
}

/// In space 0 buffer 2 lies on 1, and 3 behind it: 128. Space 1 has 64. Each stays below 150,
/// though the sum does not.
TEST(ZeroPlan, CapacityHoldsForEachSpace) {
  std::string file =
      written("spaces.csv", "id,lower,upper,size,shares,adjacent,space\n1,0,10,64,,,0\n"
                            "2,2,4,64,1,,0\n3,0,4,64,,1,0\n4,0,4,64,,,1\n");
  Outcome outcome = zeroPlan("arena " + file + " --capacity 150");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(has(outcome, "height      192\nspace 0 height 128\nspace 1 height 64\nratio"))
      << outcome.text;
  EXPECT_TRUE(has(outcome, "status      optimal")) << outcome.text;
  EXPECT_EQ(zeroPlan("arena " + file + " --capacity 127").code, 1);
  std::remove(file.c_str());
}

TEST(ZeroPlan, ThreadsKeepThePlanAndSecondsEndTheSearch) {
  // 2 bytes fixed at 2 leave 3 others only the place above: 7, though 5 are alive.
  std::string file = written("effort.csv", "id,lower,upper,size,offset\n0,0,1,2,2\n1,0,1,3,\n");
  Outcome outcome = zeroPlan("arena " + file + " --seconds 60 --threads 2");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_TRUE(has(outcome, "lower bound 5\nproved      7\nheight      7\n")) << outcome.text;
  EXPECT_TRUE(has(outcome, "status      optimal")) << outcome.text;
  outcome = zeroPlan("arena " + file + " --capacity 6");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome, "status      infeasible")) << outcome.text;
  std::remove(file.c_str());
}

/// The forms of zero-run's flags: 0.1875KiB are 192 bytes, 0.186KiB 190.46.
TEST(ZeroPlan, SizesTakeFractionsAndTebibytes) {
  std::string file = written("sizes.csv", kThree);
  for (const char *capacity : {"192", "0.1875KiB", "1.5GiB", "2TiB"})
    EXPECT_EQ(zeroPlan("arena " + file + " --capacity " + capacity).code, 0) << capacity;
  EXPECT_EQ(zeroPlan("arena " + file + " --capacity 0.186KiB").code, 1);
  for (const char *wrong : {"1.5", "1GB", "1M", "1.GiB", "1 GiB", "x", "-1", "1e3"}) {
    Outcome outcome = zeroPlan("arena " + file + " --capacity '" + wrong + "'");
    EXPECT_EQ(outcome.code, 2) << wrong;
    EXPECT_EQ(outcome.text, "zero-plan: expects --capacity to be bytes, such as 4096, 64KiB, 1MiB, "
                            "1.5GiB or 2TiB, got " +
                                std::string(wrong) + "\n");
  }
  EXPECT_EQ(zeroPlan("arena " + file + " --alignment 0").text,
            "zero-plan: expects --alignment of at least 1 bytes, got 0\n");
  std::ofstream(file) << "id,cost,bytes,inputs\n0,1,512,\n";
  for (const char *budget : {"512", "0.5KiB", "1.0", "1TiB", "0.5KiB,1.5GiB,1.0"})
    EXPECT_EQ(zeroPlan("checkpoint " + file + " --budget " + budget).code, 0) << budget;
  Outcome outcome = zeroPlan("checkpoint " + file + " --budget 0.5KB");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(has(outcome, "1.5GiB or 2TiB, or a fraction with a decimal point, such as 0.8, got "
                           "'0.5KB'"))
      << outcome.text;
  std::remove(file.c_str());
}

TEST(ZeroPlan, BadInputIsOne) {
  std::string file = written("bad.csv", "id,lower,upper,size\n0,5,5,1\n");
  Outcome outcome = zeroPlan("arena " + file);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.text, file + ":2:5: error: expects upper above lower 5, got '5'\n");
  EXPECT_EQ(zeroPlan("arena " + file + ".missing").code, 1);
  std::ofstream(file) << kThree;
  EXPECT_EQ(zeroPlan("arena " + file + " -o /nonexistent/out.csv").code, 1);
  std::remove(file.c_str());
}

/// Each lives for half of the time: 475 of 950 pixels.
TEST(ZeroPlan, PlotsThePlan) {
  std::string file = written("plot.csv", kThree), svg = path("plot.svg");
  EXPECT_EQ(zeroPlan("arena " + file + " --plot " + svg).code, 0);
  std::stringstream text;
  text << std::ifstream(svg).rdbuf();
  EXPECT_NE(text.str().find("width=\"475\""), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("<title>2\n128 B (128 bytes) at "), std::string::npos);
  EXPECT_NE(text.str().find(">height = lower bound</text>"), std::string::npos);
  Outcome outcome = zeroPlan("arena " + file + " --plot -");
  EXPECT_TRUE(has(outcome, text.str())) << outcome.text;
  // Above the capacity there is a plan to look at, and none to write.
  outcome = zeroPlan("arena " + file + " --capacity 191 --plot -");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome, ">capacity</text>")) << outcome.text;
  EXPECT_EQ(zeroPlan("arena " + file + " --plot /nonexistent/x.svg").code, 1);
  outcome = zeroPlan("arena " + file + " -o " + svg + " --plot " + svg);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.text,
            "zero-plan: expects outputs of different names, got " + svg + " for -o and --plot\n");
  std::remove(file.c_str());
  std::remove(svg.c_str());
}

/// a 1 byte; b 4 bytes from a; c 1 byte from b; d 1 byte from a and c. With 6 bytes each is
/// computed once, at cost 10; with 5 a is computed again, at cost 1; b takes 5 with its input.
TEST(ZeroPlan, CheckpointPrintsARowForEachBudget) {
  std::string file =
      written("budgets.csv", "id,cost,bytes,inputs\n10,1,1,\n11,2,4,10\n12,3,1,11\n13,4,1,10 12\n");
  Outcome outcome = zeroPlan("checkpoint " + file + " --budget 6,5,1.0");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.text, "base peak 6\nfloor     5\nbudget peak ratio bound status\n"
                          "6 6 1.000000 1.000000 optimal\n"
                          "5 5 1.100000 1.100000 optimal\n"
                          "6 6 1.000000 1.000000 optimal\n");
  outcome = zeroPlan("checkpoint " + file + " --budget 5,4");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome, "5 5 1.100000 1.100000 optimal\n4 - - 1.100000 infeasible\n"))
      << outcome.text;
  EXPECT_TRUE(has(outcome, "expects a budget of at least 5 bytes, which node 11 takes with its "
                           "inputs, got 4\n"))
      << outcome.text;
  outcome = zeroPlan("checkpoint " + file + " --budget 5,x");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(has(outcome, "got 'x'")) << outcome.text;
  outcome = zeroPlan("checkpoint " + file + " --budget 5,6 -o " + path("none.csv"));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.text, "zero-plan: expects one --budget with -o and --plot, got 2\n");
  std::remove(file.c_str());
}

TEST(ZeroPlan, CheckpointWritesAndDraws) {
  std::string file =
      written("draws.csv", "id,cost,bytes,inputs\n10,1,1,\n11,2,4,10\n12,3,1,11\n13,4,1,10 12\n");
  std::string out = path("draws.plan"), svg = path("draws.svg");
  EXPECT_EQ(zeroPlan("checkpoint " + file + " --budget 5 -o " + out + " --plot " + svg).code, 0);
  std::stringstream text, drawn;
  text << std::ifstream(out).rdbuf();
  EXPECT_EQ(text.str(), "id\n10\n11\n12\n10\n13\n");
  drawn << std::ifstream(svg).rdbuf();
  EXPECT_NE(drawn.str().find("<svg"), std::string::npos);
  EXPECT_NE(drawn.str().find("</svg>"), std::string::npos);
  for (const char *flag : {"-o", "--plot"}) {
    Outcome outcome =
        zeroPlan("checkpoint " + file + " --budget 5 " + flag + " /nonexistent/x.txt");
    EXPECT_EQ(outcome.code, 1) << flag;
    EXPECT_TRUE(has(outcome, "/nonexistent/x.txt: error: ")) << outcome.text;
  }
  // However long it may look, it ends where plan and bound meet, and with the same plan.
  EXPECT_EQ(zeroPlan("checkpoint " + file + " --budget 5 --seconds 0.01 -o " + out).code, 0);
  EXPECT_EQ(zeroPlan("checkpoint " + file + " --budget 5 --seconds 60 -o " + svg).code, 0);
  for (const std::string &written : {out, svg}) {
    std::stringstream again;
    again << std::ifstream(written).rdbuf();
    EXPECT_EQ(again.str(), text.str()) << written;
  }
  // Below the floor no file is written, and the node is named.
  std::remove(out.c_str());
  Outcome outcome = zeroPlan("checkpoint " + file + " --budget 4 -o " + out);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome, "expects a budget of at least 5 bytes, which node 11 takes"))
      << outcome.text;
  EXPECT_FALSE(std::ifstream(out).good());
  for (const char *flags :
       {"", "--budget", "--budget ''", "--budget 5,", "--budget -1", "--budget 0x5", "--budget .",
        "--budget 5 --seconds 0", "--budget 5 --threads 2", "--budget 5 -o x --plot x"})
    EXPECT_EQ(zeroPlan("checkpoint " + file + " " + flags).code, 2) << flags;
  std::remove(file.c_str());
  std::remove(svg.c_str());
}

/// 16 times 2^60 is 2^64, more than any number of bytes: everything fits.
TEST(ZeroPlan, FractionsBeyond63BitsAreAllBytes) {
  std::string file = written("vast.csv", "id,cost,bytes,inputs\n0,1,1152921504606846976,\n");
  for (const char *budget : {"7.0", "8.0", "16.0", "1000000.0"}) {
    Outcome outcome = zeroPlan("checkpoint " + file + " --budget " + budget);
    EXPECT_EQ(outcome.code, 0) << budget;
    EXPECT_TRUE(has(outcome, "status    optimal")) << outcome.text;
  }
  std::remove(file.c_str());
}

std::string contentOf(const std::string &path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Whoever has the old file open, or has linked to it, keeps all of it: an output is never cut
/// short and filled again, so nothing that ends the process leaves half of one.
TEST(ZeroPlan, OutputsComeIntoTheirPlacesWhole) {
  std::string file = written("whole.csv", kThree), out = written("whole.out", "old");
  std::string linked = path("whole.linked"), symbolic = path("whole.symbolic");
  ASSERT_EQ(link(out.c_str(), linked.c_str()), 0);
  ASSERT_EQ(symlink(linked.c_str(), symbolic.c_str()), 0);
  EXPECT_EQ(zeroPlan("arena " + file + " -o " + out).code, 0);
  EXPECT_EQ(contentOf(linked), "old");
  std::string plan = contentOf(out);
  EXPECT_NE(plan.find("id,lower,upper,size,offset\n"), std::string::npos);
  // What is no file, or only leads to one, stays what it is.
  EXPECT_EQ(zeroPlan("arena " + file + " -o " + symbolic).code, 0);
  EXPECT_EQ(contentOf(linked), plan);
  EXPECT_TRUE(has(zeroPlan("arena " + file + " -o /dev/stdout"), plan));
  Outcome full = zeroPlan("arena " + file + " -o /dev/full");
  EXPECT_EQ(full.code, 1);
  EXPECT_TRUE(has(full, "/dev/full: error: No space left on device\n")) << full.text;
  // The problem in the place of itself, with its offsets.
  EXPECT_EQ(zeroPlan("arena " + file + " -o " + file).code, 0);
  EXPECT_EQ(contentOf(file), plan);
  for (const std::string &name : {file, out, linked, symbolic})
    std::remove(name.c_str());
}

TEST(ZeroPlan, OutputsSpareTheInputAndEachOther) {
  const char *const kNode = "id,cost,bytes,inputs\n0,1,1,\n";
  std::string file = written("spared.csv", kNode), folder = testing::TempDir() + "/./";
  std::string again = folder + file.substr(file.rfind('/') + 1);
  for (const std::string &name : {file, again})
    for (const char *flag : {"-o ", "--plot "}) {
      Outcome outcome = zeroPlan("checkpoint " + file + " --budget 1 " + flag + name);
      EXPECT_EQ(outcome.code, 2) << flag << name;
      EXPECT_TRUE(has(outcome, "to be another file than the input, got " + name)) << outcome.text;
    }
  Outcome outcome = zeroPlan("checkpoint " + file + " --budget 1 -o " + path("x") + " --plot " +
                             folder + path("x").substr(path("x").rfind('/') + 1));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(has(outcome, "expects outputs of different names")) << outcome.text;
  EXPECT_EQ(contentOf(file), kNode);
  for (const char *flag : {"-o", "--plot"}) {
    outcome = zeroPlan("checkpoint " + file + " --budget 1 " + flag + " ''");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.text,
              "zero-plan: expects " + std::string(flag) + " to be the name of a file, got ''\n");
  }
  std::remove(file.c_str());
}

TEST(ZeroPlan, TellsItsVersionBeforeThatOfLLVM) {
  Outcome outcome = zeroPlan("--version");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.text.find("Zero version "), 0u) << outcome.text;
  EXPECT_TRUE(has(outcome, "LLVM version ")) << outcome.text;
}

TEST(ZeroPlan, WrongFlagsAreTwo) {
  std::string file = written("flags.csv", kThree);
  for (const char *flags : {"", "arena", "checkpoint x.csv", "arena x.csv y.csv", "--stage 3"})
    EXPECT_EQ(zeroPlan(flags).code, 2) << flags;
  for (const char *flag :
       {"--seconds 0", "--seconds x", "--seconds nan", "--seconds 1e10", "--threads 0",
        "--threads x", "--capacity 0", "--capacity -1", "--capacity 3x", "--capacity 9999999999GiB",
        "--alignment 0", "--capacity"})
    EXPECT_EQ(zeroPlan("arena " + file + " " + flag).code, 2) << flag;
  EXPECT_EQ(zeroPlan("--help").code, 0);
  std::remove(file.c_str());
}

} // namespace
