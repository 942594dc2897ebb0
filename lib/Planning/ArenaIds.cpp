//===- ArenaIds.cpp - buffers by their ids -------------------------------===//
#include "ArenaIds.h"

#include <algorithm>

namespace zero::planning::arena {

std::string Problem::idText(int64_t id) const {
  return idTexts && id >= 0 && size_t(id) < idTexts->size() ? (*idTexts)[id] : std::to_string(id);
}

std::optional<RepeatedId> findRepeatedId(std::span<const Buffer> buffers) {
  auto risesNot = [](const Buffer &a, const Buffer &b) { return a.id >= b.id; };
  if (std::adjacent_find(buffers.begin(), buffers.end(), risesNot) == buffers.end())
    return std::nullopt;
  {
    std::vector<int64_t> ids;
    ids.reserve(buffers.size());
    for (const Buffer &buffer : buffers)
      ids.push_back(buffer.id);
    std::sort(ids.begin(), ids.end());
    if (std::adjacent_find(ids.begin(), ids.end()) == ids.end())
      return std::nullopt;
  }
  std::unordered_map<int64_t, size_t> indexOf;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (auto [known, isNew] = indexOf.try_emplace(buffers[i].id, i); !isNew)
      return RepeatedId{known->second, i};
  return std::nullopt;
}

std::unordered_map<int64_t, int32_t> indexById(std::span<const Buffer> buffers) {
  std::unordered_map<int64_t, int32_t> index;
  for (size_t i = 0; i < buffers.size(); ++i)
    index.emplace(buffers[i].id, int32_t(i));
  return index;
}

} // namespace zero::planning::arena
