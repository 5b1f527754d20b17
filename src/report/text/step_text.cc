#include "report/text/step_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

enum class Trend { kLevel, kGrows, kDiesOut };

Trend TrendOf(double slope, double noise) {
  constexpr double kNoSlope = 1e-4;  // less than the digits show
  if (std::abs(slope) <= std::max(noise, kNoSlope)) return Trend::kLevel;
  return slope > 0 ? Trend::kGrows : Trend::kDiesOut;
}

std::string FactorInWords(double slope) { return FormatG(std::exp(slope), 4) + " times a step"; }

std::string HalfLifeInWords(double slope) {
  return "by half in " + Counted(FormatG(std::log(2) / -slope, 3), "step");
}

// What a slope has to exceed to be seen.
double LimitOf(const TimeRecord& time) {
  return time.growth_limit.value_or(2 * time.growth_error.value_or(0));
}
double LateLimitOf(const TimeRecord& time) {
  return time.late_growth_limit.value_or(2 * time.late_growth_error.value_or(0));
}

// Over all steps.
Trend TrendOf(const TimeRecord& time) {
  return TrendOf(time.growth_per_step.value_or(0), LimitOf(time));
}

// Of the second half of the steps; none: it may go on as over all of them.
std::optional<Trend> LateTrendOf(const TimeRecord& time) {
  constexpr double kFlat = 0.1;  // of the slope over all
  if (!time.late_growth_per_step || !time.growth_per_step) return std::nullopt;
  const Trend all = TrendOf(time);
  const double late = *time.late_growth_per_step, slope = *time.growth_per_step;
  const double noise = (all == Trend::kLevel ? 1.5 : 1) * LateLimitOf(time);
  if (std::abs(late - slope) <= noise) return std::nullopt;
  const Trend now = TrendOf(late, std::max(noise, kFlat * std::abs(slope)));
  return now == all ? std::nullopt : std::optional(now);
}

// Empty: the same as over all steps.
std::string LateInWords(const TimeRecord& time) {
  const std::optional<Trend> now = LateTrendOf(time);
  if (!now) return "";
  const double late = *time.late_growth_per_step;
  const std::string from = " from step " + std::to_string(time.late_first_step.value_or(0)) + " on";
  if (*now == Trend::kLevel) return " and has levelled off: " + FactorInWords(late) + from;
  if (*now == Trend::kGrows) return ", but grows" + from + ": " + FactorInWords(late);
  return ", but dies out" + from + ": " + FactorInWords(late) + ", " + HalfLifeInWords(late);
}

// The slope of an error that is seen to grow.
std::optional<double> GrowingSlope(const TimeRecord& time) {
  if (LateTrendOf(time) == Trend::kGrows) return time.late_growth_per_step;
  return TrendOf(time) == Trend::kGrows ? time.growth_per_step : std::nullopt;
}

// The smaller, the more it says.
auto RankOfTime(const OutputRecord& output) {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  const TimeRecord& time = *output.time;
  const std::optional<double> grows = GrowingSlope(time);
  const double largest = time.largest_rms.value_or(0);
  return std::tuple(time.first_bad_step.value_or(kNever), time.first_bad_sequence.value_or(kNever),
                    largest == 0, time.fed_back, !grows,
                    -grows.value_or(time.growth_per_step.value_or(-HUGE_VAL)), -largest);
}

std::optional<int64_t> FirstNan(const std::vector<StepPoint>& curve) {
  const auto nan = std::ranges::find_if(
      curve, [](const StepPoint& point) { return point.rms && std::isnan(*point.rms); });
  return nan == curve.end() ? std::nullopt : std::optional(nan->step);
}

