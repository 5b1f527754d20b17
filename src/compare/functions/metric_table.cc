#include "compare/functions/metric_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compare/functions/comparison.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

PairMetrics MetricsOf(const MetricInput& pair) {
  return MakePairMetrics(pair.measures->products, pair.a.element_count());
}

Result<double> L2(const MetricInput& pair) { return MetricsOf(pair).l2; }
// No elements, no error.
Result<double> Rmse(const MetricInput& pair) {
  return pair.a.element_count() == 0 ? 0.0 : MetricsOf(pair).rmse;
}

// Below this, squares of float64 lose digits or vanish; those of smaller types never get there.
constexpr double kLeastSquare = 1e-280;

// The sums share their scale. No difference is 0, between zeros too.
Result<double> RelativeL2(const MetricInput& pair) {
  ProductSums sums = pair.measures->products;
  const bool wide = std::max(BitsOf(pair.a.dtype()), BitsOf(pair.b.dtype())) >= 64;
  if (wide && std::max(sums.b_squared, sums.difference_squared) < kLeastSquare) {
    if (!pair.bytes_here) {
      return Unavailable(
          "the relative L2 norm cannot be computed on the device: the squares of such small "
          "numbers "
          "vanish; -v compares the outputs here");
    }
    sums = ScaledProductSums(Elements(pair.a), Elements(pair.b)).value_or(sums);
  }
  if (sums.difference_squared == 0) return 0.0;
  return std::sqrt(sums.difference_squared) / std::sqrt(sums.b_squared);
}

Result<double> Cosine(const MetricInput& pair) { return MetricsOf(pair).cosine; }
Result<double> Psnr(const MetricInput& pair) { return MetricsOf(pair).psnr; }
Result<double> Snr(const MetricInput& pair) { return MetricsOf(pair).snr; }

Result<double> Perceptual(const MetricInput& pair) {
  if (pair.perceptual == nullptr) {
    return Unavailable(
        "LPIPS needs a Python with torch and lpips, and there is none here: pip install torch "
        "lpips");
  }
  Result<double> distance = pair.perceptual->Measure(pair.a, pair.b);
  // Outputs that are no images have no such distance either.
  if (!distance.ok()) return Unavailable(distance.status().message());
  return distance;
}

// Integers are all representable: between them the distance is the difference. Not so bool, whose
// two values would be neighbours under every threshold.
bool AreSameIntegers(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && IsIntegral(a.dtype());
}

