// The statistics of a row as JSON: keys, in the order in which they are written, behind the name of
// the output. Only for this folder.
#pragma once

#include <string>

#include "compare/metric_table.h"
#include "record/record_schema.h"
#include "vernier/row_record.h"

namespace vernier {

/// What is absent is left out.
template <typename Fields>
void ListFields(Fields& field, Some<OutputRow> auto& row) {
  field("verdict", row.verdict);
  field.Given("elements", row.elements);
  field.Given("mismatches", row.mismatches);
  field.Given("not_finite", row.not_finite);
  field.Given("times_over_tolerance", row.times_over_tolerance);
  field.Given("max_absolute_error", row.max_absolute_error);
  field.Given("max_relative_error", row.max_relative_error);
  field.Given("mean_absolute_error", row.mean_absolute_error);
  field.Given("required_absolute_tolerance", row.required_absolute);
  field.Given("required_relative_tolerance", row.required_relative);
  for (const MetricRow& metric : MetricTable()) {
    field.Given(std::string(metric.name).c_str(), row.metrics[metric.function]);
  }
  if (row.logits) {
    field("kl", row.logits->kl_mean);
    field("top1", row.logits->top1_share);
  }
  if (!row.bound) return;
  field("rms_error", row.bound->rms);
  field("error_bound", row.bound->bound);
  field("condition", row.bound->condition);
}

}  // namespace vernier