// Where no slope could be fitted.
std::string UnfittedInWords(const TimeRecord& time) {
  const std::string few =
      "too small or too large to tell whether it grows: fewer than 8 steps have an error above "
      "rounding and below a tenth of the values";
  const auto has_error = [](const StepPoint& point) { return point.rms.has_value(); };
  if (std::ranges::none_of(time.curve, has_error)) return "could not be measured";
  const std::optional<int64_t> nan = FirstNan(time.curve);
  constexpr int64_t kFewest = 8;
  const int64_t known = std::ranges::count_if(time.curve, has_error);
  if (!nan && known < kFewest) {
    return "is known at " + Counted(known, "step") + " of a sequence, and it takes " +
           std::to_string(kFewest) + " to tell whether it grows";
  }
  if (!nan) return "is " + few;
  if (!time.largest_rms)
    return "is NaN wherever it was measured, at step " + std::to_string(*nan) + " first";
  return "is NaN, at step " + std::to_string(*nan) + " first, and " +
         (*time.largest_rms == 0 ? "0 at the others" : "otherwise " + few);
}

std::string NoErrorInWords(const PairRecord& pair, const OutputRecord& output) {
  const TimeRecord& time = *output.time;
  if (output.not_verified > 0) return "is 0 at every step that could be judged";
  // Records of before do not say how many these are.
  const int64_t measured = time.measured_steps > 0 ? time.measured_steps : time.steps;
  const int64_t steps = std::max(pair.expected_iterations, time.steps);
  if (measured == steps) return "is 0 at every step";
  return "is 0 wherever it was compared, at " + CountedOf(measured, steps, "step");
}

// Is a slope that means much within the noise?
bool CannotDetermine(const TimeRecord& time) {
  const double much = std::log(1.05);
  return time.growth_per_step && TrendOf(time) == Trend::kLevel && !LateTrendOf(time) &&
         LimitOf(time) > much;
}

std::string UndeterminedInWords(const TimeRecord& time) {
  const double slope = *time.growth_per_step;
  return "grows cannot be determined from " + Counted(time.fitted_steps, "step") + ": " +
         FactorInWords(slope) + " (standard error " +
         FormatG(std::exp(slope) * time.growth_error.value_or(0), 2) + ") may be chance, up to " +
         FormatG(std::exp(LimitOf(time)), 4) + " times";
}

// The scaled error of a state that gets longer is not that of all its elements.
std::string SubjectInWords(const OutputRecord& output) {
  const TimeRecord& time = *output.time;
  const std::string error = time.own ? "each step's own error of " : "the error of ";
  const std::string name = "output '" + output.name + "' ";
  if (!time.of_new_elements) return error + name;
  return time.own ? error + "what each step adds to " + name : "the L2 norm of " + error + name;
}

std::string GrowthInWords(const TimeRecord& time) {
  if (!time.growth_per_step) return UnfittedInWords(time);
  const double slope = *time.growth_per_step, error = time.growth_error.value_or(0);
  const std::string fit = FactorInWords(slope) + " (from " + Counted(time.fitted_steps, "step") +
                          ", standard error " + FormatG(std::exp(slope) * error, 2) + ")";
  const Trend trend = TrendOf(time);
  const std::string late = LateInWords(time);
  if (trend == Trend::kLevel) {
    return "neither grows nor dies out" + std::string(late.empty() ? "" : " over all steps") +
           ": " + fit + late;
  }
  if (trend == Trend::kGrows) return (late.empty() ? "grows " : "grew ") + fit + late;
  if (!late.empty()) return "fell " + fit + late;
  if (time.late_growth_per_step.value_or(slope) > -LateLimitOf(time)) {
    return "fell " + fit + ", and the second half of the steps does not show whether it goes on";
  }
  return "dies out: " + fit + ", " + HalfLifeInWords(slope);
}

// Were states compared nowhere, for --compare logits?
bool LeavesOutStates(const PairRecord& pair) {
  const auto is_state = [](const OutputRecord& output) {
    return output.time && output.time->fed_back;
  };
  return !pair.not_logits.empty() && std::ranges::none_of(pair.outputs, is_state);
}

// Where each step has one state, what it hands on is seen by no other step.
std::string UnseenStatesInWords(const PairRecord& pair, const TimeRecord& time) {
  if ((!time.own && !time.crossed) || !LeavesOutStates(pair)) return "";
  return "; the states that steps pass on were not compared (add --compare simple)";
}

