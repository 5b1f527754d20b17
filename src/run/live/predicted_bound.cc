#include "run/live/predicted_bound.h"

#include <algorithm>
#include <cmath>

#include "kernels/elements/tensor_elements.h"
#include "kernels/measures/magnitudes.h"
#include "model/rounding/error_growth.h"
#include "run/live/pair_error_bounds.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// Weights that one side alone rounds to float16 or bfloat16 err alike wherever they are used, so
// their errors do not average as the prediction has it.
constexpr double kShortTimes = 1.5;
// A difference of one step after a quantiser may meet others on the way through sums.
constexpr double kElementSteps = 4;
// A part of what was measured may have less to divide by, and its largest error all the same. Sums
// over rows that have most of the errors have larger ones.
constexpr double kTailTimes = 3;
// Where flips may have reached a larger share of the elements, the others tell nothing.
constexpr double kMostReached = 0.9;
// Where the other errors are so large beside a step, their tails look like flips.
constexpr double kMostClean = 0.25;
// Two tensors of nothing in common differ by no more, relative to the scale of both.
constexpr double kAnything = 2;
// How many flips are expected is known to this factor.
constexpr double kFlipsTimes = 4;

// The share of the elements that flips may have reached: where few are expected, one row more may
// have some, unless nothing could be said of the others then.
double ReachedShare(const ErrorPrediction& prediction, const Tensor& tensor) {
  const double reached = std::min(prediction.reached + prediction.fresh, 1.0);
  const bool more = MostFlips(kFlipsTimes * prediction.flips) > MostFlips(prediction.flips);
  if (reached == 0 || !more) return reached;
  const auto count = static_cast<double>(std::max<int64_t>(tensor.element_count(), 1));
  const double with_row = reached + static_cast<double>(RowLength(tensor.dims())) / count;
  return with_row < kMostReached ? with_row : reached;
}

// Both sides may round a value to either of the floats beside it: relative to the largest element,
// and no less than a roundoff, for what is only copied may lose its subnormal numbers.
double LeastBound(const Tensor& tensor, double expected) {
  constexpr double kRoom = 1 + 0x1p-20;  // the other side's largest element may be the smaller one
  const double roundoff =
      std::min(UnitRoundoff(PartOf(tensor.dtype())), UnitRoundoff(DType::kFloat32));
  const bool is_real = Kind(tensor.dtype()) == DTypeKind::kFloat;
  if (expected > 2 * roundoff || !is_real || tensor.bytes().empty()) return roundoff;
  const Magnitudes values = MeasureMagnitudes(Elements(tensor));
  const double largest = std::max(std::fabs(values.min), std::fabs(values.max));
  if (!(largest > 0) || !std::isfinite(largest)) return roundoff;
  const double unit = 2 * roundoff * std::exp2(std::floor(std::log2(largest)));
  return std::max(kRoom * unit / largest, roundoff);
}

std::string Count(int64_t count, std::string_view what) { return ", " + Counted(count, what); }

}  // namespace

std::string ExactValues(DType dtype) {
  return dtype == DType::kString ? "strings, exact" : "integers, exact";
}

bool HoldsFloats(DType dtype) {
  return Kind(dtype) == DTypeKind::kFloat || Kind(dtype) == DTypeKind::kComplex;
}

DType PartOf(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  return dtype == DType::kComplex128 ? DType::kFloat64 : dtype;
}

std::string DescribeBound(const ErrorPrediction& prediction, DType dtype, bool graph_known) {
  if (!HoldsFloats(dtype)) {
    return prediction.steps ? "quantised integers, one step" : ExactValues(dtype);
  }
  const DType shown =
      prediction.coarsest != DType::kUndefined ? prediction.coarsest : PartOf(dtype);
  std::string text(DTypeName(shown));
  if (!graph_known) return text + ", graph not known";
  text += ", longest sum " + std::to_string(prediction.longest_sum);
  text += Count(prediction.layers, "layer");
  if (prediction.one_sided > 0) {
    text += Count(prediction.one_sided, "quantiser") + " of one side";
  } else if (prediction.quantisers > 0) {
    text += Count(prediction.quantisers, "quantiser");
  }
  if (!prediction.since.empty()) text += ", counted from '" + prediction.since + "'";
  if (prediction.unknown > 0) text += Count(prediction.unknown, "operator") + " without a rule";
  return text;
}

// What depends on a choice among near ties may be anything; all else is as predicted.
void AllowChoices(const ErrorPrediction& prediction, const Tensor& tensor, ErrorBound& bound) {
  const auto count = static_cast<double>(std::max<int64_t>(tensor.element_count(), 1));
  bound.allowed = std::min(bound.allowed + prediction.chosen + 0.5 / count, 1.0);
  const double clean = bound.clean > 0 ? bound.clean : kElementTimes * bound.rms;
  bound.clean = bound.allowed < 1 ? std::max(clean, kWholeStep) : 0;
  bound.within = bound.allowed < 1 ? bound.rms : 0;
  bound.rms = std::max(bound.rms, kAnything);
  bound.element = std::max(bound.element, kAnything * std::sqrt(count));
  bound.why += ", " + FormatG(100 * prediction.chosen, 3) + " % chosen among near ties";
}

ErrorBound MakeBound(const ErrorPrediction& prediction, const Tensor& tensor, bool graph_known) {
  ErrorBound bound;
  const DType dtype = tensor.dtype();
  const auto count = static_cast<double>(std::max<int64_t>(tensor.element_count(), 1));
  const double varies = 1 + kSampleDeviations / std::sqrt(2 * count);
  bound.why = DescribeBound(prediction, dtype, graph_known);
  bound.since = prediction.since;
  if (HoldsFloats(dtype)) {
    bound.roundoff = UnitRoundoff(prediction.coarsest);
    const bool is_short = prediction.alike && bound.roundoff > UnitRoundoff(DType::kFloat32);
    bound.rms = prediction.rms * varies * (is_short ? kShortTimes : 1);
    const double floor = LeastBound(tensor, std::min(bound.rms, prediction.clean));
    bound.rms = std::max(bound.rms, floor);
    bound.element = kElementSteps * prediction.step;
    bound.largest = kTailTimes * prediction.largest;
    bound.absolute = prediction.absolute;
    bound.rectified = prediction.rectified;
    bound.thinned = prediction.thinned;
    bound.crossed = prediction.crossed;
    bound.allowed = ReachedShare(prediction, tensor);
    const bool flips_show = prediction.clean <= kMostClean * prediction.step;
    if (prediction.step > 0 && bound.allowed < kMostReached && flips_show) {
      bound.clean = std::max(prediction.clean, floor);
    }
  } else if (prediction.steps) {
    bound.rms = prediction.rms * varies;
    bound.element = kElementSteps * prediction.step;
    bound.largest = kTailTimes * prediction.largest;
    bound.steps = true;
  }
  if (prediction.chosen > 0 && dtype != DType::kString) AllowChoices(prediction, tensor, bound);
  return bound;
}

}  // namespace vernier
