#include "compare/metric_traits.h"

#include <algorithm>
#include <array>

namespace vernier {
namespace {

using F = CompareFunction;
using O = CompareOptions;

constexpr std::array<MetricTraits, 8> kMetrics = {{
    {F::kL2, "l2_norm", "", false, kDefaultL2Threshold, &O::l2_threshold, "l2_threshold",
     "--l2-threshold"},
    {F::kCosineSimilarity, "cosine_similarity", "", true, kDefaultCosineThreshold,
     &O::cosine_threshold, "cosine_similarity_threshold", "--cosine-similarity-threshold"},
    {F::kPsnr, "psnr", " dB", true, kDefaultPsnrThreshold, &O::psnr_threshold, "psnr_threshold",
     "--psnr-threshold"},
    {F::kSnr, "snr", " dB", true, kDefaultSnrThreshold, &O::snr_threshold, "snr_threshold",
     "--snr-threshold"},
    {F::kRmse, "rmse", "", false, kDefaultRmseThreshold, &O::rmse_threshold, "rmse_threshold",
     "--rmse-threshold"},
    {F::kUlp, "max_ulp", " ULP", false, kDefaultUlpThreshold, &O::ulp_threshold, "ulp_threshold",
     "--ulp-threshold"},
    {F::kKlDivergence, "kl_divergence", " nats", false, kDefaultKlThreshold, &O::kl_threshold,
     "kl_divergence_threshold", "--kl-divergence-threshold"},
    {F::kPerceptual, "lpips", "", false, kDefaultLpipsThreshold, &O::lpips_threshold,
     "lpips_threshold", "--lpips-threshold"},
}};

}  // namespace

std::span<const MetricTraits> AllMetrics() { return kMetrics; }

const MetricTraits* FindMetric(CompareFunction function) {
  const auto found = std::find_if(kMetrics.begin(), kMetrics.end(),
                                  [&](const MetricTraits& m) { return m.function == function; });
  return found == kMetrics.end() ? nullptr : &*found;
}

}  // namespace vernier
