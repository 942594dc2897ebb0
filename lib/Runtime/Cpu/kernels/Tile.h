//===- Tile.h - the register tile and its packed operands -----------------===//
//
// All matrix work, in GEMM as in attention, is done by one inner loop: a tile
// of C held in registers, MR rows by NV vectors of 16 columns, takes a column
// of A (broadcast) times a row of B per step of k. Every element of C is thus
// one chain of multiply-adds in the order of k, whatever tile it falls into, so
// tile sizes, tails and threads cannot show in the bits (N0).
//
// B is packed in slivers as wide as the tile, A in groups of kTileRows rows,
// column by column. Values of 16 bits become f32 as they are packed.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_RUNTIME_CPU_KERNELS_TILE_H
#define ZERO_LIB_RUNTIME_CPU_KERNELS_TILE_H

#include "Types.h"

namespace zrt::ZRT_ISA {

// Accumulators, one row of B and one broadcast must fit the registers: 32 of 16 lanes, 16 of 8
// lanes, 16 of 4 lanes.
#if defined(__AVX512F__)
inline constexpr int kTileRows = 12, kTileVectors = 2, kGroupStep = 16;
#elif defined(__AVX2__)
inline constexpr int kTileRows = 6, kTileVectors = 1, kGroupStep = 8;
#else
inline constexpr int kTileRows = 2, kTileVectors = 1, kGroupStep = 2;
#endif
inline constexpr int64_t kSliver = kTileVectors * kLanes;

/// Width of the sliver that starts at column j of n.
ZRT_INLINE int64_t sliverWidth(int64_t n, int64_t j) {
  return n - j > kLanes && kTileVectors > 1 ? kSliver : kLanes;
}

/// How the left operand of a block lies in memory: element (i, k) at k·step + i, as in packed
/// groups and transposed matrices, or at i·RowStep + k with a RowStep that the compiler knows, so
/// that the tile's rows are fixed distances from one pointer.
inline constexpr int kColumns = 0;

template <int MR, int NV, int RowStep>
static void tile(int64_t k, const float *a, int64_t step, const float *b, float *c, int64_t cRow,
                 bool add) {
  constexpr int width = NV * kLanes;
  Float16 sum[MR][NV];
#pragma clang loop unroll(full)
  for (int i = 0; i < MR; ++i)
#pragma clang loop unroll(full)
    for (int v = 0; v < NV; ++v)
      sum[i][v] = splat(0.0f);
#pragma clang loop unroll_count(2)
  for (int64_t kk = 0; kk < k; ++kk) {
    Float16 row[NV];
#pragma clang loop unroll(full)
    for (int v = 0; v < NV; ++v)
      row[v] = load(b + v * kLanes);
#pragma clang loop unroll(full)
    for (int i = 0; i < MR; ++i) {
      Float16 left = splat(RowStep == kColumns ? a[i] : a[i * RowStep]);
#pragma clang loop unroll(full)
      for (int v = 0; v < NV; ++v)
        sum[i][v] = multiplyAdd(left, row[v], sum[i][v]);
    }
    // The sliver streams from the second-level cache.
#pragma clang loop unroll(full)
    for (int v = 0; v < NV; ++v)
      __builtin_prefetch(b + 8 * width + v * kLanes, 0, 3);
    a += RowStep == kColumns ? step : 1;
    b += width;
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < MR; ++i)
#pragma clang loop unroll(full)
    for (int v = 0; v < NV; ++v) {
      float *place = c + i * cRow + v * kLanes;
      store(place, add ? load(place) + sum[i][v] : sum[i][v]);
    }
}

using TileFunction = void (*)(int64_t k, const float *a, int64_t step, const float *b, float *c,
                              int64_t cRow, bool add);

template <int RowStep, int NV> static TileFunction tileOfRows(int64_t rows) {
  static constexpr TileFunction functions[] = {
      tile<1, NV, RowStep>,  tile<2, NV, RowStep>,
#if defined(__AVX2__)
      tile<3, NV, RowStep>,  tile<4, NV, RowStep>,  tile<5, NV, RowStep>, tile<6, NV, RowStep>,
#endif
#if defined(__AVX512F__)
      tile<7, NV, RowStep>,  tile<8, NV, RowStep>,  tile<9, NV, RowStep>, tile<10, NV, RowStep>,
      tile<11, NV, RowStep>, tile<12, NV, RowStep>,
#endif
  };
  return functions[rows - 1];
}

/// C[rows, width] (+)= A·B for one tile; `b` and `c` hold full vectors.
template <int RowStep>
static void runTile(int64_t rows, int64_t k, const float *a, int64_t step, const float *b,
                    int64_t width, float *c, int64_t cRow, bool add) {
  if constexpr (kTileVectors > 1)
    if (width > kLanes)
      return tileOfRows<RowStep, kTileVectors>(rows)(k, a, step, b, c, cRow, add);
  tileOfRows<RowStep, 1>(rows)(k, a, step, b, c, cRow, add);
}

/// C[m, width] (+)= A·B for one sliver of B. `next` leads from one group of kTileRows rows of A to
/// the next.
template <int RowStep>
static void runSliver(int64_t m, int64_t k, const float *a, int64_t step, int64_t next,
                      const float *b, int64_t width, float *c, int64_t cRow, bool add) {
  for (int64_t i = 0; i < m; i += kTileRows, a += next)
    runTile<RowStep>(smaller(kTileRows, m - i), k, a, step, b, width, c + i * cRow, cRow, add);
}

/// Rows become columns.
ZRT_INLINE void transpose(Float16 (&r)[16]) {
#define ZRT_EXCHANGE(D, LOW, HIGH)                                                                 \
  _Pragma("clang loop unroll(full)") for (int i = 0; i < 16; ++i) if (!(i & D)) {                  \
    Float16 a = r[i], b = r[i + D];                                                                \
    r[i] = __builtin_shufflevector(a, b, LOW);                                                     \
    r[i + D] = __builtin_shufflevector(a, b, HIGH);                                                \
  }
#define ZRT_LIST(...) __VA_ARGS__
  ZRT_EXCHANGE(8, ZRT_LIST(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
               ZRT_LIST(8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31))
  ZRT_EXCHANGE(4, ZRT_LIST(0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27),
               ZRT_LIST(4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31))
  ZRT_EXCHANGE(2, ZRT_LIST(0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
               ZRT_LIST(2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31))
  ZRT_EXCHANGE(1, ZRT_LIST(0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30),
               ZRT_LIST(1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31))
#undef ZRT_LIST
#undef ZRT_EXCHANGE
}

/// Loads ROWS rows of up to 16 elements, the rest as 0, and turns them.
template <int ROWS, typename T>
ZRT_INLINE void loadTransposed(Float16 (&r)[16], const T *p, int64_t rowStep, int64_t columns) {
  if (columns >= kLanes) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; ++i)
      r[i] = i < ROWS ? load(p + i * rowStep) : splat(0.0f);
  } else {
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; ++i)
      r[i] = i < ROWS ? loadFirst(p + i * rowStep, columns) : splat(0.0f);
  }
  transpose(r);
}

