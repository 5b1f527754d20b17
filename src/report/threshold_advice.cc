#include "report/threshold_advice.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "util/number_text.h"

namespace vernier {
namespace {

struct ThresholdFlag {
  std::string_view function;
  std::string_view flag;
  bool at_least;  // the value must reach the threshold, not stay below it
};
constexpr ThresholdFlag kFlags[] = {
    {"l2", "--l2-threshold", false},
    {"cosine_similarity", "--cosine-similarity-threshold", true},
    {"psnr", "--psnr-threshold", true},
    {"snr", "--snr-threshold", true},
    {"rmse", "--rmse-threshold", false},
    {"ulp", "--ulp-threshold", false},
    {"kl_divergence", "--kl-divergence-threshold", false},
    {"perceptual_metrics", "--lpips-threshold", false},
};

std::string Rounded(double value, bool at_least) {
  if (value == 0) return "0";
  const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(value))) - 1);
  const double steps = value / unit;
  return FormatG((at_least ? std::floor(steps) : std::ceil(steps)) * unit, 2);
}

}  // namespace

std::string ThresholdAdvice(const RunRecord& record) {
  std::string text;
  for (const ThresholdFlag& known : kFlags) {
    std::optional<double> worst;
    for (const PairRecord& pair : record.pairs) {
      for (const OutputRecord& output : pair.outputs) {
        for (const GateRecord& gate : output.figures.gates) {
          const bool failed = gate.function == known.function && gate.verdict == "failed";
          if (!failed || !gate.value || !std::isfinite(*gate.value)) continue;
          const double value = *gate.value;
          worst = !worst           ? value
                  : known.at_least ? std::min(*worst, value)
                                   : std::max(*worst, value);
        }
      }
    }
    if (worst) text += " " + std::string(known.flag) + " " + Rounded(*worst, known.at_least);
  }
  return text;
}

}  // namespace vernier
