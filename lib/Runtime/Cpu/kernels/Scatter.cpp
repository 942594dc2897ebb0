//===- Scatter.cpp - sums of rows into a table ----------------------------===//
//
// Each hit table row takes its updates in index order, in f32, and is then
// written or added to once. Few updates find their equals by comparing pairs;
// many are threaded into one list per table row, in the workspace. Both visit
// the same updates in the same order.
//
//===----------------------------------------------------------------------===//
#include "Isa.h"
#include "Parts.h"
#include "Plan.h"
#include "Types.h"

namespace zrt::ZRT_ISA {
namespace {

/// Sum over first, next(first), … until −1, into one table row.
template <typename T, typename R, typename Next>
void sumRows(const T *updates, int64_t width, int64_t first, Next next, R *destination,
             bool accumulate) {
  for (int64_t j = 0; j < width; j += kLanes) {
    int64_t count = width - j;
    Float16 sum = loadFirst(updates + first * width + j, count);
    for (int64_t r = next(first); r >= 0; r = next(r))
      sum += loadFirst(updates + r * width + j, count);
    if (accumulate)
      sum = loadFirst(destination + j, count) + roundTo<R>(sum);
    storeFirst(destination + j, sum, count);
  }
}

template <typename R> void zero(R *p, int64_t count) {
  for (int64_t j = 0; j < count; j += kLanes)
    storeFirst(p + j, splat(0.0f), count - j);
}

template <typename T, typename R>
void scatterFew(const ScatterDesc &desc, const int32_t *indices, const T *updates, R *destination,
                bool accumulate) {
  if (!accumulate)
    zero(destination, desc.tableRows * desc.width);
  for (int64_t r = 0; r < desc.rows; ++r) {
    const int32_t index = indices[r];
    bool seen = index < 0 || index >= desc.tableRows;
    for (int64_t s = 0; s < r && !seen; ++s)
      seen = indices[s] == index;
    if (seen)
      continue;
    auto next = [&](int64_t from) {
      for (int64_t s = from + 1; s < desc.rows; ++s)
        if (indices[s] == index)
          return s;
      return int64_t(-1);
    };
    sumRows(updates, desc.width, r, next, destination + index * desc.width, accumulate);
  }
}

template <typename T, typename R>
void scatter(const ScatterDesc &desc, const int32_t *indices, const T *updates, R *destination,
             bool accumulate, char *workspace, ThreadTeam &team) {
  if (desc.rows <= kScatterPairs)
    return scatterFew(desc, indices, updates, destination, accumulate);
  int32_t *head = reinterpret_cast<int32_t *>(workspace), *following = head + desc.tableRows;
  for (int64_t t = 0; t < desc.tableRows; ++t)
    head[t] = -1;
  for (int64_t r = desc.rows - 1; r >= 0; --r) {
    const int32_t index = indices[r];
    if (index < 0 || index >= desc.tableRows)
      continue;
    following[r] = head[index];
    head[index] = int32_t(r);
  }
  const int64_t parts = smaller(team.size(), desc.tableRows);
  auto part = [&](int64_t p) {
    Range range = partOf(desc.tableRows, 1, p, parts);
    for (int64_t t = range.begin; t < range.end; ++t) {
      if (head[t] >= 0)
        sumRows(
            updates, desc.width, head[t], [&](int64_t r) { return int64_t(following[r]); },
            destination + t * desc.width, accumulate);
      else if (!accumulate)
        zero(destination + t * desc.width, desc.width);
    }
  };
  runParts(team, parts, part);
}

} // namespace

void scatterAdd(const ScatterDesc &desc, const int32_t *indices, const void *updates,
                void *destination, bool accumulate, char *workspace, ThreadTeam &team) {
  withTypes(desc.type, desc.resultType, [&]<typename T, typename R>(T, R) {
    scatter(desc, indices, static_cast<const T *>(updates), static_cast<R *>(destination),
            accumulate, workspace, team);
  });
}

} // namespace zrt::ZRT_ISA