/// The same for a number of rows that only run time knows.
template <typename T>
ZRT_INLINE void loadTransposed(Float16 (&r)[16], const T *p, int64_t rowStep, int64_t rows,
                               int64_t columns) {
  for (int i = 0; i < 16; ++i)
    r[i] = i < rows ? loadFirst(p + i * rowStep, columns) : splat(0.0f);
  transpose(r);
}

/// Packs up to kTileRows rows of k from element (i, kk) at p[i·rowStep + kk·columnStep], column by
/// column, kGroupStep floats apart. Sixteen lanes are written at a time: up to 16 floats past the
/// end are touched.
template <typename T>
static void packGroup(const T *p, int64_t rowStep, int64_t columnStep, int64_t rows, int64_t k,
                      float *packed) {
  if (rowStep == 1 || rows == 1) {
    if (rows == kTileRows)
      for (int64_t kk = 0; kk < k; ++kk)
        store(packed + kk * kGroupStep, loadFirst(p + kk * columnStep, kTileRows));
    else
      for (int64_t kk = 0; kk < k; ++kk)
        store(packed + kk * kGroupStep, loadFirst(p + kk * columnStep, rows));
  } else if (columnStep == 1 || k == 1) {
    for (int64_t kk = 0; kk < k; kk += kLanes) {
      Float16 r[16];
      int64_t columns = smaller(kLanes, k - kk);
      if (rows == kTileRows)
        loadTransposed<kTileRows>(r, p + kk, rowStep, columns);
      else
        loadTransposed(r, p + kk, rowStep, rows, columns);
      for (int64_t j = 0; j < columns; ++j)
        store(packed + (kk + j) * kGroupStep, r[j]);
    }
  } else {
    for (int64_t kk = 0; kk < k; ++kk)
      for (int64_t i = 0; i < rows; ++i)
        packed[kk * kGroupStep + i] = single(p + i * rowStep + kk * columnStep);
  }
}

