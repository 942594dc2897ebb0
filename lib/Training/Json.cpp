//===- Json.cpp - JSON with places and without surprises -----------------===//

#include "Json.h"

#include "llvm/ADT/StringSet.h"

namespace zero::training {
namespace {

/// llvm::json recurses once a level; files of interest have two or three.
constexpr size_t kMaxDepth = 64;

/// The byte just after the string that begins at `begin`, or the end of the text.
size_t skipString(llvm::StringRef text, size_t begin) {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return text.size();
}

/// The first byte at which brackets are nested too deep, or npos. Runs before the parser: up to the
/// first syntax error both see the same strings and brackets.
size_t findTooDeep(llvm::StringRef text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      i = skipString(text, i);
      continue;
    }
    if (text[i] == '{' || text[i] == '[') {
      if (++depth > kMaxDepth)
        return i;
    } else if ((text[i] == '}' || text[i] == ']') && depth > 0) {
      --depth;
    }
    ++i;
  }
  return llvm::StringRef::npos;
}

/// An open object or array, and the keys so far.
struct OpenValue {
  bool isArray = false;
  std::string path;
  llvm::StringSet<> keys;
};

/// Collects keys from valid JSON and refuses equal ones in any object.
llvm::Error collectKeys(llvm::StringRef text, llvm::StringRef file, bool withPaths,
                        JsonDocument &document) {
  std::vector<OpenValue> open;
  std::string value; // the path of a value that may begin here
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '{' || c == '[')
      open.push_back(
          {c == '[', !open.empty() && open.back().isArray ? open.back().path : value, {}});
    else if (c == '}' || c == ']')
      open.pop_back();
    if (c != '"') {
      ++i;
      continue;
    }
    size_t end = skipString(text, i);
    size_t next = text.find_first_not_of(" \t\r\n", end);
    if (next != llvm::StringRef::npos && text[next] == ':') {
      // Two spellings of one key (`a` and its \u escape) are one key.
      llvm::Expected<llvm::json::Value> key = llvm::json::parse(text.slice(i, end));
      if (!key)
        return key.takeError();
      llvm::StringRef name = *key->getAsString();
      if (!open.back().keys.insert(name).second)
        return inputError(locationAt(text, file, i),
                          "expects each key once, got " + quoted(name) + " twice");
      if (withPaths) {
        value = (open.back().path.empty() ? "" : open.back().path + ".") + name.str();
        document.paths.try_emplace(value, i);
      }
      if (open.size() == 1)
        document.keys[name] = i;
    }
    i = end;
  }
  return llvm::Error::success();
}

} // namespace

Location locationAt(llvm::StringRef text, llvm::StringRef file, size_t byte) {
  llvm::StringRef before = text.take_front(byte);
  size_t lineStart = before.rfind('\n');
  size_t column =
      lineStart == llvm::StringRef::npos ? before.size() : before.size() - lineStart - 1;
  return {file.str(), static_cast<unsigned>(before.count('\n') + 1),
          static_cast<unsigned>(column + 1)};
}

llvm::Expected<JsonDocument> parseJson(llvm::StringRef text, llvm::StringRef file, bool withPaths) {
  if (size_t deep = findTooDeep(text); deep != llvm::StringRef::npos)
    return inputError(locationAt(text, file, deep),
                      "expects JSON nested at most " + llvm::Twine(kMaxDepth) + " deep");
  llvm::Expected<llvm::json::Value> root = llvm::json::parse(text);
  if (!root) {
    // The place is private to the parser's error and comes back out of its text:
    // "[line:column, byte=offset]: message".
    std::string message = llvm::toString(root.takeError());
    llvm::StringRef rest = message;
    size_t byte = 0;
    size_t mark = rest.find("byte=");
    if (mark != llvm::StringRef::npos) {
      rest = rest.drop_front(mark + 5);
      rest.consumeInteger(10, byte);
      rest.consume_front("]: ");
    }
    // Most errors are found after the offending character was consumed.
    if (byte > 0 && rest != "Text after end of document" && rest != "Invalid UTF-8 sequence")
      --byte;
    return inputError(locationAt(text, file, byte), "expects JSON: " + rest);
  }
  JsonDocument document;
  document.root = std::move(*root);
  if (llvm::Error error = collectKeys(text, file, withPaths, document))
    return std::move(error);
  return std::move(document);
}

} // namespace zero::training