// The first step that is out of tolerance with one state, of all outputs; null: there is none.
const OutputRecord* FirstCrossed(const PairRecord& pair, const OutputRecord& described) {
  const auto rank = [&](const OutputRecord& output) {
    const CrossedRecord& crossed = *output.time->crossed;
    return std::tuple(*crossed.first_bad_step, crossed.first_bad_sequence.value_or(0),
                      &output != &described);
  };
  const OutputRecord* first = nullptr;
  for (const OutputRecord& output : pair.outputs) {
    const bool bad = output.time && output.time->crossed && output.time->crossed->first_bad_step;
    if (bad && (first == nullptr || rank(output) < rank(*first))) first = &output;
  }
  return first;
}

// Of --state cross.
std::string HistoryInWords(const PairRecord& pair, const OutputRecord& output) {
  const TimeRecord& time = *output.time;
  if (!time.crossed || output.not_verified > 0) return "";
  const CrossedRecord& crossed = *time.crossed;
  const std::string fed = "; fed with the state of " + pair.second + ", " + pair.first;
  if (const OutputRecord* const first = FirstCrossed(pair, output)) {
    const CrossedRecord& bad = *first->time->crossed;
    return fed + " gives something else" + (first == &output ? "" : " as '" + first->name + "'") +
           " at step " + std::to_string(*bad.first_bad_step) + " of sequence " +
           std::to_string(bad.first_bad_sequence.value_or(0)) + ": that step is wrong by itself";
  }
  if (!time.first_bad_step) return "";
  if (crossed.steps < time.steps) {
    return fed + " was asked at " + std::to_string(crossed.steps) + " of " +
           Counted(time.steps, "step") + " only, and gives the same there";
  }
  if (const auto nan = FirstNan(crossed.curve)) {
    return fed + " gives the same at every step, NaN or infinite on both sides at step " +
           std::to_string(*nan) + " first";
  }
  if (LeavesOutStates(pair)) return fed + " gives the same at every step";
  return fed + " gives the same at every step: the history explains it";
}

// Of states that were not compared at every step, it is the first at which that was seen.
std::string SeenInWords(const PairRecord& pair, const TimeRecord& time) {
  int64_t steps = 0;
  for (const OutputRecord& output : pair.outputs) {
    if (output.time) steps = std::max(steps, output.time->steps);
  }
  if (!time.fed_back || time.steps >= steps) return "";
  return ", or before: it was compared at " + std::to_string(time.steps) + " of " +
         Counted(steps, "step") + " (--compare-state)";
}

// `named`: the sentence so far is about another output.
std::string BadStepInWords(const PairRecord& pair, const OutputRecord& output, bool named) {
  const TimeRecord& time = *output.time;
  if (time.first_bad_step) {
    return (named ? "output '" + output.name + "' is " : "") + "first out of tolerance at step " +
           std::to_string(*time.first_bad_step) + " of sequence " +
           std::to_string(time.first_bad_sequence.value_or(0)) +
           (*time.first_bad_step > 0 ? SeenInWords(pair, time) : "");
  }
  if (output.not_verified > 0) return Counted(output.not_verified, "step") + " could not be judged";
  return "no step is out of tolerance";
}

bool PartsHere(const BlameStepRecord& step) {
  return step.divergence && step.divergence->sequence == step.sequence &&
         step.divergence->step == step.step;
}

// Which token differs, of --decode.
std::string PartingInWords(const BlameStepRecord& step) {
  if (!step.divergence) return "";
  const DivergenceRecord& parted = *step.divergence;
  const auto token = [](int64_t id) { return id < 0 ? "none (NaN)" : std::to_string(id); };
  const std::string where = PartsHere(step) ? "there"
                                            : "at step " + std::to_string(parted.step) +
                                                  " of sequence " + std::to_string(parted.sequence);
  return "the tokens diverge " + where + ", prompt " + std::to_string(parted.prompt) + ": token " +
         token(parted.first_token) + " against " + token(parted.second_token) + " (" + parted.kind +
         "); ";
}

std::string PlaceInWords(int64_t step, int64_t sequence) {
  return "step " + std::to_string(step) + " of sequence " + std::to_string(sequence);
}

