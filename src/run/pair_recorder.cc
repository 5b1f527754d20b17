#include "run/pair_recorder.h"

#include <algorithm>

namespace vernier {
namespace {

std::string_view PairedByName(PairedBy how) {
  switch (how) {
    case PairedBy::kExact: return "exact";
    case PairedBy::kFolded: return "folded";
    case PairedBy::kSubstring: return "substring";
    case PairedBy::kPosition: return "position";
  }
  return "";
}

void AddNew(const std::vector<std::string>& names, std::vector<std::string>& list) {
  for (const std::string& name : names) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  }
}

// std::max that lets NaN win: an error that is no number is the worst.
double Worse(double a, double b) { return a != a ? a : (b != b || b > a ? b : a); }

}  // namespace

PairRecorder::PairRecorder(std::string first, std::string second) {
  record_.first = std::move(first);
  record_.second = std::move(second);
}

void PairRecorder::Add(const IterationComparison& comparison) {
  tally_.Add(comparison);
  AddNew(comparison.pairing.left_only, record_.only_in_first);
  AddNew(comparison.pairing.right_only, record_.only_in_second);
  compared_nothing_ |= !comparison.compared_something();
  for (const OutputComparison& output : comparison.outputs) AddOutput(output);
}

void PairRecorder::AddOutput(const OutputComparison& output) {
  auto found = std::find_if(record_.outputs.begin(), record_.outputs.end(),
                            [&](const OutputRecord& o) { return o.name == output.a_name; });
  if (found == record_.outputs.end()) {
    found = record_.outputs.emplace(record_.outputs.end());
    found->name = output.a_name;
    found->other_name = output.b_name;
    found->paired_by = PairedByName(output.how);
  }
  found->elements = std::max(found->elements, output.a.element_count());
  for (const FunctionResult& function : output.functions) {
    const auto* simple = std::get_if<SimpleResult>(&function.data);
    if (simple == nullptr) continue;
    const DifferenceSummary& difference = simple->difference;
    found->mismatches = std::max(found->mismatches, difference.mismatches);
    found->mean_absolute_error = Worse(found->mean_absolute_error, difference.absolute.mean);
    found->not_finite =
        std::max(found->not_finite, difference.absolute.nan_count + difference.absolute.infinite_count);
    for (const RequiredTolerance& required : simple->required) {
      found->required_absolute = Worse(found->required_absolute, required.absolute);
      found->required_relative = Worse(found->required_relative, required.relative);
    }
  }
}

bool PairRecorder::vacuous() const {
  return std::any_of(tally_.outputs().begin(), tally_.outputs().end(),
                     [](const OutputTally& output) { return output.vacuous > 0; });
}

PairRecord PairRecorder::Finish(int64_t expected_iterations) const {
  PairRecord record = record_;
  record.compared_iterations = tally_.iterations();
  record.passed_iterations = tally_.passed_iterations();
  record.expected_iterations = expected_iterations;
  for (const OutputTally& tally : tally_.outputs()) {
    const auto output = std::find_if(record.outputs.begin(), record.outputs.end(),
                                     [&](const OutputRecord& o) { return o.name == tally.name; });
    if (output == record.outputs.end()) continue;
    output->compared = tally.iterations;
    output->passed = tally.passed;
    output->max_absolute_error = tally.worst_absolute;
    output->max_relative_error = tally.worst_relative;
    output->worst_times_tolerance = tally.worst_ratio;
    output->vacuous = tally.vacuous_why;
  }
  return record;
}

}  // namespace vernier
