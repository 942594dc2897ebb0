#include "zero/Training/Sizes.h"
#include "TestFiles.h"

namespace zero::training {
namespace {

TEST(Sizes, Sizes) {
  auto size = [](llvm::StringRef text) { return unwrap(parseSize("--bucket-bytes", text)); };
  EXPECT_EQ(size("0"), 0);
  EXPECT_EQ(size("4096"), 4096);
  EXPECT_EQ(size("64KiB"), 65536);
  EXPECT_EQ(size("1MiB"), 1048576);
  EXPECT_EQ(size("1.5GiB"), 1610612736);  // 1.5 · 1073741824
  EXPECT_EQ(size("2TiB"), 2199023255552); // 2 · 2^40
  EXPECT_EQ(size("0.3KiB"), 307);         // 307.2
  EXPECT_EQ(size("0.1GiB"), 107374182);   // 107374182.4
  EXPECT_EQ(size("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(size("8388607TiB"), 8388607 * (int64_t(1) << 40));
  EXPECT_EQ(size("0.00000000000000000001KiB"), 0);
}

TEST(Sizes, OtherUnitsAreRefused) {
  for (const char *text : {"80GB", "1K", "1KB", "1kib", "KiB", "", " 1", "1 KiB", "-1", "+1", "1e6",
                           "1.KiB", ".5KiB", "1.5", "1..5KiB", "1.2.3KiB", "0x10", "1KiBKiB"})
    EXPECT_EQ(
        errorOf(parseSize("--bucket-bytes", text)),
        std::string(
            "expects --bucket-bytes to be bytes, such as 4096, 64KiB, 1MiB, 1.5GiB or 2TiB, got ") +
            (*text ? text : "nothing"));
}

TEST(Sizes, SizesOutOfRange) {
  EXPECT_EQ(errorOf(parseSize("--bucket-bytes", "0", 1)),
            "expects --bucket-bytes of at least 1 bytes, got 0");
  EXPECT_EQ(errorOf(parseSize("--bucket-bytes", "2KiB", 1, 1024)),
            "expects --bucket-bytes between 1 and 1024 bytes, got 2KiB");
  // 2^63, twice: as digits, and as 2^23 units of 2^40.
  for (const char *text :
       {"9223372036854775808", "8388608TiB", "99999999999999999999999999999999999999999999999"})
    EXPECT_EQ(errorOf(parseSize("--x", text)),
              std::string("expects --x of at most 9223372036854775807 bytes, got ") + text);
}

TEST(Sizes, Integers) {
  EXPECT_EQ(unwrap(parseInteger("--ranks", "4096", 1, 4096)), 4096);
  EXPECT_EQ(unwrap(parseInteger("--label", "-100", -1000)), -100);
  EXPECT_EQ(errorOf(parseInteger("--ranks", "100000", 1, 4096)),
            "expects --ranks between 1 and 4096, got 100000");
  EXPECT_EQ(errorOf(parseInteger("--ranks", "0", 1, 4096)),
            "expects --ranks between 1 and 4096, got 0");
  EXPECT_EQ(errorOf(parseInteger("--steps", "-1", 0)), "expects --steps of at least 0, got -1");
  EXPECT_EQ(errorOf(parseInteger("--steps", "99999999999999999999", 0)),
            "expects --steps of at most 9223372036854775807, got 99999999999999999999");
  EXPECT_EQ(errorOf(parseInteger("--steps", "-99999999999999999999", 0)),
            "expects --steps of at least 0, got -99999999999999999999");
  for (const char *text : {"3x", " 3", "3 ", "+3", "3.0", "1e3", "three", "0x3"})
    EXPECT_EQ(errorOf(parseInteger("--steps", text, 0)),
              std::string("expects --steps to be an integer, got ") + text);
  EXPECT_EQ(errorOf(parseInteger("--steps", "", 0)),
            "expects --steps to be an integer, got nothing");
}

TEST(Sizes, Seeds) {
  EXPECT_EQ(unwrap(parseUnsigned("--seed", "18446744073709551615")), UINT64_MAX);
  for (const char *text : {"18446744073709551616", "-1", "1.5"})
    EXPECT_EQ(
        errorOf(parseUnsigned("--seed", text)),
        std::string("expects --seed to be an integer between 0 and 18446744073709551615, got ") +
            text);
}

TEST(Sizes, Floats) {
  EXPECT_EQ(unwrap(parseFloat("--lr", "1e-3", 0)), 1e-3);
  EXPECT_EQ(unwrap(parseFloat("--beta1", "1", 0, 1)), 1.0);
  EXPECT_EQ(errorOf(parseFloat("--beta1", "1.5", 0, 1)),
            "expects --beta1 between 0 and 1, got 1.5");
  EXPECT_EQ(errorOf(parseFloat("--lr", "-1e-3", 0)), "expects --lr of at least 0, got -1e-3");
  for (const char *text : {"nan", "inf", "1e-3f", "1,5", " 1", "0x1p3"})
    EXPECT_EQ(errorOf(parseFloat("--lr", text, 0)),
              std::string("expects --lr to be a finite number, got ") + text);
  EXPECT_EQ(errorOf(parseFloat("--lr", "1e999", 0)),
            "expects --lr to be a number that 64-bit floating point can hold, got 1e999");
}

TEST(Sizes, Choices) {
  EXPECT_EQ(unwrap(parseChoice("--schedule", "linear", {"constant", "linear"})), 1u);
  EXPECT_EQ(errorOf(parseChoice("--schedule", "step", {"constant", "linear"})),
            "expects --schedule to be one of constant, linear, got step");
}

TEST(Sizes, Format) {
  EXPECT_EQ(formatSize(0), "0 B");
  EXPECT_EQ(formatSize(1023), "1023 B");
  EXPECT_EQ(formatSize(1024), "1.00 KiB");
  EXPECT_EQ(formatSize(1610612736), "1.50 GiB");
  EXPECT_EQ(formatSize(int64_t(1) << 41), "2.00 TiB");
}

} // namespace
} // namespace zero::training
