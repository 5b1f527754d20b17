#include "report/text/step_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "util/counted.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// The smaller, the more it says.
auto RankOfTime(const OutputRecord& output) {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  const TimeRecord& time = *output.time;
  return std::tuple(time.first_bad_sequence.value_or(kNever), time.first_bad_step.value_or(kNever),
                    time.fed_back, -time.growth_per_step.value_or(-HUGE_VAL));
}

std::string GrowthInWords(const TimeRecord& time) {
  if (!time.growth_per_step) {
    return "is too small or too large to tell whether it grows: fewer than 8 steps have an error "
           "above rounding and below a tenth of the values";
  }
  const double slope = *time.growth_per_step, error = time.growth_error.value_or(0);
  const std::string from = " (from " + Counted(time.fitted_steps, "step") + ", standard error " +
                           FormatG(std::exp(slope) * error, 2) + ")";
  const std::string factor = FormatG(std::exp(slope), 4) + " times a step";
  if (std::abs(slope) <= 2 * error) return "neither grows nor dies out: " + factor + from;
  if (slope > 0) return "grows " + factor + from;
  return "dies out: " + factor + ", by half in " + FormatG(std::log(2) / -slope, 3) + " steps" +
         from;
}

}  // namespace

std::string FormatSteps(const PairRecord& pair) {
  const OutputRecord* told = nullptr;
  for (const OutputRecord& output : pair.outputs) {
    if (!output.time) continue;
    if (told == nullptr || RankOfTime(output) < RankOfTime(*told)) told = &output;
  }
  if (told == nullptr) return "";
  const TimeRecord& time = *told->time;
  // A NaN is no error of 0.
  const bool no_error = time.largest_rms == 0.0 && !time.first_bad_step;
  std::string text = std::string(time.own ? "each step's own error" : "the error") +
                     " of output '" + told->name + "' " +
                     (no_error ? "is 0 at every step" : GrowthInWords(time)) + "; ";
  if (!time.first_bad_step && told->not_verified > 0) {
    return text + Counted(told->not_verified, "step") + " could not be judged";
  }
  if (!time.first_bad_step) return text + "no step is out of tolerance";
  return text + "first out of tolerance at step " + std::to_string(*time.first_bad_step) +
         " of sequence " + std::to_string(time.first_bad_sequence.value_or(0));
}

}  // namespace vernier
