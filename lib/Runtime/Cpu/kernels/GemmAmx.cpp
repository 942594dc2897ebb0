//===- GemmAmx.cpp - bf16 products on a processor's tile registers --------===//
//
// AMX multiplies two tiles of 16 rows of 64 bytes at once: 16 × 32 values of A
// by 32 × 16 of B, which lie as pairs along k. Four tiles of C are held; loops
// and buffers are those of Gemm.cpp, with values packed as the pairs they are.
//
// What a step of 32 elements of k adds to C is written down in the manual
// (Intel SDM, TDPBF16PS): from +0, one chain of multiply-adds over the even k and
// one over the odd, their sum, and that added to C. Steps follow each other in
// the order of k, the last filled with zeros, whatever the blocks, so the bits are
// a function of the operands (N0). Unlike elsewhere, denormal values of operands
// and sums count as 0.
//
//===----------------------------------------------------------------------===//
#include "GemmParts.h"
#include "Isa.h"
#include "Plan.h"
#include "Tile.h"

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace zrt::ZRT_ISA {
namespace {

typedef uint16_t Short32Unaligned __attribute__((ext_vector_type(32), aligned(2)));

constexpr int64_t kPerStep = 32;                 // elements of k
constexpr int64_t kTileElements = 16 * kPerStep; // of A or B

/// Elements [0, count) of 32, the rest zeros.
ZRT_INLINE Float16 loadPairs(const Bf16 *p, int64_t count) {
  if (count >= kPerStep)
    return __builtin_bit_cast(Float16, *reinterpret_cast<const Short32Unaligned *>(p));
  return __builtin_bit_cast(Float16, _mm512_maskz_loadu_epi16((1u << count) - 1, p));
}

/// Lane i holds element i of two lines.
ZRT_INLINE Float16 joinLines(const Bf16 *even, const Bf16 *odd, int64_t count) {
  auto wide = [&](const Bf16 *p) {
    Short16 x = count >= kLanes ? loadBits(p) : loadBits(&p->bits, count);
    return __builtin_convertvector(x, UInt16);
  };
  return fromBits(wide(even) | (odd ? wide(odd) << 16 : (UInt16)0));
}

/// Up to 16 × 32 elements (x, k) at p[x·xStride + k·kStride], the rest zeros, as the rows of a
/// tile: element x has a row of 32 where `rowsAreX`, as A has it; else row r holds the pairs k =
/// 2r, 2r+1 of all x, as B has it.
void packTile(const Bf16 *p, int64_t xStride, int64_t kStride, int64_t xs, int64_t ks,
              bool rowsAreX, float *to) {
  Float16 r[16];
  bool turned; // r holds what the tile wants as columns
  if (kStride == 1 || ks == 1) {
    for (int64_t x = 0; x < 16; ++x)
      r[x] = x < xs ? loadPairs(p + x * xStride, ks) : splat(0.0f);
    turned = !rowsAreX;
  } else if (xStride == 1 || xs == 1) {
    for (int64_t pair = 0; pair < 16; ++pair) {
      const Bf16 *even = p + 2 * pair * kStride;
      r[pair] = 2 * pair < ks ? joinLines(even, 2 * pair + 1 < ks ? even + kStride : nullptr, xs)
                              : splat(0.0f);
    }
    turned = rowsAreX;
  } else {
    alignas(64) uint16_t rows[16][32] = {};
    for (int64_t x = 0; x < xs; ++x)
      for (int64_t k = 0; k < ks; ++k)
        rows[x][k] = p[x * xStride + k * kStride].bits;
    for (int64_t x = 0; x < 16; ++x)
      r[x] = load(reinterpret_cast<const float *>(rows[x]));
    turned = !rowsAreX;
  }
  if (turned)
    transpose(r);
  for (int64_t row = 0; row < 16; ++row)
    store(to + row * kLanes, r[row]);
}

/// Packs `xs` rows of A or columns of B, two tiles at a time, by `ks` of k: pairs of tiles follow
/// each other along k, and such rows of pairs along x, `step` floats apart.
void pack(const Bf16 *p, int64_t xStride, int64_t kStride, int64_t xs, int64_t ks, bool rowsAreX,
          float *to, int64_t step) {
  for (int64_t x = 0; x < xs; x += kPairTile)
    for (int64_t k = 0; k < ks; k += kPerStep)
      for (int64_t half = 0; half < 2; ++half)
        if (x + half * 16 < xs)
          packTile(p + (x + half * 16) * xStride + k * kStride, xStride, kStride,
                   smaller(16, xs - x - half * 16), smaller(kPerStep, ks - k), rowsAreX,
                   to + x / kPairTile * step + (k / kPerStep * 2 + half) * kTileElements / 2);
}

/// sums[32, 32] (+)= A·B over `steps` steps of k; tiles of rows or columns past the first 16 only
/// where there are any.
void multiplyTiles(int64_t steps, const float *left, const float *right, float *sums, bool add,
                   bool moreRows, bool moreColumns) {
  constexpr int64_t kRowBytes = kPairTile * 4, kHalf = kTileElements / 2;
  float *below = sums + 16 * kPairTile;
  _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3);
  if (add) {
    _tile_loadd(0, sums, kRowBytes);
    if (moreColumns)
      _tile_loadd(1, sums + 16, kRowBytes);
    if (moreRows)
      _tile_loadd(2, below, kRowBytes);
    if (moreRows && moreColumns)
      _tile_loadd(3, below + 16, kRowBytes);
  }
  if (moreRows && moreColumns)
    for (int64_t step = 0; step < steps; ++step, left += 2 * kHalf, right += 2 * kHalf) {
      _tile_loadd(6, right, 64);
      _tile_loadd(4, left, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_loadd(5, left + kHalf, 64);
      _tile_dpbf16ps(2, 5, 6);
      _tile_loadd(7, right + kHalf, 64);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(3, 5, 7);
    }
  else
    for (int64_t step = 0; step < steps; ++step, left += 2 * kHalf, right += 2 * kHalf) {
      _tile_loadd(6, right, 64);
      _tile_loadd(4, left, 64);
      _tile_dpbf16ps(0, 4, 6);
      if (moreRows) {
        _tile_loadd(5, left + kHalf, 64);
        _tile_dpbf16ps(2, 5, 6);
      }
      if (moreColumns) {
        _tile_loadd(7, right + kHalf, 64);
        _tile_dpbf16ps(1, 4, 7);
      }
    }
  _tile_stored(0, sums, kRowBytes);
  if (moreColumns)
    _tile_stored(1, sums + 16, kRowBytes);
  if (moreRows)
    _tile_stored(2, below, kRowBytes);
  if (moreRows && moreColumns)
    _tile_stored(3, below + 16, kRowBytes);
}

struct Buffers {
  float *left, *right, *partial;
};

/// The share of one block of k, with B packed; the last one finishes the elements.
template <typename R>
void multiplyBlock(const GemmDesc &desc, const GemmPlan &plan, const Operands<Bf16, R> &of,
                   const Block &block, int64_t kIndex, const Buffers &buffers) {
  alignas(64) float tileSums[kPairTile * kPairTile];
  const int64_t k0 = kIndex * plan.kBlock, k = smaller(plan.kBlock, desc.k - k0);
  const bool one = plan.kBlocks == 1, last = kIndex + 1 == plan.kBlocks;
  const int64_t steps = divideUp(k, kPerStep);
  for (int64_t i = 0; i < block.rows; i += kPairTile) {
    const int64_t rows = smaller(kPairTile, block.rows - i);
    const Bf16 *group = of.a + (block.i0 + i) * desc.aRow + k0 * desc.aCol;
    const Piece<Bf16> nextGroup = pieceOf(group + kPairTile * desc.aRow, desc.aRow, desc.aCol,
                                          smaller(kPairTile, block.rows - i - rows), k);
    pack(group, desc.aRow, desc.aCol, rows, k, true, buffers.left, 0);
    for (int64_t j = 0; j < block.columns; j += kPairTile) {
      const int64_t columns = smaller(kPairTile, block.columns - j);
      const int64_t sliver = j / kPairTile, slivers = divideUp(block.columns, kPairTile);
      if (desc.aCol == 1)
        prefetchShare(nextGroup, {0, nextGroup.lines},
                      partOf(k, kCacheLine<Bf16>, sliver, slivers));
      else
        prefetchShare(nextGroup, partOf(nextGroup.lines, 1, sliver, slivers), {0, rows});
      if (last)
        prefetchTile(of.c + (block.i0 + i) * desc.cRow + block.j0 + j, desc.cRow, rows, columns);
      float *sums = one ? tileSums : buffers.partial + i * plan.nBlock + j * kPairTile;
      multiplyTiles(steps, buffers.left, buffers.right + plan.kBlock * j / 2, sums, kIndex > 0,
                    rows > 16, columns > 16);
      if (last)
        finishTile(desc, of, block.i0 + i, block.j0 + j, sums, kPairTile, rows, columns);
    }
  }
}

/// Rows `m` and columns `n` of one matrix of the batch.
template <typename R>
void multiplyRange(const GemmDesc &desc, const GemmPlan &plan, const Operands<Bf16, R> &of, Range m,
                   Range n, const Buffers &buffers) {
  auto packPanel = [&](const Bf16 *panel, int64_t columns, int64_t depth) {
    pack(panel, desc.bCol, desc.bRow, columns, depth, false, buffers.right,
         plan.kBlock * kPairTile / 2);
  };
  forEachBlock(desc, plan, of, m, n, packPanel, [&](const Block &block, int64_t kIndex) {
    multiplyBlock(desc, plan, of, block, kIndex, buffers);
  });
}

/// All eight tile registers with 16 rows of 64 bytes, while it lives.
class TileRegisters {
public:
  TileRegisters() {
    struct alignas(64) {
      uint8_t palette = 1, startRow = 0, reserved[14] = {};
      uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } config;
    _tile_loadconfig(&config);
  }
  ~TileRegisters() { _tile_release(); }
};

template <typename R>
void multiplyAll(const GemmDesc &desc, const Operands<Bf16, R> &of, char *workspace,
                 ThreadTeam &team) {
  const GemmPlan plan = planPairGemm(desc);
  forEachGemmPart(desc, kPairTile, kPairTile, team, [&](const GemmPart &part) {
    TileRegisters registers;
    auto multiply = [&](const Buffers &buffers) {
      forEachOfBatch(desc, of, part.batch, [&](const Operands<Bf16, R> &at) {
        multiplyRange(desc, plan, at, part.m, part.n, buffers);
      });
    };
    if (plan.small) {
      alignas(64) float left[kPairTile * kMaxPairKBlock / 2];
      alignas(64) float right[kPairTile * kMaxPairKBlock / 2];
      alignas(64) float partial[kPairTile * kPairTile];
      return multiply({left, right, partial});
    }
    float *own = alignWorkspace(workspace) + part.index * plan.floatsPerThread();
    multiply({own, own + plan.leftFloats, own + plan.leftFloats + plan.rightFloats});
  });
}

} // namespace

/// Linux keeps the tile registers' state only for processes that ask.
bool available() {
  unsigned a, b, c, d;
  const unsigned kBf16Tiles = 1u << 22, kTiles = 1u << 24;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & kBf16Tiles) || !(d & kTiles))
    return false;
  constexpr int kRequestPermission = 0x1023, kTileData = 18; // asm/prctl.h
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

void gemm(const GemmDesc &desc, const void *a, const void *b, const void *bias,
          const void *residual, void *c, bool accumulate, char *workspace, ThreadTeam &team) {
  if (desc.type != ElementType::bf16)
    return avx512::table.gemm(desc, a, b, bias, residual, c, accumulate, workspace, team);
  if (desc.resultType == ElementType::bf16)
    multiplyAll(desc, Operands<Bf16, Bf16>(a, b, bias, residual, c, accumulate), workspace, team);
  else
    multiplyAll(desc, Operands<Bf16, float>(a, b, bias, residual, c, accumulate), workspace, team);
}

} // namespace zrt::ZRT_ISA
