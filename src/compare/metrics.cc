#include "compare/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/metric_traits.h"
#include "kernels/products.h"

namespace vernier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Cosine(const ProductSums& sums) {
  const double norm_a = std::sqrt(sums.a_squared);
  const double norm_b = std::sqrt(sums.b_squared);
  if (norm_a == 0 && norm_b == 0) return 1;
  if (norm_a == 0 || norm_b == 0) return 0;
  const double cosine = sums.dot / (norm_a * norm_b);
  return std::isnan(cosine) ? cosine : std::clamp(cosine, -1.0, 1.0);
}

double Psnr(const ProductSums& sums, double count) {
  const double error = sums.difference_squared / count;
  if (error == 0) return kInfinity;
  const double peak = sums.a_max <= 0 ? 1.0 : sums.a_max;
  return 20 * std::log10(peak) - 10 * std::log10(error);
}

double Snr(const ProductSums& sums, double count) {
  const double signal = sums.a_squared / count;
  const double noise = sums.difference_squared / count;
  if (noise == 0) return kInfinity;
  if (signal == 0) return -kInfinity;
  return 10 * std::log10(signal / noise);
}

double Metric(CompareFunction function, const ProductSums& sums, int64_t count) {
  switch (function) {
    case CompareFunction::kL2:
      return std::sqrt(sums.difference_squared);
    case CompareFunction::kCosineSimilarity:
      return Cosine(sums);
    case CompareFunction::kPsnr:
      return Psnr(sums, static_cast<double>(count));
    case CompareFunction::kSnr:
      return Snr(sums, static_cast<double>(count));
    case CompareFunction::kRmse:
      return std::sqrt(sums.difference_squared / static_cast<double>(count));
    default:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

FunctionResult CompareMetric(CompareFunction function, std::string_view name, const Tensor& a,
                             const Tensor& b, const CompareOptions& options) {
  FunctionResult result;
  Result<ProductSums> sums = ComputeProductSums(Elements(a), Elements(b));
  if (!sums.ok()) {
    result.verdict = Verdict::kFailed;
    result.why = sums.status().message();
    return result;
  }
  MetricResult metric;
  const MetricTraits& traits = *FindMetric(function);
  metric.threshold = traits.Threshold(name, options);
  metric.value = Metric(function, *sums, a.element_count());
  if (!traits.Passes(metric.value, metric.threshold)) {
    result.verdict = Verdict::kMismatched;
  }
  result.data = metric;
  return result;
}

}  // namespace vernier
