//===- Command.cpp - what zero-plan's subcommands share --------------------===//
#include "Command.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

int fail(const llvm::Twine &message) {
  llvm::errs() << message << "\n";
  return 1;
}

int wrongFlag(const llvm::Twine &message) {
  llvm::errs() << "zero-plan: " << message << "\n";
  return 2;
}

int failAt(const std::string &input, llvm::StringRef error) {
  auto [place, message] = error.split(": ");
  return fail(input + ":" + place + ": error: " + message);
}

std::unique_ptr<llvm::MemoryBuffer> readInput(const std::string &input) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(input, /*IsText=*/true);
  if (file)
    return std::move(*file);
  fail(input + ": error: " + file.getError().message());
  return nullptr;
}

bool readSeconds(const Flag &flag, double &value) {
  if (!flag.getNumOccurrences() ||
      (llvm::to_float(llvm::StringRef(flag), value) && value > 0 && value <= 1e9))
    return true;
  wrongFlag("expects --" + flag.ArgStr + " to be a number above 0 and at most 1e9, got '" +
            llvm::StringRef(flag) + "'");
  return false;
}

bool isSameFile(const std::string &path, const std::string &other) {
  auto whole = [](const std::string &path) {
    llvm::SmallString<256> text(path);
    llvm::sys::fs::make_absolute(text);
    llvm::sys::path::remove_dots(text, /*remove_dot_dot=*/true);
    return text;
  };
  bool isSame = false;
  return path != "-" && other != "-" &&
         (whole(path) == whole(other) ||
          (!llvm::sys::fs::equivalent(path, other, isSame) && isSame));
}

bool outputsDiffer(const std::string &input, const Flag &output, const Flag &plot) {
  for (const Flag *flag : {&output, &plot})
    if (flag->getNumOccurrences() && flag->empty()) {
      wrongFlag("expects " + llvm::Twine(flag == &output ? "-o" : "--plot") +
                " to be the name of a file, got ''");
      return false;
    }
  if (!plot.empty() && isSameFile(plot, input)) {
    wrongFlag("expects --plot to be another file than the input, got " + plot);
    return false;
  }
  if (output.empty() || plot.empty() || (output != plot && !isSameFile(output, plot)))
    return true;
  wrongFlag("expects outputs of different names, got " + llvm::StringRef(output) +
            " for -o and --plot");
  return false;
}

namespace {

int writeInPlace(const std::string &path, const std::string &text) {
  std::error_code error;
  llvm::ToolOutputFile written(path, error, llvm::sys::fs::OF_None);
  if (error)
    return fail(path + ": error: " + error.message());
  written.os() << text;
  written.os().flush();
  if (written.os().has_error()) {
    error = written.os().error();
    written.os().clear_error();
    return fail(path + ": error: " + error.message());
  }
  written.keep();
  return 0;
}

} // namespace

int write(const std::string &path, const std::string &text) {
  // Devices and pipes take the bytes as they come; so do a link, which stays one, and what stands
  // in a folder where nothing new may be made.
  llvm::sys::fs::file_status status;
  llvm::sys::fs::status(path, status, /*follow=*/false);
  if (path == "-" ||
      (llvm::sys::fs::exists(status) && status.type() != llvm::sys::fs::file_type::regular_file))
    return writeInPlace(path, text);
  if (llvm::sys::fs::exists(status) && !llvm::sys::fs::can_write(path))
    return writeInPlace(path, text); // which says why not
  auto file = llvm::sys::fs::TempFile::create(path + ".%%%%%%",
                                              llvm::sys::fs::all_read | llvm::sys::fs::all_write);
  if (!file) {
    llvm::consumeError(file.takeError());
    return writeInPlace(path, text);
  }
  llvm::raw_fd_ostream out(file->FD, /*shouldClose=*/false);
  out << text;
  out.flush();
  llvm::Error error = llvm::Error::success();
  if (out.has_error()) {
    error = joinErrors(llvm::errorCodeToError(out.error()), file->discard());
    out.clear_error();
  } else {
    error = file->keep(path);
  }
  return error ? fail(path + ": error: " + errorToErrorCode(std::move(error)).message()) : 0;
}

int writePlot(const std::string &path, const std::string &input,
              zero::planning::plot::Picture picture) {
  picture.title = input == "-" ? "standard input" : llvm::sys::path::filename(input).str();
  if (auto message = zero::planning::plot::check(picture))
    return fail(input + ": error: cannot be drawn: " + *message);
  return write(path, zero::planning::plot::svg(picture));
}
