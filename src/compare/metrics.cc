#include "compare/metrics.h"

#include <limits>

#include "compare/metric_traits.h"

namespace vernier {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string TypesOf(const PairMeasurement& pair) {
  return std::string(DTypeName(pair.a().dtype())) + " and " +
         std::string(DTypeName(pair.b().dtype()));
}

Result<double> Product(CompareFunction function, PairMeasurement& pair) {
  const PairMeasures* measures = pair.Measure();
  if (measures == nullptr) return pair.status();
  if (pair.a().dtype() == DType::kString) {
    return InvalidArgument("strings have no " + std::string(CompareFunctionLabel(function)) +
                           "; --compare simple says whether they are equal");
  }
  const PairMetrics metrics = MakePairMetrics(measures->products, pair.a().element_count());
  switch (function) {
    case CompareFunction::kL2:
      return metrics.l2;
    case CompareFunction::kCosineSimilarity:
      return metrics.cosine;
    case CompareFunction::kPsnr:
      return metrics.psnr;
    case CompareFunction::kSnr:
      return metrics.snr;
    default:
      return metrics.rmse;
  }
}

// Integers are all representable: between them the distance is the difference. Not so bool, whose
// two values would be neighbours under every threshold.
bool SameIntegers(const Tensor& a, const Tensor& b) {
  const DTypeKind kind = Kind(a.dtype());
  return a.dtype() == b.dtype() &&
         (kind == DTypeKind::kSignedInt || kind == DTypeKind::kUnsignedInt);
}

Result<double> Ulp(PairMeasurement& pair) {
  const PairMeasures* measures = pair.Measure();
  if (measures == nullptr) return pair.status();
  if (SameIntegers(pair.a(), pair.b())) return measures->difference.absolute.max;
  if (!measures->ulp.applies) {
    return Unavailable(
        "distances in ULP are measured between two outputs of the same type of floats or of "
        "integers, not " +
        TypesOf(pair));
  }
  // A NaN is at no distance from anything.
  if (measures->ulp.measured < pair.a().element_count()) return kNan;
  return static_cast<double>(measures->ulp.max);
}

Result<double> KlDivergence(PairMeasurement& pair) {
  VERNIER_ASSIGN_OR_RETURN(const Divergence divergence,
                           MeasureDivergence(Elements(pair.a()), Elements(pair.b())));
  if (divergence.applies) return divergence.a_from_b;
  return Unavailable(
      "the KL divergence does not apply: it needs finite numbers on both sides, none below 0, with "
      "sums above 0, as a softmax gives");
}

Result<double> Perceptual(PairMeasurement& pair) {
  PerceptualMeasure* measure = pair.detail().perceptual;
  if (measure != nullptr) return measure->Measure(pair.a(), pair.b());
  return Unavailable(
      "LPIPS needs a Python with torch and lpips, and there is none here: pip install torch lpips");
}

Result<double> Measure(CompareFunction function, PairMeasurement& pair) {
  switch (function) {
    case CompareFunction::kUlp:
      return Ulp(pair);
    case CompareFunction::kKlDivergence:
      return KlDivergence(pair);
    case CompareFunction::kPerceptual:
      return Perceptual(pair);
    default:
      return Product(function, pair);
  }
}

}  // namespace

FunctionResult JudgeMetric(CompareFunction function, PairMeasurement& pair) {
  const MetricTraits& traits = *FindMetric(function);
  FunctionResult result;
  const Result<double> value = Measure(function, pair);
  if (!value.ok()) {
    // Perceptual measures of what is no image are asked for and not to be had either.
    const bool not_verified = value.status().code() == StatusCode::kUnavailable ||
                              function == CompareFunction::kPerceptual;
    result.verdict = not_verified ? Verdict::kNotVerified : Verdict::kFailed;
    result.why = value.status().message();
    return result;
  }
  const MetricResult metric{*value, traits.Threshold(pair.name(), pair.options())};
  if (!traits.Passes(metric.value, metric.threshold)) result.verdict = Verdict::kMismatched;
  result.data = metric;
  return result;
}

}  // namespace vernier
