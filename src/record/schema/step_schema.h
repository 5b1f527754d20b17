// The fields of a record about steps, for record_schema.h. Only for this folder.
#pragma once

#include <concepts>
#include <type_traits>

#include "vernier/run_record.h"

namespace vernier {

/// A Record, or one that is only read from.
template <typename T, typename Record>
concept Some = std::same_as<std::remove_const_t<T>, Record>;

template <typename Fields>
void ListFields(Fields& field, Some<StepPoint> auto& point) {
  field("step", point.step);
  field.Given("rms_error", point.rms);
  field.Given("times_over_tolerance", point.times_over);
}

template <typename Fields>
void ListFields(Fields& field, Some<CrossedRecord> auto& crossed) {
  field("steps", crossed.steps);
  field("first_bad_step", crossed.first_bad_step);
  field("first_bad_sequence", crossed.first_bad_sequence);
  field("largest_rms_error", crossed.largest_rms);
  field("curve", crossed.curve);
  field("steps_per_point", crossed.steps_per_point);
}

template <typename Fields>
void ListFields(Fields& field, Some<TimeRecord> auto& time) {
  field("steps", time.steps);
  field.Later("measured_steps", time.measured_steps);
  field("first_bad_step", time.first_bad_step);
  field("first_bad_sequence", time.first_bad_sequence);
  field.Given("compared_before_bad", time.compared_before_bad);
  field("growth_per_step", time.growth_per_step);
  field("growth_error", time.growth_error);
  field.Given("growth_limit", time.growth_limit);
  field("fitted_steps", time.fitted_steps);
  field.Later("of_new_elements", time.of_new_elements);
  field.Given("late_growth_per_step", time.late_growth_per_step);
  field.Given("late_growth_error", time.late_growth_error);
  field.Given("late_growth_limit", time.late_growth_limit);
  field.Given("late_first_step", time.late_first_step);
  field("largest_rms_error", time.largest_rms);
  field("own", time.own);
  field("fed_back", time.fed_back);
  field.Later("curve", time.curve);
  field.Later("steps_per_point", time.steps_per_point);
  field.Given("crossed", time.crossed);
}

template <typename Fields>
void ListFields(Fields& field, Some<DivergenceRecord> auto& divergence) {
  field("sequence", divergence.sequence);
  field("prompt", divergence.prompt);
  field("step", divergence.step);
  field("first_token", divergence.first_token);
  field("second_token", divergence.second_token);
  field("first_margin", divergence.first_margin);
  field("second_margin", divergence.second_margin);
  field("kind", divergence.kind);
}

template <typename Fields>
void ListFields(Fields& field, Some<AgreementPoint> auto& point) {
  field("step", point.step);
  field("tokens", point.tokens);
  field("agreeing_tokens", point.agreeing);
}

template <typename Fields>
void ListFields(Fields& field, Some<DecodeRecord> auto& decode) {
  field("logits", decode.logits);
  field("forced", decode.forced);
  field("prompts", decode.prompts);
  field("tokens", decode.tokens);
  field("agreeing_tokens", decode.agreeing);
  field("diverged_prompts", decode.diverged);
  field("tokens_until_divergence_median", decode.until_median);
  field("tokens_until_divergence_least", decode.until_least);
  field("steps_after_divergence", decode.steps_after);
  field("near_ties", decode.near_ties);
  field("beyond_tolerance", decode.beyond_tolerance);
  field("not_judged", decode.not_judged);
  field("divergences", decode.divergences);
  field.Later("steps_after_end", decode.steps_after_end);
  field.Later("rows_after_end", decode.rows_after_end);
  field.Later("agreement", decode.agreement);
  field.Later("steps_per_point", decode.steps_per_point);
  field.Given("min_agreement", decode.min_agreement);
}

template <typename Fields>
void ListFields(Fields& field, Some<FeedBackRecord> auto& pair) {
  field("runner", pair.runner);
  field("output", pair.output);
  field("input", pair.input);
}

template <typename Fields>
void ListFields(Fields& field, Some<StepsRecord> auto& steps) {
  field("lengths", steps.lengths);
  field("state", steps.state);
  field("feed_back", steps.feed_back);
}

}  // namespace vernier