Result<double> LargestUlp(const MetricInput& pair) {
  const PairMeasures& measures = *pair.measures;
  if (AreSameIntegers(pair.a, pair.b)) return measures.difference.absolute.max;
  if (!measures.ulp.applies) {
    return Unavailable(
        "ULP distances need two outputs of the same floating-point or integer type, not " +
        std::string(DTypeName(pair.a.dtype())) + " and " + std::string(DTypeName(pair.b.dtype())));
  }
  // A NaN is at no distance from anything.
  if (measures.ulp.measured < pair.a.element_count()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return static_cast<double>(measures.ulp.max);
}

Result<double> KlDivergence(const MetricInput& pair) {
  VERNIER_ASSIGN_OR_RETURN(const Divergence divergence,
                           MeasureDivergence(Elements(pair.a), Elements(pair.b)));
  if (divergence.applies) return divergence.a_from_b;
  return Unavailable(
      "the KL divergence does not apply: it needs finite numbers on both sides, none below 0, with "
      "sums above 0, as a softmax gives");
}

bool OfEveryPair(const MetricInput&) { return true; }

// A logarithm an element is spent only on what the statistics say could be distributions.
bool CouldBeDistributions(const MetricInput& pair) {
  const auto could_be = [](const Tensor& tensor, const ValueStatistics& side) {
    return Kind(tensor.dtype()) == DTypeKind::kFloat && side.min >= 0 && side.nan_count == 0 &&
           side.infinite_count == 0 && side.max > 0;
  };
  return could_be(pair.a, pair.measures->a) && could_be(pair.b, pair.measures->b);
}

constexpr MetricRow kMetricTable[] = {
    {.function = CompareFunction::kL2,
     .name = "l2",
     .group = "distance_metrics",
     .label = "L2 Norm",
     .field = "l2_norm",
     .value = L2,
     .recorded = OfEveryPair,
     .brief = "L2",
     .title = "L2 norm, RMSE",
     .flag = "--l2-threshold",
     .alias = "--l2-tolerance",
     .threshold = "l2_threshold",
     .builtin = "1e-5",
     .help = "Largest L2 norm of the difference.",
     .polygraphy = "L2",
     .polygraphy_threshold = "L2Threshold"},
    {.function = CompareFunction::kRmse,
     .name = "rmse",
     .label = "RMSE",
     .field = "rmse",
     .value = Rmse,
     .recorded = OfEveryPair,
     .brief = "RMSE",
     .title = "L2 norm, RMSE",
     .flag = "--rmse-threshold",
     .threshold = "rmse_threshold",
     .builtin = "1e-5",
     .help = "Largest root of the mean squared difference."},
    {.function = CompareFunction::kRelativeL2,
     .name = "relative_l2",
     .label = "Relative L2 Norm",
     .field = "relative_l2",
     .value = RelativeL2,
     .recorded = OfEveryPair,
     .title = "relative L2 norm",
     .flag = "--relative-l2-threshold",
     .threshold = "relative_l2_threshold",
     .builtin = "1e-3",
     .help = "Largest L2 norm of the difference, divided by that of the second runner's output."},
    {.function = CompareFunction::kCosineSimilarity,
     .name = "cosine_similarity",
     .group = "distance_metrics",
     .label = "Cosine Similarity",
     .field = "cosine_similarity",
     .higher_is_better = true,
     .value = Cosine,
     .recorded = OfEveryPair,
     .brief = "cosine similarity",
     .title = "cosine similarity",
     .digits = 7,
     .flag = "--cosine-similarity-threshold",
     .threshold = "cosine_similarity_threshold",
     .builtin = "0.997",
     .help = "Smallest cosine similarity.",
     .polygraphy = "CosineSimilarity",
     .polygraphy_threshold = "CosineSimilarityThreshold"},
    {.function = CompareFunction::kPsnr,
     .name = "psnr",
     .group = "quality_metrics",
     .label = "PSNR",
     .field = "psnr",
     .unit = " dB",
     .higher_is_better = true,
     .value = Psnr,
     .recorded = OfEveryPair,
     .brief = "PSNR",
     .title = "PSNR, SNR",
     .flag = "--psnr-threshold",
     .alias = "--psnr-tolerance",
     .threshold = "psnr_threshold",
     .builtin = "30",
     .metavar = "[OUTPUT:]DB",
     .help = "Smallest peak signal-to-noise ratio, in decibels. The peak is the largest value of"
             " the first runner's output, or 1 if none is positive.",
     .polygraphy = "Psnr",
     .polygraphy_threshold = "PsnrThreshold"},
    {.function = CompareFunction::kSnr,
     .name = "snr",
     .group = "quality_metrics",
     .label = "SNR",
     .field = "snr",
     .unit = " dB",
     .higher_is_better = true,
     .value = Snr,
     .recorded = OfEveryPair,
     .brief = "SNR",
     .title = "PSNR, SNR",
     .flag = "--snr-threshold",
     .alias = "--snr-tolerance",
     .threshold = "snr_threshold",
     .builtin = "20",
     .metavar = "[OUTPUT:]DB",
     .help = "Smallest signal-to-noise ratio, in decibels.",
     .polygraphy = "Snr",
     .polygraphy_threshold = "SnrThreshold"},
    {.function = CompareFunction::kPerceptual,
     .name = "perceptual_metrics",
     .label = "LPIPS",
     .field = "lpips",
     .needs = MetricNeeds::kElements,
     .value = Perceptual,
     .flag = "--lpips-threshold",
     .alias = "--lpips-tolerance",
     .threshold = "lpips_threshold",
     .builtin = "0.1",
     .help = "Largest perceptual distance (LPIPS).",
     .polygraphy = "PerceptualMetrics",
     .polygraphy_threshold = "LpipsThreshold"},
    {.function = CompareFunction::kUlp,
     .name = "ulp",
     .label = "Largest ULP Distance",
     .field = "max_ulp",
     .unit = " ULP",
     .needs = MetricNeeds::kUlp,
     .value = LargestUlp,
     .flag = "--ulp-threshold",
     .threshold = "ulp_threshold",
     .builtin = "4",
     .metavar = "[OUTPUT:]N",
     .help = "Largest distance of two elements, in representable numbers (ULP)."},
    {.function = CompareFunction::kKlDivergence,
     .name = "kl_divergence",
     .label = "KL Divergence",
     .field = "kl_divergence",
     .unit = " nats",
     .needs = MetricNeeds::kElements,
     .value = KlDivergence,
     .recorded = CouldBeDistributions,
     .brief = "KL divergence",
     .title = "KL divergence",
     .flag = "--kl-divergence-threshold",
     .threshold = "kl_divergence_threshold",
     .builtin = "1e-3",
     .help = "Largest Kullback-Leibler divergence of the first runner of a pair from the second,"
             " in nats."},
};

constexpr bool IsWholeAndInOrder() {
  for (size_t i = 0; i < std::size(kMetricTable); ++i) {
    if (MetricIndex(kMetricTable[i].function) != i || kMetricTable[i].value == nullptr)
      return false;
  }
  return std::size(kMetricTable) == kMetricCount;
}
static_assert(IsWholeAndInOrder(), "a row, with a value, for each metric of CompareFunction");

}  // namespace

double MetricRow::Threshold(std::string_view output, const CompareOptions& options) const {
  return options.thresholds[function].Lookup(output, ParseDouble(builtin).value_or(0));
}

std::span<const MetricRow> MetricTable() { return kMetricTable; }

std::span<const MetricRow* const> MetricsByOrigin() {
  static const std::array<const MetricRow*, kMetricCount> metrics = [] {
    std::array<const MetricRow*, kMetricCount> rows;
    std::transform(std::begin(kMetricTable), std::end(kMetricTable), rows.begin(),
                   [](const MetricRow& row) { return &row; });
    std::stable_partition(rows.begin(), rows.end(),
                          [](const MetricRow* row) { return !row->is_ours(); });
    return rows;
  }();
  return metrics;
}

const MetricRow* FindMetric(CompareFunction function) {
  const size_t index = MetricIndex(function);
  return index < kMetricCount ? &kMetricTable[index] : nullptr;
}

}  // namespace vernier
