#include "run/figures/logits_totals.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vernier {
namespace {

double ShareOf(int64_t some, int64_t all) {
  return all == 0 ? std::numeric_limits<double>::quiet_NaN()
                  : static_cast<double>(some) / static_cast<double>(all);
}

}  // namespace

void LogitsTotals::Add(const LogitMeasures& measures) {
  ++record_.iterations;
  record_.compared += measures.compared;
  record_.flips += measures.flips;
  record_.close_flips += measures.close_flips;
  record_.nan += measures.nan;
  record_.infinite += measures.infinite;
  equal_top1_ += measures.equal_top1;
  equal_sets_ += measures.equal_sets;
  const int64_t more = measures.compared + measures.torn;
  if (more == 0) return;
  record_.kl_max = divergences_ == 0 ? measures.divergence_most
                                     : std::max(record_.kl_max, measures.divergence_most);
  // Chan, Golub and LeVeque (1983): sums of squares of two sets.
  const auto old_count = static_cast<double>(divergences_), count = static_cast<double>(more);
  divergences_ += more;
  if (std::isinf(mean_) || std::isinf(measures.divergence_mean)) {  // a torn position
    mean_ = std::numeric_limits<double>::infinity();
    squares_ = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  const double distance = measures.divergence_mean - mean_;
  const double error = measures.divergence_error.value_or(0);
  const auto all = static_cast<double>(divergences_);
  mean_ = old_count == 0 ? measures.divergence_mean : mean_ + distance * (count / all);
  squares_ += error * error * count * (count - 1);
  if (old_count > 0) squares_ += distance * distance * (old_count * count / all);
}

std::optional<LogitsTotalsRecord> LogitsTotals::Get() const {
  if (record_.iterations < 2) return std::nullopt;
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  LogitsTotalsRecord record = record_;
  const auto count = static_cast<double>(divergences_);
  record.kl_mean = divergences_ > 0 ? mean_ : kUnknown;
  if (divergences_ == 0) record.kl_max = kUnknown;
  record.kl_error = divergences_ > 1 ? std::sqrt(squares_ / (count * (count - 1))) : kUnknown;
  record.top1_share = ShareOf(equal_top1_, record.compared);
  record.top_k_share = ShareOf(equal_sets_, record.compared);
  return record;
}

}  // namespace vernier
