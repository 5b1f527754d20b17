#include "kernels/classes/token_losses.h"

#include <cmath>
#include <limits>

namespace vernier {
namespace {

double MeanOfTokens(double sum, int64_t count) {
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

}  // namespace

void TokenLosses::Add(double loss, double more) {
  ++count_;
  losses_ += loss;
  const double apart = more - mean_;
  mean_ += apart / static_cast<double>(count_);
  squares_ += apart * (more - mean_);
  const double change = std::exp(-loss) * std::expm1(-more);
  changes_ += change * change;
}

// Chan, Golub and LeVeque, Updating Formulae and a Pairwise Algorithm for Computing Sample
// Variances (1979).
void TokenLosses::Append(const TokenLosses& later) {
  impossible_ += later.impossible_;
  if (later.count_ == 0) return;
  const auto before = static_cast<double>(count_), behind = static_cast<double>(later.count_);
  const double apart = later.mean_ - mean_;
  mean_ += apart * (behind / (before + behind));
  squares_ += later.squares_ + apart * apart * (before * behind / (before + behind));
  count_ += later.count_;
  losses_ += later.losses_;
  changes_ += later.changes_;
}

double TokenLosses::first_perplexity() const { return std::exp(MeanOfTokens(losses_, count_)); }

double TokenLosses::second_perplexity() const {
  return std::exp(MeanOfTokens(losses_, count_) + mean_);
}

double TokenLosses::ratio() const {
  return count_ == 0 ? std::numeric_limits<double>::quiet_NaN() : std::exp(mean_);
}

std::optional<double> TokenLosses::ratio_error() const {
  if (count_ < 2) return std::nullopt;
  const auto count = static_cast<double>(count_);
  return ratio() * std::sqrt(squares_ / (count - 1) / count);
}

double TokenLosses::probability_rms() const { return std::sqrt(MeanOfTokens(changes_, count_)); }

}  // namespace vernier
