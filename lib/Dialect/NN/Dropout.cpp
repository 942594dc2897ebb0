//===- Dropout.cpp - dropout, and what its masks are keyed by ---------------===//

#include "Dropout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero::nn {

LogicalResult checkDropoutRate(MaybeLocation location, const llvm::APFloat &rate) {
  double value = rate.convertToDouble();
  return expects(location, value >= 0.0 && value < 1.0, "a dropout rate in [0, 1), got ", value);
}

LogicalResult checkDropoutSite(MaybeLocation location, std::optional<int64_t> site) {
  return expects(location, !site || llvm::isUInt<32>(*site), "a site in [0, 2^32), got ",
                 site.value_or(0));
}

/// (C3) whole samples, small enough for the generator.
static LogicalResult checkSamples(MaybeLocation location, RankedTensorType type, int64_t samples) {
  if (failed(expects(location, samples >= 1, "at least one sample, got ", samples)))
    return failure();
  if (!type.hasStaticShape())
    return success();
  int64_t elements = *countElements(type.getShape());
  return expects(location, elements % samples == 0 && elements / samples <= kMaxSampleElements,
                 "elements that ", samples, " samples share evenly, at most 2^34 each, got ", type);
}

} // namespace zero::nn

using namespace zero::nn;

NN_INFER(DropoutOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getInput());
  if (failed(types) || failed(checkDropoutRate(location, adaptor.getRate())) || // (C1)
      failed(checkDropoutSite(location, adaptor.getSite())))                    // (C2)
    return failure();
  bool keyed = static_cast<bool>(adaptor.getRandom());
  int sites = (adaptor.getSiteValue() ? 1 : 0) + (adaptor.getSite() ? 1 : 0);
  if (failed(
          expects(location, adaptor.getSamples().has_value() == keyed && sites == (keyed ? 1 : 0),
                  "samples and one site where dropout is keyed, and none of them elsewhere, got ",
                  adaptor.getSamples() ? "" : "no ", "samples and ", sites, " sites"))) // (C2)
    return failure();
  if (keyed && failed(checkSamples(location, types->front(),
                                   static_cast<int64_t>(*adaptor.getSamples())))) // (C3)
    return failure();
  inferred.push_back(types->front());
  return success();
}
// A word of the generator is ten rounds of two products and two differences, for four elements;
// then a comparison and a product.
NN_KERNEL(DropoutOp, KernelFamily::Elementwise, countFlops(getResult(), 12))

OpFoldResult DropoutOp::fold(FoldAdaptor) {
  return getRate().isZero() ? getInput() : OpFoldResult();
}
