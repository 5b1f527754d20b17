// The fields of a record as JSON: keys, in the order in which they are written, and what they stand
// for. One list for each part, which serves writing and reading. Only for this folder.
//
// A list calls `field(key, member)` for each field, and what record_visit.h has for the unusual
// ones.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include "compare/functions/metric_table.h"
#include "record/schema/coverage.h"
#include "record/schema/element_statistics.h"
#include "record/schema/record_json.h"
#include "record/schema/runner_schema.h"
#include "record/schema/step_schema.h"
#include "vernier/run_record.h"

namespace vernier {

template <typename Fields>
void ListFields(Fields& field, Some<ElementRecord> auto& element) {
  field("index", element.index);
  field.Values(element);
  field.Whole("absolute_error", element.absolute_error, element.absolute_digits);
  field("relative_error", element.relative_error);
  field("times_over_tolerance", element.times_tolerance);
}

template <typename Fields>
void ListFields(Fields& field, Some<SideRecord> auto& side) {
  field("dtype", side.dtype);
  field.Whole("min", side.min, side.min_digits);
  field.Whole("max", side.max, side.max_digits);
  field("mean", side.mean);
  field("std_dev", side.std_dev);
  field("nan", side.nan_count);
  field("first_nan", side.first_nan);
  field("infinite", side.infinite_count);
  field("first_infinite", side.first_infinite);
}

template <typename Fields>
void ListFields(Fields& field, Some<DistanceRecord> auto& distances) {
  for (const MetricRow& metric : MetricTable()) {
    if (metric.recorded == nullptr) continue;
    field(std::string(metric.name).c_str(), distances.values[metric.function]);
  }
  field("max_ulp", distances.max_ulp);
  field.If(distances.max_ulp.has_value(), "max_ulp_index", distances.max_ulp_index);
  field.If(distances.max_ulp.has_value(), "ulp_different", distances.ulp_different);
}

template <typename Fields>
void ListFields(Fields& field, Some<GateRecord> auto& gate) {
  field("function", gate.function);
  field("verdict", gate.verdict);
  field.Text("why", gate.why);
  field("value", gate.value);
  field("threshold", gate.threshold);
}

template <typename Fields>
void ListFields(Fields& field, Some<DecadesRecord> auto& decades) {
  field("first_decade", decades.first_decade);
  field("counts", decades.counts);
  field("equal", decades.equal);
  field("not_finite", decades.not_finite);
}

template <typename Fields>
void ListFields(Fields& field, Some<HeatRecord> auto& heat) {
  field("rows", heat.rows);
  field("columns", heat.columns);
  field("matrix_rows", heat.matrix_rows);
  field("matrix_columns", heat.matrix_columns);
  field("row_axes", heat.row_axes);
  field("least", heat.least);
  field("most", heat.most);
  field("cells", heat.cells);
}

template <typename Fields>
void ListFields(Fields& field, Some<ChartRecord> auto& charts) {
  field.TextIfAny("missing", charts.missing);
  if (!charts.missing.empty()) return;
  field("low", charts.low);
  field("high", charts.high);
  field("first", charts.first);
  field("second", charts.second);
  field("differences", charts.differences);
  field("heat", charts.heat);
  field("points", charts.points);
}

template <typename Fields>
void ListFields(Fields& field, Some<OutputFigures> auto& figures) {
  field("iteration", figures.iteration);
  field("shape", figures.shape);
  field("gates", figures.gates);
  field("first", figures.first);
  field("second", figures.second);
  field("distances", figures.distances);
  field("worst_elements", figures.worst);
  field.Text("suggestion", figures.suggestion);
  field("charts", figures.charts);
}

template <typename Fields>
void ListFields(Fields& field, Some<BoundRecord> auto& bound) {
  field.Renamed("bound", "bar", bound.bound);
  field("condition", bound.condition);
  field.Renamed("bound_before", "bar_before", bound.bound_before);
  field("scale", bound.scale);
  field("rms_error", bound.rms);
  field("gain", bound.gain);
  field.Renamed("gain_bound", "gain_bar", bound.gain_bound);
  field.Renamed("clean_bound", "clean_bar", bound.clean_bound);
  field("share_beyond", bound.share_beyond);
  field("share_allowed", bound.share_allowed);
  field.Renamed("element_bound", "element_bar", bound.element_bound);
  field("times_over", bound.times_over);
  field("why", bound.why);
}

template <typename Fields>
void ListFields(Fields& field, Some<QuantilesRecord> auto& quantiles) {
  field("statistic", quantiles.statistic);
  field(IsOfElements(quantiles.statistic) ? "elements" : "iterations", quantiles.iterations);
  field("nan", quantiles.nan);
  field("p1", quantiles.p1);
  field("p5", quantiles.p5);
  field("median", quantiles.median);
  field("p95", quantiles.p95);
  field("p99", quantiles.p99);
}

template <typename Fields>
void ListFields(Fields& field, Some<OutputRecord> auto& output) {
  field("name", output.name);
  field.TextOr("other_name", output.other_name, output.name);
  field("paired_by", output.paired_by);
  field.Later("pairing_error", output.pairing_error);
  field.Text("dtype", output.dtype);
  field.Text("other_dtype", output.other_dtype);
  field("compared_iterations", output.compared);
  field("passed_iterations", output.passed);
  field("not_verified_iterations", output.not_verified);
  field("iterations_without_numbers", output.without_numbers);
  field.Derived("passed", [&] { return output.agrees(); });
  field("elements", output.elements);
  field.Later("element_counts_vary", output.uneven);
  field.Former("elements_differ", output.uneven);
  field("mismatches", output.mismatches);
  field("tolerances_checked", output.tolerances_checked);
  field.If(output.allowed_share > 0, "allowed_mismatch_share", output.allowed_share);
  field.If(output.allowed_share > 0, "allowed_mismatch_excess", output.allowed_excess);
  field("not_finite", output.not_finite);
  field("times_over_tolerance", output.worst_times_tolerance);
  field("max_absolute_error", output.max_absolute_error);
  field("max_relative_error", output.max_relative_error);
  field("mean_absolute_error", output.mean_absolute_error);
  field("required_absolute_tolerance", output.required_absolute);
  field("required_relative_tolerance", output.required_relative);
  field.Text("vacuous", output.vacuous);
  field.Given("time", output.time);
  field("worst_iteration", output.figures);
  field.Later("failed_gates", output.failed_gates);
  field.TextIfAny("average_verdict", output.average_verdict);
  field.IfAny("quantiles", output.quantiles);
  field("auto_tolerance", output.bound);
  field.Later("logits", output.logits);
  field.Given("logits_total", output.logits_total);
  field.Given("tokens", output.tokens);
}

template <typename Fields>
void ListFields(Fields& field, Some<CoverageCount> auto& count) {
  field("outputs", count.outputs);
  field("outputs_without_numbers", count.without_numbers);
  field("outputs_on_one_side", count.one_sided);
  field("outputs_without_verdict", count.without_verdict);
  field("outputs_dropped", count.dropped);
  field("elements", count.elements);
  field("vacuous_outputs", count.vacuous_outputs);
  field("vacuous_elements", count.vacuous_elements);
  field("not_verified", count.not_verified);
}

template <typename Fields>
void ListFields(Fields& field, Some<PairRecord> auto& pair) {
  field("first", pair.first);
  field("second", pair.second);
  field.Text("first_file", pair.first_file);
  field.Text("second_file", pair.second_file);
  field.Derived("coverage", [&] { return CountCoverage(pair); });
  field("compared_iterations", pair.compared_iterations);
  field("passed_iterations", pair.passed_iterations);
  field("rejected_by_strict", pair.rejected);
  field("compared_with_itself", pair.itself);
  field("rejected_for_types", pair.retyped);
  field("incomplete", pair.incomplete);
  field("average_passed", pair.average_passed);
  field("expected_iterations", pair.expected_iterations);
  field("outputs", pair.outputs);
  field("only_in_first", pair.only_in_first);
  field("only_in_second", pair.only_in_second);
  field("without_verdict", pair.without_verdict);
  field("dropped", pair.dropped);
  field.Later("left_out", pair.left_out);
  field.Later("not_logits", pair.not_logits);
  field.IfAny("decisions", pair.decisions);
  field.IfAny("decision_gates", pair.decision_gates);
  field.TextIfAny("judged_by", pair.judged_by);
  field.IfAny("undecided_outputs", pair.undecided_outputs);
  field.Given("decode", pair.decode);
}

template <typename Fields>
void ListFields(Fields& field, Some<SettingRecord> auto& setting) {
  field("option", setting.option);
  field("value", setting.value);
  field("given", setting.given);
}

template <typename Fields>
void ListFields(Fields& field, Some<OriginRecord> auto& origin) {
  field("words", origin.words);
  field("directory", origin.directory);
  field("started", origin.started);
  field("system", origin.system);
  field("processor", origin.processor);
  field("processors", origin.processors);
  field("settings", origin.settings);
}

template <typename Fields>
void ListFields(Fields& field, Some<NodeRecord> auto& node) {
  field("name", node.name);
  field("op_type", node.op_type);
  field("inputs", node.inputs);
  field("outputs", node.outputs);
}

template <typename Fields>
void ListFields(Fields& field, Some<GraphRecord> auto& graph) {
  field("model", graph.model);
  field("inputs", graph.inputs);
  field("outputs", graph.outputs);
  field("nodes", graph.nodes);
}

template <typename Fields>
void ListFields(Fields& field, Some<LatencyStatistics> auto& latency) {
  field("count", latency.count);
  field("mean", latency.mean);
  field("std_dev", latency.std_dev);
  field("min", latency.min);
  field("max", latency.max);
  field("median", latency.median);
  field("p90", latency.p90);
  field("p95", latency.p95);
  field("p99", latency.p99);
  field("median_noise", latency.median_noise);
  field("drift", latency.drift);
}

template <typename Fields>
void ListFields(Fields& field, Some<LayerTime> auto& layer) {
  field("name", layer.name);
  field("type", layer.kind);
  field("seconds", layer.seconds);
}

template <typename Fields>
void ListFields(Fields& field, Some<ProfileAccuracy> auto& accuracy) {
  field("compared", accuracy.compared);
  field.If(accuracy.compared, "passed", accuracy.passed);
  field.Text("why", accuracy.why);
  field("outputs", accuracy.outputs);
  field("failed", accuracy.failed);
  field("elements", accuracy.elements);
  field("vacuous", accuracy.vacuous);
  field("times_over_tolerance", accuracy.times_over_tolerance);
  field.Text("worst_output", accuracy.worst_output);
  field.Later("types_differ", accuracy.retyped);
  field("max_absolute_error", accuracy.max_absolute_error);
}

template <typename Fields>
void ListFields(Fields& field, Some<ProfilePoint> auto& point) {
  field("runner", point.runner);
  field("shapes", point.shapes);
  field("batch", point.batch);
  field.Text("failure", point.failure);
  field("warm_ups", point.warm_ups);
  field("first_seconds", point.first_seconds);
  field("warm_up_seconds", point.warm_up_seconds);
  field("latency_seconds", point.latency);
  field("per_second", point.per_second);
  field("peak_memory_bytes", point.peak_memory);
  field("layers", point.layers);
  field.Text("layers_missing", point.layers_missing);
  field("accuracy", point.accuracy);
}

template <typename Fields>
void ListFields(Fields& field, Some<ProfileRunner> auto& runner) {
  field("name", runner.name);
  field("backend", runner.backend);
  field("framework_version", runner.framework_version);
  field("device", runner.device);
  field("precision", runner.precision);
  field("load_seconds", runner.load_seconds);
}

template <typename Fields>
void ListFields(Fields& field, Some<ProfileRecord> auto& profile) {
  field("runners", profile.runners);
  field("points", profile.points);
}

template <typename Fields>
void ListFields(Fields& field, Some<RunRecord> auto& record) {
  field.Derived("schema_version", [] { return kRecordSchemaVersion; });
  field("vernier_version", record.version);
  field("command", record.command);
  field("origin", record.origin);
  field("exit_code", record.exit_code);
  field.Derived("complete", [&] { return IsComplete(record); });
  field.Text("error", record.error);
  field("faults", record.faults);
  field("rejections", record.rejections);
  field("notes", record.notes);
  field.IfAny("nan_inputs", record.nan_inputs);
  field.Given("samples", record.samples);
  field.IfAny("flip_pictures", record.flip_pictures);
  field("seconds", record.seconds);
  field.TextIfAny("shard", record.shard);
  field.IfAny("shards", record.shards);
  field.Choice("aggregation", record.averaged, "average", "per_iteration");
  field.Given("batch_feeds", record.batch_feeds);
  field("runners", record.runners);
  field.Where("pairs", record.pairs, [](const PairRecord& pair) { return !pair.by_layer; });
  field.Blame("blame", record.blame);
  field.Derived("inference_results", [&] { return InferenceResults(record); });
  field.Derived("comparison_results", [&] { return ComparisonResults(record); });
  field.Pairs("saved", record.saved, "what", "where");
  field.Given("steps", record.steps);
  field("graph", record.graph);
  field("profile", record.profile);
}

}  // namespace vernier
