//===- Progress.cpp - how far a run has come ------------------------------===//

#include "zero/Training/Progress.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <sys/ioctl.h>
#include <unistd.h>

namespace zero::training {
namespace {

constexpr double kRedrawSeconds = 0.1, kPlainSeconds = 10.0;
constexpr int64_t kPlainLines = 100;

unsigned terminalWidth(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Three digits and a unit: `981`, `15.3k`, `2.04M`.
void printRate(llvm::raw_ostream &os, double rate) {
  const char *unit = "";
  for (const char *next : {"k", "M", "G"}) {
    if (rate < 999.5)
      break;
    rate /= 1000.0;
    unit = next;
  }
  bool whole = *unit == '\0' || rate >= 99.95;
  os << llvm::format(whole ? "%.0f" : rate >= 9.995 ? "%.1f" : "%.2f", rate) << unit;
}

} // namespace

std::string formatDuration(double seconds) {
  // A year is as good as for ever; also keeps infinity out of the integers.
  int64_t total = static_cast<int64_t>(std::clamp(seconds, 0.0, 3.2e7) + 0.5);
  int64_t days = total / 86400, hours = total / 3600 % 24, minutes = total / 60 % 60;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (days)
    os << llvm::format("%dd%02dh", static_cast<int>(days), static_cast<int>(hours));
  else if (hours)
    os << llvm::format("%dh%02dm", static_cast<int>(hours), static_cast<int>(minutes));
  else if (minutes)
    os << llvm::format("%dm%02ds", static_cast<int>(minutes), static_cast<int>(total % 60));
  else
    os << total << 's';
  return text;
}

std::string formatProgress(const StepRecord &record, int64_t totalSteps,
                           std::optional<double> secondsLeft) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "step " << record.step + 1 << '/' << totalSteps;
  if (record.loss)
    os << "  loss " << llvm::format("%.4f", *record.loss);
  if (record.skipped)
    os << "  skipped";
  if (record.tokensPerSecond && std::isfinite(*record.tokensPerSecond)) {
    os << "  ";
    printRate(os, *record.tokensPerSecond);
    os << " tokens/s";
  }
  if (secondsLeft && std::isfinite(*secondsLeft))
    os << "  " << formatDuration(*secondsLeft) << " left";
  return text;
}

Progress::Progress(int fd, int64_t totalSteps, int64_t firstStep)
    : Progress(fd, totalSteps, firstStep, ::isatty(fd) == 1, 0) {}

Progress::Progress(int fd, int64_t totalSteps, int64_t firstStep, bool terminal, unsigned width)
    : fd(fd), totalSteps(totalSteps), firstStep(firstStep), terminal(terminal), fixedWidth(width) {}

Progress::~Progress() { finish(); }

void Progress::step(const StepRecord &record, double elapsed) {
  last = record;
  lastElapsed = elapsed;
  pending = true;
  bool first = stepsSeen++ == 0, final = record.step + 1 >= totalSteps;
  double since = elapsed - drawnAt;
  int64_t every = std::max<int64_t>(1, (totalSteps - firstStep + kPlainLines - 1) / kPlainLines);
  bool due =
      terminal ? since >= kRedrawSeconds : since >= kPlainSeconds || (record.step + 1) % every == 0;
  if (first || final || due)
    draw();
}

void Progress::draw() {
  pending = false;
  drawnAt = lastElapsed;
  // The first step pays for cold caches, but a guess is better than none.
  std::optional<double> left;
  if (stepsSeen > 0 && last.step + 1 < totalSteps)
    left = lastElapsed / static_cast<double>(stepsSeen) *
           static_cast<double>(totalSteps - last.step - 1);
  std::string text = formatProgress(last, totalSteps, left);
  if (!terminal) {
    write(text + "\n");
    return;
  }
  // The last column stays empty: some terminals wrap when it is written.
  unsigned width = fixedWidth ? fixedWidth : terminalWidth(fd);
  text.resize(std::min<size_t>(text.size(), width - 1));
  write("\r" + text + "\x1b[K");
  lineOpen = true;
}

void Progress::note(llvm::StringRef text) {
  write((lineOpen ? "\r\x1b[K" : "") + text.str() + "\n");
  if (lineOpen)
    draw();
}

void Progress::finish() {
  if (pending)
    draw();
  if (lineOpen)
    write("\n");
  lineOpen = false;
}

void Progress::write(llvm::StringRef text) {
  while (!text.empty()) {
    ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    // Training outlives a closed pipe or terminal.
    if (written <= 0)
      return;
    text = text.drop_front(static_cast<size_t>(written));
  }
}

} // namespace zero::training
