// The fields of a RunPlan as JSON: keys, in the order in which they are written. One list for each
// part, which serves writing and reading (plan_json.cc). Only for this folder.
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>

#include "compare/metric_table.h"
#include "vernier/run_plan.h"

namespace vernier {

template <typename T, typename Part>
concept PartOfPlan = std::same_as<std::remove_const_t<T>, Part>;

// The names of enumerators, in their order.
constexpr std::array<std::string_view, 3> NamesOf(RunnerPlace) {
  return {"auto", "plugin", "python"};
}
constexpr std::array<std::string_view, 4> NamesOf(ReportFormat) {
  return {"html", "junit", "jsonl", "markdown"};
}
constexpr std::array<std::string_view, 4> NamesOf(PairRule) {
  return {"neighbours", "first", "all", "named"};
}
constexpr std::array<std::string_view, 5> NamesOf(ErrorStat) {
  return {"elemwise", "max", "mean", "median", "quantile"};
}
constexpr std::array<std::string_view, 2> NamesOf(ToleranceRule) { return {"fixed", "auto"}; }

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<DimSize> auto& dim) {
  field("dimension", dim.dimension);
  field("size", dim.size);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<ModelPlan> auto& model) {
  field("path", model.path);
  field("type", model.type);
  field("external_data_dir", model.external_data_dir);
  field("strict_external_data", model.strict_external_data);
  field("outputs", model.outputs);
  field("exclude_outputs", model.exclude_outputs);
  field("outputs_by_type", model.outputs_by_type);
  field("save_path", model.save_path);
  field("save_external_data", model.save_external_data);
  field("save_external_threshold", model.save_external_threshold);
  field("save_threshold_given", model.save_threshold_given);
  field("save_one_file", model.save_one_file);
  field("print_summary", model.print_summary);
  field("ignore_external_data", model.ignore_external_data);
  field("shape_inference", model.shape_inference);
  field("symbolic_inference", model.symbolic_inference);
  field("fp_to_fp16", model.fp_to_fp16);
  field("fp16_clamps", model.fp16_clamps);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<RunnerPlan> auto& runner) {
  field("name", runner.name);
  field("backend", runner.backend);
  field("model", runner.model);
  field("backend_options", runner.backend_options);
  field("session_options", runner.session_options);
  field("plugin_options", runner.plugin_options);
  field("place", runner.place);
  field("dims", runner.dims);
  field("equal_names", runner.equal_names);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<ScriptFunction> auto& script) {
  field("path", script.path);
  field("function", script.function);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<InputPlan> auto& inputs) {
  field("load", inputs.load_paths);
  field("script", inputs.script);
  field("shapes", inputs.shape_words);
  field("dims", inputs.dims);
  field("found_dims", inputs.found_dims);
  field("ranges", inputs.range_words);
  field("maps", inputs.map_words);
  field("from_graph", inputs.from_graph);
  field("like", inputs.like);
  field("seed", inputs.seed);
  field("torch_numbers", inputs.torch_numbers);
  field("iterations", inputs.iterations);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<ReportFile> auto& report) {
  field("path", report.path);
  field("format", report.format);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<SavePlan> auto& save) {
  field("inputs", save.inputs);
  field("outputs", save.outputs);
  field("input_blobs", save.input_blobs);
  field("accuracy", save.accuracy);
  field("record", save.record);
  field("rows", save.rows);
  field("reports", save.reports);
  field("resume", save.resume);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<PicturePlan> auto& pictures) {
  field("heatmaps", pictures.heatmaps);
  field("error_plots", pictures.error_plots);
  field("show_heatmaps", pictures.show_heatmaps);
  field("show_error_plots", pictures.show_error_plots);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<ExecutionPlan> auto& execution) {
  field("sequential", execution.sequential);
  field("parallel", execution.parallel);
  field("use_subprocess", execution.use_subprocess);
  field("in_process", execution.in_process);
  field("warm_up", execution.warm_up);
  field("timeout_seconds", execution.timeout_s);
  field("backend_dirs", execution.backend_dirs);
  field("python", execution.python);
  field("hash_inputs", execution.hash_inputs);
  field("environment", execution.environment);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<PairPlan> auto& pairs) {
  field("rule", pairs.rule);
  field("named", pairs.named);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<TopK> auto& top) {
  field("k", top.k);
  field("axis", top.axis);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<BlameOptions> auto& blame) {
  field("reference", blame.reference);
  field("max_host_bytes", blame.max_host_bytes);
  field("max_gpu_bytes", blame.max_gpu_bytes);
  field("save", blame.save);
  field("bundle", blame.bundle);
  field("resume", blame.resume);
  field("runner_words", blame.runner_words);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<CompareOptions> auto& compare) {
  field("functions", compare.functions);
  field("rtol", compare.rtol);
  field("atol", compare.atol);
  field("tolerance", compare.tolerance);
  field("check_error_stat", compare.check_error_stat);
  field("error_quantile", compare.error_quantile);
  field("infinities_compare_equal", compare.infinities_compare_equal);
  field("max_mismatch_share", compare.max_mismatch_share);
  field("max_mismatch_excess", compare.max_mismatch_excess);
  field("index_tolerance", compare.index_tolerance);
  for (const MetricRow& metric : MetricTable()) {
    field(metric.threshold.data(), compare.thresholds[metric.function]);
  }
  field("worst_elements", compare.worst_elements);
  field("no_shape_check", compare.no_shape_check);
  field("fail_fast", compare.fail_fast);
  field("check_average", compare.check_average);
  field("lenient", compare.lenient);
}

template <typename Fields>
void ListPlan(Fields& field, PartOfPlan<RunPlan> auto& plan) {
  field("command", plan.command);
  field("lenient", plan.lenient);
  field("strict", plan.strict);
  field("same_type", plan.same_type);
  field("runners", plan.runners);
  field("inputs", plan.inputs);
  field("load_outputs", plan.load_outputs);
  field("load_labels", plan.load_labels);
  field("inputs_as_outputs", plan.inputs_as_outputs);
  field("execution", plan.execution);
  field("postprocess", plan.postprocess);
  field("postprocess_script", plan.postprocess_script);
  field("pairs", plan.pairs);
  field("output_maps", plan.output_map_words);
  field("compare", plan.compare);
  field("compare_script", plan.compare_script);
  field("noise_floor", plan.noise_floor);
  field("validate", plan.validate);
  field("comparison_asked", plan.comparison_asked);
  field("save", plan.save);
  field("pictures", plan.pictures);
  field("blame", plan.blame);
}

}  // namespace vernier
