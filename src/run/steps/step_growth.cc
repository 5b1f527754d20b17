#include "run/steps/step_growth.h"

#include <algorithm>
#include <cmath>

#include "util/values/student.h"

namespace vernier {
namespace {

constexpr int64_t kLeastSteps = 8;
constexpr double kLeastRoundings = 8;
constexpr double kMostRelative = 0.1;
constexpr int64_t kMostBins = 64;
constexpr int64_t kLeastCorrelated = 16;

// Of the variance of a slope over residuals of this correlation from step to step.
double Inflation(double correlation) { return (1 + correlation) / (1 - correlation); }

// By how much wider two standard errors are that hold as often with so many degrees of freedom: the
// quantile 0.975 of Student's t over that of the normal distribution (Fisher and Cornish 1960).
double Widening(double freedom) {
  constexpr double kNormal = 1.96;
  constexpr double kSquare = kNormal * kNormal;
  const double first = (kSquare + 1) / 4;
  const double second = ((5 * kSquare + 16) * kSquare + 3) / 96;
  return 1 + first / freedom + second / (freedom * freedom);
}

}  // namespace

// A correlation that was found is uncertain, and what is taken for growth has one that is too
// small: so it is taken to be larger by a standard error. What is called growth has an interval, of
// two standard errors, without the slope 0.
double ErrorGrowth::Fit::Limit(const Family& family) const {
  constexpr double kTail = 0.025, kLeastFreedom = 2;
  const double tail = kTail / static_cast<double>(std::max<int64_t>(family.outputs, 1));
  const double unsure = std::sqrt((1 - correlation * correlation) / residuals);
  const double own = std::min(correlation + unsure, 1 - 2 / residuals);
  const double inflation = Inflation(std::max(own, family.correlation));
  const double freedom = std::max(kLeastFreedom, residuals / inflation - taken);
  const double by_chance = std::max(plain, noise * std::sqrt(inflation));
  return std::max(by_chance * StudentQuantile(tail, freedom), 2 * error);
}

ErrorGrowth::Family ErrorGrowth::FamilyOf(std::span<const Fit> fits) {
  Family family{.outputs = static_cast<int64_t>(fits.size())};
  for (const Fit& fit : fits) {
    family.correlation += fit.correlation / static_cast<double>(fits.size());
  }
  return family;
}

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

void ErrorGrowth::Sums::AddRise(double rise) {
  pairs += 1;
  const double off = rise - mean_rise;
  mean_rise += off / pairs;
  rise_rise += (pairs - 1) / pairs * off * off;
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
  if (later.pairs == 0) return;
  const double all = pairs + later.pairs, rise_off = later.mean_rise - mean_rise;
  rise_rise += later.rise_rise + pairs * later.pairs / all * rise_off * rise_off;
  mean_rise += rise_off * later.pairs / all;
  pairs = all;
}

void ErrorGrowth::Pool::Add(const Sums& group) {
  if (group.count == 0) return;
  first_step = groups == 0 ? group.first_step : std::min(first_step, group.first_step);
  step_step += group.step_step;
  step_log += group.step_log;
  log_log += group.log_log;
  pairs += group.pairs;
  rise += group.pairs * group.mean_rise;
  rise_rise += group.rise_rise + group.pairs * group.mean_rise * group.mean_rise;
  steps += static_cast<int64_t>(group.count);
  ++groups;
}

double ErrorGrowth::Pool::Rest() const { return std::max(0.0, log_log - Slope() * step_log); }

// Of neighbouring residuals, within [0, 1): from the statistic of Durbin and Watson, whose bias is
// taken out to first order (Marriott and Pope 1954, Kendall 1954).
double ErrorGrowth::Pool::Correlation() const {
  const double slope = Slope();
  const double turns = rise_rise - 2 * slope * rise + slope * slope * pairs;
  if (groups == 0 || pairs == 0 || !(Rest() > 0)) return 0;
  const double length = static_cast<double>(steps) / static_cast<double>(groups);
  if (length < kLeastCorrelated / 2) return 0;
  const double found = 1 - turns / pairs / (2 * Rest() / static_cast<double>(steps));
  return std::clamp((found + 2 / length) / (1 - 4 / length), 0.0, 1 - 2 / length);
}

std::optional<ErrorGrowth::Fit> ErrorGrowth::Pool::Get() const {
  const auto freedom = static_cast<double>(steps - groups - 1);
  if (steps < kLeastSteps || step_step <= 0 || freedom < 1) return std::nullopt;
  Fit fit{.slope = Slope(), .steps = steps, .first_step = first_step};
  fit.error = fit.plain = fit.noise = std::sqrt(Rest() / freedom / step_step);
  fit.residuals = static_cast<double>(steps);
  fit.taken = static_cast<double>(groups + 1);
  fit.correlation = Correlation();
  return fit;
}

void ErrorGrowth::AddToBins(int64_t step, double log, bool goes_on) {
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
  if (goes_on) bins_[place].AddRise(log - last_log_);
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
  last_step_ = -1;
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
  const double log = std::log(rms);
  const bool goes_on = last_step_ >= 0 && last_step_ + 1 == step;
  open_.Add(step, log);
  if (goes_on) open_.AddRise(log - last_log_);
  AddToBins(step, log, goes_on);
  last_step_ = step;
  last_log_ = log;
}

// What is noise, and how it goes on, is seen in the second half: a start that dies out, or a bend,
// is seldom in it. What one line leaves of those counts as noise that does not go on.
std::optional<ErrorGrowth::Fit> ErrorGrowth::Get() const {
  ErrorGrowth all = *this;
  all.Close();
  std::optional<Fit> fit = all.closed_.Get();
  const std::optional<Fit> late = GetLate();
  if (!fit || !late || fit->steps < kLeastCorrelated) return fit;
  const double scale = std::sqrt(all.late_.step_step / all.closed_.step_step);
  fit->error = std::max(fit->error, late->error * scale);
  fit->noise = late->plain * scale;
  fit->residuals = late->residuals;
  fit->taken = late->taken;
  fit->correlation = late->correlation;
  return fit;
}

std::optional<ErrorGrowth::Fit> ErrorGrowth::GetLate() const {
  ErrorGrowth all = *this;
  all.Close();
  std::optional<Fit> fit = all.late_.Get();
  if (!fit) return fit;
  const double inflation = Inflation(fit->correlation);
  const double freedom = std::max(1.0, fit->residuals / inflation - fit->taken);
  fit->error *= std::sqrt(inflation) * Widening(freedom);
  return fit;
}

}  // namespace vernier