/// Copies m rows of k contiguous elements to a fixed distance from each other.
template <int RowStep, typename T>
static void copyRows(const T *p, int64_t rowStep, int64_t m, int64_t k, float *packed) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t kk = 0; kk < k; kk += kLanes)
      storeFirst(packed + i * RowStep + kk, loadFirst(p + i * rowStep + kk, k - kk), k - kk);
}

/// Sixteen columns (or `columns`, the rest zeros) of k rows whose elements follow each other along
/// the row index: rows of the result are `width` floats apart.
template <typename T>
static void packTurned(const T *p, int64_t columnStep, int64_t columns, int64_t k, float *packed,
                       int64_t width) {
  for (int64_t kk = 0; kk < k; kk += kLanes) {
    Float16 r[16];
    int64_t rows = smaller(kLanes, k - kk);
    if (columns == kLanes)
      loadTransposed<16>(r, p + kk, columnStep, rows);
    else
      loadTransposed(r, p + kk, columnStep, columns, rows);
    if (rows == kLanes) {
#pragma clang loop unroll(full)
      for (int i = 0; i < 16; ++i)
        store(packed + (kk + i) * width, r[i]);
    } else {
      for (int64_t i = 0; i < rows; ++i)
        store(packed + (kk + i) * width, r[i]);
    }
  }
}

/// Packs k rows of n from element (kk, j) at p[kk·rowStep + j·columnStep] into slivers, filled with
/// zeros to full vectors. The sliver of column j starts at depth·j, depth ≥ k.
template <typename T>
static void packRight(const T *p, int64_t rowStep, int64_t columnStep, int64_t k, int64_t n,
                      float *packed, int64_t depth) {
  if (columnStep == 1 || n == 1) {
    const int64_t whole = n / kSliver * kSliver;
    for (int64_t kk = 0; kk < k; ++kk) {
      const T *from = p + kk * rowStep;
      for (int64_t j = 0; j < whole; j += kSliver)
        for (int64_t v = 0; v < kSliver; v += kLanes) {
          __builtin_prefetch(from + 6 * rowStep + j + v, 0, 3);
          store(packed + depth * j + kk * kSliver + v, load(from + j + v));
        }
    }
    if (whole == n)
      return;
    const int64_t width = sliverWidth(n, whole);
    for (int64_t kk = 0; kk < k; ++kk)
      for (int64_t v = 0; v < width; v += kLanes)
        store(packed + depth * whole + kk * width + v,
              loadFirst(p + kk * rowStep + whole + v, n - whole - v));
    return;
  }
  for (int64_t j = 0; j < n; j += kLanes) {
    int64_t sliver = j / kSliver * kSliver, width = sliverWidth(n, sliver);
    float *column = packed + depth * sliver + (j - sliver);
    const T *from = p + j * columnStep;
    int64_t columns = smaller(kLanes, n - j);
    if (rowStep == 1 || k == 1) {
      packTurned(from, columnStep, columns, k, column, width);
      continue;
    }
    for (int64_t kk = 0; kk < k; ++kk)
      for (int64_t i = 0; i < kLanes; ++i)
        column[kk * width + i] = i < columns ? single(from + kk * rowStep + i * columnStep) : 0.0f;
  }
}

} // namespace zrt::ZRT_ISA

#endif // ZERO_LIB_RUNTIME_CPU_KERNELS_TILE_H
