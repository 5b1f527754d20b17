#include "run/steps/step_growth.h"

#include <algorithm>
#include <cmath>

namespace vernier {
namespace {

constexpr int64_t kLeastSteps = 8;
constexpr double kLeastRoundings = 8;
constexpr double kMostRelative = 0.1;

}  // namespace

void ErrorGrowth::Close() {
  closed_.step_step += open_.step_step;
  closed_.step_log += open_.step_log;
  closed_.log_log += open_.log_log;
  open_ = {};
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
  if (open_.count == 0) ++sequences_;
  ++steps_;
  open_.count += 1;
  const double step_off = static_cast<double>(step) - open_.mean_step;
  const double log_off = std::log(rms) - open_.mean_log;
  open_.mean_step += step_off / open_.count;
  open_.mean_log += log_off / open_.count;
  const double weight = (open_.count - 1) / open_.count;
  open_.step_step += weight * step_off * step_off;
  open_.step_log += weight * step_off * log_off;
  open_.log_log += weight * log_off * log_off;
}

std::optional<ErrorGrowth::Fit> ErrorGrowth::Get() const {
  ErrorGrowth all = *this;
  all.Close();
  const Sums& sums = all.closed_;
  const auto freedom = static_cast<double>(steps_ - sequences_ - 1);
  if (steps_ < kLeastSteps || sums.step_step <= 0 || freedom < 1) return std::nullopt;
  Fit fit;
  fit.slope = sums.step_log / sums.step_step;
  const double rest = std::max(0.0, sums.log_log - fit.slope * sums.step_log);
  fit.error = std::sqrt(rest / freedom / sums.step_step);
  fit.steps = steps_;
  return fit;
}

}  // namespace vernier
