#include "blame/tensor_judge.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "compare/comparison.h"
#include "core/coordinates.h"
#include "kernels/magnitudes.h"
#include "kernels/pair_measures.h"

namespace vernier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.bytes().size() == b.bytes().size() &&
         (a.bytes().empty() ||
          std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0);
}

bool HasNan(const Tensor& tensor) { return MeasureMagnitudes(Elements(tensor)).nan_count > 0; }

// Both sides with zeros where both have NaN, as float64.
struct WithoutSharedNan {
  Tensor a, b;
};

Result<WithoutSharedNan> DropSharedNan(const Tensor& a, const Tensor& b) {
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer x, TensorBuffer::Allocate(DType::kFloat64, a.dims()));
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer y, TensorBuffer::Allocate(DType::kFloat64, a.dims()));
  const std::span<double> xs = x.As<double>();
  const std::span<double> ys = y.As<double>();
  double x_block[kBlockSize], y_block[kBlockSize];
  for (size_t start = 0; start < xs.size(); start += kBlockSize) {
    const size_t n = std::min(kBlockSize, xs.size() - start);
    const double* from_a = LoadBlock(Elements(a), static_cast<int64_t>(start), n, x_block);
    const double* from_b = LoadBlock(Elements(b), static_cast<int64_t>(start), n, y_block);
    for (size_t i = 0; i < n; ++i) {
      const bool shared = std::isnan(from_a[i]) && std::isnan(from_b[i]);
      xs[start + i] = shared ? 0 : from_a[i];
      ys[start + i] = shared ? 0 : from_b[i];
    }
  }
  return WithoutSharedNan{std::move(x).Freeze(), std::move(y).Freeze()};
}

Result<TensorJudgement> Judge(const Tensor& a, const Tensor& b, const ErrorBar& bar) {
  VERNIER_ASSIGN_OR_RETURN(BarVerdict verdict, MeasureAgainstBar(a, b, bar));
  MeasureRequest request;
  request.rule = {verdict.atol, verdict.rtol, true};
  VERNIER_ASSIGN_OR_RETURN(const PairMeasures measures,
                           MeasurePair(Elements(a), Elements(b), request));
  CloseVerdict(measures.difference, measures.difference.mismatches == 0, verdict);
  return TensorJudgement{verdict.times_over, verdict.rms};
}

}  // namespace

TensorJudgement JudgeTensor(const Tensor& reference, const Tensor& candidate, const ErrorBar& bar) {
  constexpr TensorJudgement kCannotAgree{kInfinity, kInfinity};
  if (reference.dims() != candidate.dims()) return kCannotAgree;
  if (SameBytes(reference, candidate)) return {};
  const bool text = reference.dtype() == DType::kString || candidate.dtype() == DType::kString;
  if (text) return kCannotAgree;
  ErrorBar used = bar;
  // That most elements agree to the bit holds where both sides round to the same type.
  if (reference.dtype() != candidate.dtype()) used.clean = 0;
  Result<TensorJudgement> judged = Judge(reference, candidate, used);
  if (!judged.ok()) return kCannotAgree;
  // With a NaN on both sides it is infinite.
  const bool may_share_nan =
      std::isinf(judged->times) && Kind(candidate.dtype()) == DTypeKind::kFloat;
  if (may_share_nan && HasNan(candidate) && HasNan(reference)) {
    const Result<WithoutSharedNan> rest = DropSharedNan(reference, candidate);
    judged = rest.ok() ? Judge(rest->a, rest->b, used) : kCannotAgree;
  }
  // Of complex numbers with a NaN the bar says nothing, which is no agreement.
  return judged.ok() && !std::isnan(judged->times) ? *judged : kCannotAgree;
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
