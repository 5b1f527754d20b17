// The statistics of a row as JSON: keys, in the order in which they are written, after the name of
// the output. Only for this folder.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "compare/functions/metric_table.h"
#include "record/rows/totals_columns.h"
#include "record/schema/decision_schema.h"
#include "record/schema/record_json.h"
#include "record/schema/record_schema.h"
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
    field.Given(metric.name.data(), row.metrics[metric.function]);  // a literal
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

/// A value for each sample, or of a single one the value alone, where any has one.
template <typename HasValue, typename ValueOf>
void AddIfAny(const DecisionRow& decision, const std::string& column, HasValue&& has,
              ValueOf&& value_of, RecordJson& line) {
  if (std::ranges::none_of(decision.samples, has)) return;
  RecordJson values = RecordJson::array();
  for (const DecisionSample& sample : decision.samples) values.push_back(value_of(sample));
  line[column] = values.size() == 1 ? RecordJson(values.front()) : values;
}

/// What the run adds up.
inline void AddTotalsColumns(const DecisionRow& decision, const std::string& name,
                             RecordJson& line) {
  const auto has_boxes = [](const DecisionSample& one) { return one.boxes.has_value(); };
  for (const BoxColumn& column : kBoxColumns) {
    const auto count = [&column](const DecisionSample& one) {
      return one.boxes ? RecordJson((*one.boxes).*column.count) : RecordJson("nan");
    };
    AddIfAny(decision, name + std::string(column.end), has_boxes, count, line);
  }
  const auto overlap = [](const DecisionSample& one) {
    return one.boxes ? NumberJson(one.boxes->overlap) : RecordJson("nan");
  };
  AddIfAny(decision, name + std::string(kOverlapEnd), has_boxes, overlap, line);
  const auto has_classes = [](const DecisionSample& one) { return !one.classes.empty(); };
  const auto classes = [](const DecisionSample& one) { return OverlapsText(one.classes); };
  AddIfAny(decision, name + std::string(kClassesEnd), has_classes, classes, line);
}

/// The columns of a decision about `name`, its output: the value of its sample, or a list where it
/// has several. `first` and `second` are the sides. All are as they stand in the names of columns.
inline void AddDecisionColumns(const DecisionRow& decision, const std::string& first,
                               const std::string& second, const std::string& name,
                               RecordJson& line) {
  const auto list = [&](auto&& value_of) {
    RecordJson values = RecordJson::array();
    for (const DecisionSample& sample : decision.samples) values.push_back(value_of(sample));
    return values.size() == 1 ? RecordJson(values.front()) : values;
  };
  const auto add = [&](const std::string& column, auto&& value_of) {
    line[column] = list(value_of);
  };
  const auto text = [](std::string DecisionSample::*member) {
    return [member](const DecisionSample& sample) { return RecordJson(sample.*member); };
  };
  const auto number = [](double DecisionSample::*member) {
    return [member](const DecisionSample& sample) { return NumberJson(sample.*member); };
  };
  const std::string of_first = first + "/" + name, of_second = second + "/" + name;
  line[name + "/decision"] = decision.kind;
  if (decision.classes) line[name + "/classes"] = *decision.classes;
  if (decision.samples.size() > 1) line[name + std::string(kSamplesEnd)] = decision.samples.size();
  add(name + "/flip", [](const DecisionSample& sample) {
    return RecordJson(kFlipNames[static_cast<size_t>(sample.flip)]);
  });
  add(name + "/near_tie", number(&DecisionSample::near_tie));
  add(name + "/similarity", number(&DecisionSample::similarity));
  const bool has_detail = std::ranges::any_of(
      decision.samples, [](const DecisionSample& sample) { return !sample.detail.empty(); });
  if (has_detail) add(name + "/detail", text(&DecisionSample::detail));
  const auto add_if_any = [&](const char* end, auto&& count_of) {
    const bool any = std::ranges::any_of(
        decision.samples, [&](const DecisionSample& sample) { return count_of(sample) != 0; });
    if (any) add(name + end, count_of);
  };
  add_if_any("/negative_boxes", [](const DecisionSample& one) { return one.negative_boxes; });
  add_if_any("/scores_above_one", [](const DecisionSample& one) { return one.scores_above_one; });
  add_if_any("/all_above", [](const DecisionSample& one) { return one.all_above ? 1 : 0; });
  add_if_any("/by_noise", [](const DecisionSample& one) { return one.by_noise ? 1 : 0; });
  add_if_any("/over_bound", [](const DecisionSample& one) { return one.over_bound ? 1 : 0; });
  AddTotalsColumns(decision, name, line);
  add(of_first + "/decision", text(&DecisionSample::first));
  add(of_first + "/margin", number(&DecisionSample::first_margin));
  add(of_second + "/decision", text(&DecisionSample::second));
  add(of_second + "/margin", number(&DecisionSample::second_margin));
  const bool labelled = std::ranges::any_of(
      decision.samples, [](const DecisionSample& sample) { return !sample.label.empty(); });
  if (!labelled) return;
  // Decisions mostly have the labels of the row; others have theirs beside them.
  const RecordJson labels = list(text(&DecisionSample::label));
  const auto shared = line.find("label");
  if (shared == line.end()) {
    line["label"] = labels;
  } else if (*shared != labels) {
    line[name + "/label"] = labels;
  }
  add(of_first + "/score", number(&DecisionSample::first_score));
  add(of_second + "/score", number(&DecisionSample::second_score));
}

}  // namespace vernier
