//===- Command.h - what zero-plan's subcommands share ----------------------===//
//
// Reading the input, numbers in flags, writing results. Messages go to the
// standard error; functions that return an int return an exit code: 0, 1 for bad
// input or output, 2 for wrong flags.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TOOLS_ZEROPLAN_COMMAND_H
#define ZERO_TOOLS_ZEROPLAN_COMMAND_H

#include "zero/Planning/Plot.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>

using Flag = llvm::cl::opt<std::string>;

int fail(const llvm::Twine &message);
int wrongFlag(const llvm::Twine &message);

/// Says where in `input` the reader of CSV found `error`, which is `line:column: message`.
int failAt(const std::string &input, llvm::StringRef error);

/// The whole file, or standard input for `-`; null, with a message, where it cannot be read.
std::unique_ptr<llvm::MemoryBuffer> readInput(const std::string &input);

/// A number above 0 and up to 10^9 into `value`, which stays as it is without the flag; false, with
/// a message, for anything else.
bool readSeconds(const Flag &flag, double &value);

/// False, with a message, for one file as two outputs, for a name of nothing, and for a plot in the
/// place of the input.
bool outputsDiffer(const std::string &input, const Flag &output, const Flag &plot);

/// True where both paths are written for one file that is not a standard stream.
bool isSameFile(const std::string &path, const std::string &other);

/// Writes `text` to `path`, or to standard output for `-`. A file comes into its place whole, so
/// that whatever ends the process leaves there what stood before, or all of the text.
int write(const std::string &path, const std::string &text);

/// Draws the picture under the name of its input.
int writePlot(const std::string &path, const std::string &input,
              zero::planning::plot::Picture picture);

#endif // ZERO_TOOLS_ZEROPLAN_COMMAND_H
