#include "run/figures/logits_total_gate.h"

#include <algorithm>
#include <cmath>

#include "util/text/number_text.h"
#include "vernier/tensor.h"

namespace vernier {
namespace {

// Means of iterations are about lognormal. So far above their median, by the spread of the larger
// ones, is one in three millions.
constexpr double kBeyond = 5;
constexpr double kLeastSpread = 0.5;
constexpr double kQuartile = 0.6745;  // of the normal distribution

double AtShare(std::vector<double>& values, double share) {
  const auto place = static_cast<ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<size_t>(place)];
}

bool IsNumber(const LogitsRecord& logits) {
  return logits.compared > 0 && logits.nan + logits.infinite + logits.torn == 0;
}

}  // namespace

bool OnlyLogitsFail(const OutputComparison& output) {
  return std::ranges::all_of(output.functions, [](const FunctionResult& result) {
    const bool by_logits =
        result.function == CompareFunction::kLogits && result.verdict == Verdict::kMismatched;
    return result.passed() || by_logits;
  });
}

void LogitsTotalGate::Add(const OutputComparison& output, const OutputRow& row, int64_t iteration) {
  const bool passed = row.verdict == "passed";
  failed_ |= row.verdict == "failed";
  if (!row.logits || !IsNumber(*row.logits)) {
    fails_otherwise_ |= !passed;
    return;
  }
  fails_otherwise_ |= !passed && !OnlyLogitsFail(output);
  const LogitsRecord& logits = *row.logits;
  const auto count = static_cast<double>(logits.compared);
  kl_threshold_ = logits.kl_threshold;
  top1_threshold_ = logits.top1_threshold;
  positions_ += count;
  divergence_ += logits.kl_mean * count;
  equal_ += std::round(logits.top1_judged * count);
  means_.push_back(logits.kl_mean);
  if (peak_.iteration < 0 || logits.kl_max > peak_.divergence) {
    peak_ = {iteration, logits.kl_max, logits.kl_max_position};
  }
  if (worst_.iteration < 0 || logits.kl_mean > worst_.mean) worst_ = {iteration, logits.kl_mean};
}

bool LogitsTotalGate::Passes() const {
  return positions_ > 0 && divergence_ / positions_ <= kl_threshold_ &&
         equal_ / positions_ >= top1_threshold_;
}

double LogitsTotalGate::Limit() const {
  if (means_.empty()) return kl_threshold_;
  std::vector<double> means = means_;
  const double median = AtShare(means, 0.5), upper = AtShare(means, 0.75);
  if (!(median > 0)) return kl_threshold_;
  const double spread = std::max(std::log(upper / median) / kQuartile, kLeastSpread);
  return std::max(kl_threshold_, median * std::exp(kBeyond * spread));
}

std::string LogitsTotalGate::DescribeBeyondNoise() const {
  if (!failed_ || fails_otherwise_ || !Passes() || !BeyondNoise()) return "";
  return "all positions together are within the thresholds of logits, but iteration " +
         std::to_string(worst_.iteration) + " has a mean KL divergence of " +
         FormatG(worst_.mean, 5) + " nats, beyond the noise of the others (up to " +
         FormatG(Limit(), 3) + ")";
}

std::string LogitsTotalGate::DescribePeak() const {
  constexpr double kHidden = 100;
  if (fails_otherwise_ || !Passes() || !(kl_threshold_ > 0)) return "";
  if (!(peak_.divergence > kHidden * kl_threshold_)) return "";
  return "the mean KL divergence is within its threshold, but that of position " +
         FormatDims(peak_.position) + " in iteration " + std::to_string(peak_.iteration) + " is " +
         FormatG(peak_.divergence, 5) + " nats, " +
         FormatG(std::round(peak_.divergence / kl_threshold_), 6) +
         " times that: a fault of few positions hides in a mean of many";
}

}  // namespace vernier
