#include "blame/judge/tensor_judge.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "compare/functions/comparison.h"
#include "compare/functions/shared_non_finite.h"
#include "compare/outputs/same_bits.h"
#include "core/coordinates.h"
#include "kernels/measures/magnitudes.h"
#include "kernels/measures/pair_measures.h"

namespace vernier {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

Result<TensorJudgement> Judge(const Tensor& a, const Tensor& b, const ErrorBound& bound) {
  VERNIER_ASSIGN_OR_RETURN(BoundVerdict verdict, MeasureAgainstBound(a, b, bound));
  MeasureRequest request;
  request.rule = {verdict.atol, verdict.rtol, true};
  VERNIER_ASSIGN_OR_RETURN(const PairMeasures measures,
                           MeasurePair(Elements(a), Elements(b), request));
  CloseVerdict(measures.difference, measures.difference.mismatches == 0, verdict);
  return TensorJudgement{verdict.times_over, verdict.rms};
}

}  // namespace

TensorJudgement JudgeTensor(const Tensor& reference, const Tensor& candidate,
                            const ErrorBound& bound) {
  constexpr TensorJudgement kCannotAgree{kUnbounded, kUnbounded};
  if (reference.dims() != candidate.dims()) return kCannotAgree;
  if (SameBits(reference, candidate)) return {};
  const bool text = reference.dtype() == DType::kString || candidate.dtype() == DType::kString;
  if (text) return kCannotAgree;
  ErrorBound used = bound;
  // That most elements agree to the bit holds where both sides round to the same type.
  if (reference.dtype() != candidate.dtype()) used.clean = 0;
  Result<TensorJudgement> judged = Judge(reference, candidate, used);
  if (!judged.ok()) return kCannotAgree;
  // With a NaN on both sides it is infinite.
  if (std::isinf(judged->times)) {
    if (const std::optional<TensorPair> rest = WithoutSharedNonFinite(reference, candidate)) {
      judged = Judge(rest->a, rest->b, used);
    }
  }
  // Of complex numbers with a NaN the bound says nothing, which is no agreement.
  return judged.ok() && !std::isnan(judged->times) ? *judged : kCannotAgree;
}

std::vector<TensorJudgement> JudgeTensors(std::span<const JudgedPair> pairs, ThreadPool& threads) {
  std::vector<TensorJudgement> judged(pairs.size());
  threads.Run(pairs.size(), [&](size_t i, size_t) {
    judged[i] = JudgeTensor(*pairs[i].reference, *pairs[i].candidate, pairs[i].bound);
  });
  return judged;
}

MagnitudeRecord RecordMagnitudes(const Tensor& tensor) {
  const Magnitudes m = MeasureMagnitudes(Elements(tensor));
  MagnitudeRecord record;
  record.elements = m.count;
  record.nan_count = m.nan_count;
  record.infinite_count = m.infinite_count;
  record.min = m.min;
  record.max = m.max;
  record.largest = std::max(std::fabs(m.min), std::fabs(m.max));
  const int64_t finite = m.count - m.nan_count - m.infinite_count;
  if (Kind(tensor.dtype()) == DTypeKind::kFloat && finite > 0) {
    record.float16_overflow = static_cast<double>(m.beyond_float16) / static_cast<double>(finite);
    record.float16_denormal = static_cast<double>(m.below_float16) / static_cast<double>(finite);
  }
  return record;
}

std::vector<int64_t> FirstNotFinite(const Tensor& tensor) {
  const int64_t place = MeasureMagnitudes(Elements(tensor)).first_not_finite;
  return place < 0 ? Dims() : CoordinatesOf(place, tensor.dims());
}

}  // namespace vernier
