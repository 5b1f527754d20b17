// What --compare logits found, as JSON. Only for this folder.
#pragma once

#include "record/schema/record_schema.h"
#include "vernier/run_record.h"

namespace vernier {

template <typename Fields>
void ListFields(Fields& field, Some<LogitsRecord> auto& logits) {
  field("passed", logits.passed);
  field("axis", logits.axis);
  field("classes", logits.classes);
  field("positions", logits.positions);
  field("compared_positions", logits.compared);
  field("masked_positions", logits.masked);
  field("nan_positions", logits.nan);
  field("infinite_positions", logits.infinite);
  field("torn_positions", logits.torn);
  field("kl_mean", logits.kl_mean);
  field("kl_standard_error", logits.kl_error);
  field("kl_median", logits.kl_median);
  field("kl_p1", logits.kl_p1);
  field("kl_p5", logits.kl_p5);
  field("kl_p95", logits.kl_p95);
  field("kl_p99", logits.kl_p99);
  field("kl_p99_9", logits.kl_p99_9);
  field("kl_max", logits.kl_max);
  field("kl_max_position", logits.kl_max_position);
  field("kl_threshold", logits.kl_threshold);
  field("top_probability_rms", logits.top_probability_rms);
  field("top1_share", logits.top1_share);
  field("top1_judged", logits.top1_judged);
  field("top1_threshold", logits.top1_threshold);
  field("flips", logits.flips);
  field("close_flips", logits.close_flips);
  field("flip_margin_mean", logits.flip_margin_mean);
  field("flip_margin_max", logits.flip_margin_max);
  field("flip_max_position", logits.flip_max_position);
  field("top_k", logits.top_k);
  field("top_k_share", logits.top_k_share);
  field.Later("excluded_positions", logits.excluded);
}

template <typename Fields>
void ListFields(Fields& field, Some<LogitsTotalsRecord> auto& total) {
  field("iterations", total.iterations);
  field("compared_positions", total.compared);
  field("kl_mean", total.kl_mean);
  field("kl_standard_error", total.kl_error);
  field("kl_max", total.kl_max);
  field("top1_share", total.top1_share);
  field("flips", total.flips);
  field("close_flips", total.close_flips);
  field("top_k_share", total.top_k_share);
  field.Later("nan_positions", total.nan);
  field.Later("infinite_positions", total.infinite);
}

template <typename Fields>
void ListFields(Fields& field, Some<TokensRecord> auto& tokens) {
  field("source", tokens.source);
  field("mask", tokens.mask);
  field("positions", tokens.positions);
  field("excluded_positions", tokens.excluded);
  field.Later("excluded_differ_iterations", tokens.excluded_differ);
  field.Later("masked_failed_iterations", tokens.masked_failed);
  field.Later("masked_mismatches", tokens.masked_mismatches);
  field("tokens", tokens.tokens);
  field("impossible_tokens", tokens.impossible);
  field("first_perplexity", tokens.first_perplexity);
  field("second_perplexity", tokens.second_perplexity);
  field("perplexity_ratio", tokens.ratio);
  field("ratio_standard_error", tokens.ratio_error);
  field("token_probability_rms", tokens.probability_rms);
}

}  // namespace vernier
