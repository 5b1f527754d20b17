#include "run/steps/step_growth.h"

#include <algorithm>
#include <cmath>

namespace vernier {
namespace {

constexpr int64_t kLeastSteps = 8;
constexpr double kLeastRoundings = 8;
constexpr double kMostRelative = 0.1;
constexpr int64_t kMostBins = 64;

}  // namespace

void ErrorGrowth::Sums::Add(int64_t step, double log) {
  if (count == 0) first_step = step;
  count += 1;
  const double step_off = static_cast<double>(step) - mean_step;
  const double log_off = log - mean_log;
  mean_step += step_off / count;
  mean_log += log_off / count;
  const double weight = (count - 1) / count;
  step_step += weight * step_off * step_off;
  step_log += weight * step_off * log_off;
  log_log += weight * log_off * log_off;
}

// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances" (1979).
void ErrorGrowth::Sums::Join(const Sums& later) {
  if (later.count == 0) return;
  if (count == 0) first_step = later.first_step;
  const double both = count + later.count;
  const double step_off = later.mean_step - mean_step, log_off = later.mean_log - mean_log;
  const double weight = count * later.count / both;
  step_step += later.step_step + weight * step_off * step_off;
  step_log += later.step_log + weight * step_off * log_off;
  log_log += later.log_log + weight * log_off * log_off;
  mean_step += step_off * later.count / both;
  mean_log += log_off * later.count / both;
  count = both;
}

void ErrorGrowth::Pool::Add(const Sums& group) {
  if (group.count == 0) return;
  first_step = groups == 0 ? group.first_step : std::min(first_step, group.first_step);
  step_step += group.step_step;
  step_log += group.step_log;
  log_log += group.log_log;
  steps += static_cast<int64_t>(group.count);
  ++groups;
}

std::optional<ErrorGrowth::Fit> ErrorGrowth::Pool::Get() const {
  const auto freedom = static_cast<double>(steps - groups - 1);
  if (steps < kLeastSteps || step_step <= 0 || freedom < 1) return std::nullopt;
  Fit fit{.slope = step_log / step_step, .steps = steps, .first_step = first_step};
  const double rest = std::max(0.0, log_log - fit.slope * step_log);
  fit.error = std::sqrt(rest / freedom / step_step);
  return fit;
}

void ErrorGrowth::AddToBins(int64_t step, double log) {
  while (step / width_ >= kMostBins) {
    for (size_t i = 1; i < bins_.size(); ++i) {
      if (i % 2 == 1) {
        bins_[i / 2].Join(bins_[i]);
      } else {
        bins_[i / 2] = bins_[i];
      }
    }
    bins_.resize((bins_.size() + 1) / 2);
    width_ *= 2;
  }
  const auto place = static_cast<size_t>(step / width_);
  if (bins_.size() <= place) bins_.resize(place + 1);
  bins_[place].Add(step, log);
}

ErrorGrowth::Sums ErrorGrowth::SecondHalf() const {
  Sums half;
  if (open_.count == 0) return half;
  const auto last = static_cast<int64_t>(bins_.size()) * width_ - 1;
  const int64_t middle = (open_.first_step + last + 1) / 2;
  for (size_t i = 0; i < bins_.size(); ++i) {
    if (static_cast<int64_t>(i) * width_ >= middle) half.Join(bins_[i]);
  }
  return half;
}

void ErrorGrowth::Close() {
  closed_.Add(open_);
  late_.Add(SecondHalf());
  open_ = {};
  bins_.clear();
  width_ = 1;
}

void ErrorGrowth::Add(int64_t sequence, int64_t step, double rms, double relative,
                      double roundoff) {
  if (sequence != sequence_) {
    Close();
    sequence_ = sequence;
    ended_ = false;
  }
  ended_ |= !std::isfinite(rms);
  const bool tells = rms > 0 && relative >= kLeastRoundings * roundoff && relative <= kMostRelative;
  if (ended_ || !tells) return;
  open_.Add(step, std::log(rms));
  AddToBins(step, std::log(rms));
}

std::optional<ErrorGrowth::Fit> ErrorGrowth::Get() const {
  ErrorGrowth all = *this;
  all.Close();
  return all.closed_.Get();
}

std::optional<ErrorGrowth::Fit> ErrorGrowth::GetLate() const {
  ErrorGrowth all = *this;
  all.Close();
  return all.late_.Get();
}

}  // namespace vernier
