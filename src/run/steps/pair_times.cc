#include "run/steps/pair_times.h"

#include <algorithm>
#include <cmath>

#include "compare/functions/comparison.h"
#include "compare/functions/shared_non_finite.h"
#include "model/rounding/unit_roundoff.h"
#include "util/values/list_has.h"

namespace vernier {
namespace {

void AddGrowth(const StepErrors& errors, const ErrorGrowth::Family& family, TimeRecord& time) {
  if (const auto all = errors.Growth(family)) {
    time.growth_per_step = all->fit.slope;
    time.growth_error = all->fit.error;
    time.growth_limit = all->limit;
    time.fitted_steps = all->fit.steps;
    time.of_new_elements = all->scaled;
  }
  if (const auto late = errors.LateGrowth(family)) {
    time.late_growth_per_step = late->fit.slope;
    time.late_growth_error = late->fit.error;
    time.late_growth_limit = late->limit;
    time.late_first_step = late->fit.first_step;
  }
}

// A step that failed is the first bad one if no sequence has an earlier one. `last` is the one that
// was compared before it.
void AddBad(const StepPosition& position, const StepPosition& last, TimeRecord& time) {
  if (time.first_bad_step && *time.first_bad_step <= position.step) return;
  time.first_bad_step = position.step;
  time.first_bad_sequence = position.sequence;
  time.compared_before_bad.reset();
  const bool gap =
      time.steps > 1 && last.sequence == position.sequence && last.step + 1 < position.step;
  if (gap) time.compared_before_bad = last.step;
}

}  // namespace

const PairTimes::OutputTimes* PairTimes::Find(const std::string& output) const {
  const auto found = std::ranges::find_if(
      outputs_, [&](const OutputTimes& times) { return times.name == output; });
  return found == outputs_.end() ? nullptr : &*found;
}

PairTimes::OutputTimes& PairTimes::TimesOf(const std::string& output) {
  const OutputTimes* const found = Find(output);
  if (found != nullptr) return outputs_[static_cast<size_t>(found - outputs_.data())];
  outputs_.emplace_back().name = output;
  return outputs_.back();
}

void PairTimes::Add(const StepPosition& position, const IterationComparison& comparison,
                    std::span<const OutputRow> rows, std::span<const std::string> states,
                    bool of_reference) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const OutputRow& row = rows[i];
    const OutputComparison& output = comparison.outputs[i];
    OutputTimes& times = TimesOf(row.output);
    times.gate.Add(output, row, times.time.steps++);
    if (row.verdict == "failed") {
      bad_sequence_ = position.sequence;
      AddBad(position, times.last, times.time);
    }
    times.last = position;
    std::optional<double> rms = row.metrics[CompareFunction::kRmse];
    std::optional<double> relative = row.metrics[CompareFunction::kRelativeL2];
    if (row.elements == 0) rms.reset();  // nothing agrees there
    if (rms && std::isnan(*rms)) {
      if (const auto rest = ErrorOfRest(output)) {  // the same infinity is no difference
        rms = rest->rms;
        relative = rest->relative;
      }
    }
    times.curve.Add(position.step, rms, row.times_over_tolerance);
    if (!rms || !relative) continue;
    if (!std::isnan(*rms)) {
      ++times.time.measured_steps;
      times.time.largest_rms = std::max(times.time.largest_rms.value_or(0), *rms);
    }
    const double roundoff = std::max(UnitRoundoff(output.a_dtype), UnitRoundoff(output.b_dtype));
    const int64_t elements = ListHas(states, row.output) ? row.elements.value_or(0) : 0;
    times.errors.Add(position, elements, of_reference, {*rms, *relative, roundoff});
  }
}

void PairTimes::AddTo(PairRecord& record, bool own) const {
  std::vector<ErrorGrowth::Fit> fits;
  for (const OutputRecord& output : record.outputs) {
    const OutputTimes* const times = Find(output.name);
    if (times == nullptr) continue;
    if (const auto all = times->errors.Growth({})) fits.push_back(all->fit);
  }
  const ErrorGrowth::Family family = ErrorGrowth::FamilyOf(fits);
  for (OutputRecord& output : record.outputs) {
    const OutputTimes* const times = Find(output.name);
    if (times == nullptr) continue;
    output.time = times->time;
    output.time->own = own;
    output.time->curve = times->curve.Points();
    output.time->steps_per_point = times->curve.steps_per_point();
    AddGrowth(times->errors, family, *output.time);
  }
}

void PairTimes::AddCrossedTo(PairRecord& record, bool totals) const {
  for (OutputRecord& output : record.outputs) {
    const OutputTimes* const times = Find(output.name);
    if (times == nullptr || !output.time) continue;
    TimeRecord time = times->time;
    if (totals && times->gate.Excuses()) {
      time.first_bad_step.reset();
      time.first_bad_sequence.reset();
    }
    output.time->crossed =
        CrossedRecord{time.steps,       time.first_bad_step,   time.first_bad_sequence,
                      time.largest_rms, times->curve.Points(), times->curve.steps_per_point()};
  }
}

}  // namespace vernier