// Where no step is out of its bound with one state: an error within the bound may still be a fault.
std::string NoneOutOfBoundInWords(const BlameStepRecord& step) {
  const int64_t at = step.largest_own_step.value_or(step.step);
  const int64_t sequence = step.largest_own_sequence.value_or(step.sequence);
  const double largest = step.largest_own_error.value_or(0);
  const bool here = at == step.step && sequence == step.sequence;
  const std::string up_to = step.divergence ? " up to there" : "";
  const std::string where = here ? ", here" : ", at " + PlaceInWords(at, sequence);
  if (step.first_total_step) {
    const std::string came = "the state came wrong: with one state no step" + up_to + " is out of ";
    return came + (largest > 0 ? "its bound (at most " + FormatG(largest, 3) + " times it" + where +
                                     "), and errors within it add up"
                               : "its bound");
  }
  const std::string none = "no step" + up_to + " is out of its bound";
  if (here || 2 * step.own_error < largest || !(largest > 0)) return none;
  return none + ", and this is the first near the largest error, " + FormatG(largest, 3) +
         " times its bound" + where;
}

// Whose growth is reported where this output failed first: that of a state that was compared at a
// few steps is not known, and may be that of an output that was compared at more.
const OutputRecord& GrowthOf(const PairRecord& pair, const OutputRecord& described) {
  const TimeRecord& time = *described.time;
  if (!time.fed_back || time.growth_per_step) return described;
  const auto rank = [](const OutputRecord& output) {
    const std::optional<double> grows = GrowingSlope(*output.time);
    return std::tuple(-output.time->steps, !grows, -grows.value_or(*output.time->growth_per_step));
  };
  const OutputRecord* known = nullptr;
  for (const OutputRecord& output : pair.outputs) {
    if (!output.time || !output.time->growth_per_step || output.time->steps <= time.steps) continue;
    if (known == nullptr || rank(output) < rank(*known)) known = &output;
  }
  return known == nullptr ? described : *known;
}

}  // namespace

std::string FormatSteps(const PairRecord& pair) {
  const OutputRecord* described = nullptr;
  for (const OutputRecord& output : pair.outputs) {
    if (!output.time) continue;
    if (described == nullptr || RankOfTime(output) < RankOfTime(*described)) described = &output;
  }
  if (described == nullptr) return "";
  const OutputRecord& grown = GrowthOf(pair, *described);
  const TimeRecord& time = *grown.time;
  // A NaN is no error of 0.
  const bool no_error = time.largest_rms == 0.0 && !time.first_bad_step;
  const std::string subject = SubjectInWords(grown);
  const std::string error = no_error ? subject + NoErrorInWords(pair, grown)
                            : CannotDetermine(time)
                                ? "whether " + subject + UndeterminedInWords(time)
                                : subject + GrowthInWords(time);
  return error + "; " + BadStepInWords(pair, *described, &grown != described) +
         HistoryInWords(pair, *described) + UnseenStatesInWords(pair, time);
}

std::string FormatBlameStep(const BlameStepRecord& step) {
  const auto times = [](double error) { return FormatG(error, 3) + " times its error bound"; };
  std::string text =
      "The layers are those of " + PlaceInWords(step.step, step.sequence) +
      ": fed with one state, output '" + step.output + "' is " +
      (step.not_finite.empty() ? "at " + times(step.own_error)
                               : step.not_finite + " on one side alone") +
      ", and each with its own, the worst is " +
      (!step.not_finite.empty() && std::isinf(step.total_error) ? step.not_finite + ", too"
                                                                : "at " + times(step.total_error)) +
      "; " + PartingInWords(step);
  if (!step.wrong_by_itself) return text + NoneOutOfBoundInWords(step);
  text += PartsHere(step) ? "it is wrong by itself" : "it is the first that is wrong by itself";
  if (step.first_total_step) {
    const int64_t sequence = step.first_total_sequence.value_or(0);
    const bool before =
        std::tuple(sequence, *step.first_total_step) < std::tuple(step.sequence, step.step);
    if (before)
      text += ", but its state came wrong: " + PlaceInWords(*step.first_total_step, sequence) +
              " is out of its bound already";
  }
  return text;
}

}  // namespace vernier
