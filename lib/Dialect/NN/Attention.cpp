//===- Attention.cpp - scaled dot-product attention -------------------------===//

#include "Dropout.h"

using namespace mlir;
using namespace zero::nn;

/// The constraints of attention on q, k, v; the dimensions are [batch, time, head, depth].
static LogicalResult checkAttention(MaybeLocation location, RankedTensorType q, RankedTensorType k,
                                    RankedTensorType v, const llvm::APFloat &scale, bool causal) {
  if (failed(checkEqualElements(location, {q, k, v})))
    return failure();
  bool agree = q.getRank() == 4 && k.getRank() == 4 && v.getRank() == 4;
  for (int64_t dim : {0, 3})
    agree =
        agree && q.getDimSize(dim) == k.getDimSize(dim) && k.getDimSize(dim) == v.getDimSize(dim);
  if (failed(expects(location, agree, "q, k and v of rank 4 with equal batch and depth, got ", q,
                     ", ", k, " and ", v))) // (C1)
    return failure();
  if (failed(expects(location, k == v, "k and v of equal time and heads, got ", k, " and ",
                     v))) // (C2)
    return failure();
  int64_t heads = q.getDimSize(2), keyHeads = k.getDimSize(2);
  if (failed(expects(location, keyHeads > 0 && heads % keyHeads == 0, "key heads that divide the ",
                     heads, " query heads, got ", keyHeads))) // (C3)
    return failure();
  if (failed(expects(location, !causal || q.getDimSize(1) == k.getDimSize(1),
                     "equal times under causal, got ", q.getDimSize(1), " and ",
                     k.getDimSize(1)))) // (C4)
    return failure();
  return expects(location, scale.isFinite(), "a finite scale, got ",
                 scale.convertToDouble()); // (C5)
}

/// (C8) the rate, (C9) the key of dropped probabilities.
static LogicalResult checkAttentionDropout(MaybeLocation location, RankedTensorType q,
                                           RankedTensorType k,
                                           const std::optional<llvm::APFloat> &rate,
                                           std::optional<int64_t> site, bool keyed) {
  if (rate && failed(checkDropoutRate(location, *rate))) // (C8)
    return failure();
  bool together = site.has_value() == keyed && (rate || !keyed);
  if (failed(expects(location, together,
                     "a rate, a key and a site of dropout together, or a rate alone, got ",
                     rate ? "a" : "no", " rate, ", keyed ? "a" : "no", " key and ",
                     site ? "a" : "no", " site")) || // (C9)
      failed(checkDropoutSite(location, site)))
    return failure();
  int64_t perSample = saturatingProduct(saturatingProduct(q.getDimSize(1), q.getDimSize(2)),
                                        k.getDimSize(1));
  return expects(location, !rate || perSample <= kMaxSampleElements,
                 "at most 2^34 probabilities a sample under dropout, got ", perSample);
}

/// The log of each row's sum of exponentials: [batch, head, time].
static RankedTensorType lseType(RankedTensorType q) {
  return RankedTensorType::get({q.getDimSize(0), q.getDimSize(2), q.getDimSize(1)},
                               accumulationType(q.getElementType()));
}

/// `products` matrix products of [time, depth, time], over batch and heads; a causal mask leaves
/// half. The softmax between them is left out, as is usual for this count.
static int64_t attentionFlops(Value q, Value k, int64_t products, bool causal) {
  int64_t keys = cast<RankedTensorType>(k.getType()).getDimSize(1);
  int64_t flops = countFlops(q, saturatingProduct(2 * products, keys));
  return causal ? flops / 2 : flops;
}

NN_INFER(AttentionOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types) ||
      failed(checkAttention(location, (*types)[0], (*types)[1], (*types)[2], adaptor.getScale(),
                            adaptor.getCausal())) ||
      failed(checkAttentionDropout(location, (*types)[0], (*types)[1], adaptor.getDropout(),
                                   adaptor.getSite(), static_cast<bool>(adaptor.getRandom()))))
    return failure();
  RankedTensorType q = types->front();
  inferred.append({q, lseType(q)});
  return success();
}
NN_KERNEL(AttentionOp, KernelFamily::Attention, attentionFlops(getQ(), getK(), 2, getCausal()))

NN_INFER(AttentionGradOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types) ||
      failed(checkAttention(location, (*types)[0], (*types)[1], (*types)[2], adaptor.getScale(),
                            adaptor.getCausal())) ||
      failed(checkAttentionDropout(location, (*types)[0], (*types)[1], adaptor.getDropout(),
                                   adaptor.getSite(), static_cast<bool>(adaptor.getRandom()))))
    return failure();
  RankedTensorType q = (*types)[0], out = (*types)[3], lse = (*types)[4], dout = (*types)[5];
  if (failed(expects(location, out == q && dout == q, "out and its cotangent of type ", q, ", got ",
                     out, " and ", dout)) || // (C6)
      failed(expects(location, lse == lseType(q), "lse of type ", lseType(q), ", got ",
                     lse))) // (C7)
    return failure();
  inferred.append({q, (*types)[1], (*types)[2]});
  return success();
}
// The scores again, then the cotangents of probabilities, v, q and k.
NN_KERNEL(AttentionGradOp, KernelFamily::Attention, attentionFlops(getQ(), getK(), 5, getCausal()))
