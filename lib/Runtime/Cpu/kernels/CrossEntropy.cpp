//===- CrossEntropy.cpp - softmax, loss and gradient in one pass a row ----===//
//
// Three walks over a row: maximum; sum of exponentials, each f32 added in f64;
// gradient, which may take the row's own place. The total is taken in f64 over
// blocks of rows given by the shape, so that threads cannot show in it.
//
//===----------------------------------------------------------------------===//
#include "Elementary.h"
#include "Isa.h"
#include "Parts.h"
#include "Plan.h"
#include "Types.h"

namespace zrt::ZRT_ISA {
namespace {

constexpr int64_t kBlocks = 256;

/// The row's −log softmax[label]; writes its gradient unless that is null.
template <typename T>
double lossOfRow(const T *x, int64_t classes, int64_t label, float seed, T *gradient) {
  const float infinity = __builtin_inff();
  Float16 best = splat(-infinity);
  for (int64_t j = 0; j < classes; j += kLanes) {
    Float16 lane = loadFirst(x + j, classes - j);
    if (classes - j < kLanes)
      lane = select(laneNumbers() < (int32_t)(classes - j), lane, splat(-infinity));
    best = larger(lane, best);
  }
  const float largest = largestLane(best), labelled = single(x + label);
  Double16 lanes = (Double16)0.0;
  for (int64_t j = 0; j < classes; j += kLanes) {
    Float16 e = vectorSoftmaxExp(loadFirst(x + j, classes - j) - largest);
    if (classes - j < kLanes)
      e = select(laneNumbers() < (int32_t)(classes - j), e, splat(0.0f));
    lanes += __builtin_convertvector(e, Double16);
  }
  const double sum = sumLanes(lanes);
  const double loss = __builtin_log(sum) + (double(largest) - double(labelled));
  if (!gradient)
    return loss;
  const double own = vectorSoftmaxExp(splat(labelled - largest))[0];
  const Float16 scale = splat(float(double(seed) / sum));
  for (int64_t j = 0; j < classes; j += kLanes)
    storeFirst(gradient + j, vectorSoftmaxExp(loadFirst(x + j, classes - j) - largest) * scale,
               classes - j);
  storeSingle(gradient + label, float(double(seed) * ((own - sum) / sum)));
  return loss;
}

template <typename T>
void crossEntropyOf(const CrossEntropyDesc &desc, const T *logits, const int32_t *labels,
                    float seed, float *loss, T *dLogits, ThreadTeam &team) {
  const int64_t perBlock = divideUp(desc.rows, kBlocks);
  const int64_t blocks = perBlock > 0 ? divideUp(desc.rows, perBlock) : 0;
  double sums[kBlocks];
  const int64_t parts = blocks > 0 ? smaller(team.size(), blocks) : 1;
  auto part = [&](int64_t p) {
    Range range = partOf(blocks, 1, p, parts);
    for (int64_t block = range.begin; block < range.end; ++block) {
      double sum = 0.0;
      for (int64_t i = block * perBlock; i < smaller(desc.rows, (block + 1) * perBlock); ++i) {
        const T *row = logits + i * desc.classes;
        T *gradient = desc.withGradient ? dLogits + i * desc.classes : nullptr;
        if (labels[i] >= 0 && labels[i] < desc.classes && labels[i] != desc.ignore) {
          sum += lossOfRow(row, desc.classes, labels[i], seed, gradient);
          continue;
        }
        // A label that is neither a class nor ignored must not pass unseen.
        if (labels[i] != desc.ignore)
          sum = __builtin_nan("");
        for (int64_t j = 0; gradient && j < desc.classes; j += kLanes)
          storeFirst(gradient + j, splat(0.0f), desc.classes - j);
      }
      sums[block] = sum;
    }
  };
  runParts(team, parts, part);
  double total = 0.0;
  for (int64_t block = 0; block < blocks; ++block)
    total += sums[block];
  *loss = float(double(seed) * total);
}

} // namespace

void crossEntropy(const CrossEntropyDesc &desc, const void *logits, const int32_t *labels,
                  float seed, float *loss, void *dLogits, char *, ThreadTeam &team) {
  withType(desc.type, [&]<typename T>(T) {
    crossEntropyOf(desc, static_cast<const T *>(logits), labels, seed, loss,
                   static_cast<T *>(dLogits), team);
  });
}

} // namespace zrt::ZRT_ISA
