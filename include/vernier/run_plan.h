// What a run is asked to do: plain data, complete before any framework is loaded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vernier/compare_options.h"
#include "vernier/dim_size.h"

namespace vernier {

/// Which model a runner takes, and how it is changed before the runner sees it.
struct ModelPlan {
  std::string path;
  std::string type;                          ///< "onnx", "engine", ...: resolved by the planner
  std::string external_data_dir;             ///< empty: the model's own folder
  bool strict_external_data = false;         ///< refuse links and hard links to weights
  std::vector<std::string> outputs;          ///< --onnx-outputs: replace the graph's outputs
  std::vector<std::string> exclude_outputs;  ///< --onnx-exclude-outputs: applied last
  std::vector<std::string> outputs_by_type;  ///< --onnx-outputs-by-type
  std::string save_path;                     ///< --save-onnx; empty: do not save
  /// --save-external-data: where the saved model's weights go, relative to it; empty: beside it.
  std::optional<std::string> save_external_data;
  uint64_t save_external_threshold = 1024;  ///< bytes; smaller tensors stay in the model
  bool save_threshold_given = false;
  bool save_one_file = true;          ///< all external tensors in one file
  bool print_summary = false;         ///< --onnx-graphsurgeon: the graph in a few lines
  bool ignore_external_data = false;  ///< structure only: weights are not looked for
  bool shape_inference = false;       ///< --shape-inference, in the Python worker
  bool symbolic_inference = true;     ///< by ONNX Runtime's tool where it is installed
  bool fp_to_fp16 = false;            ///< --fp-to-fp16: float32 becomes float16
  /// Then weights beyond 10000 become 10000, as in Polygraphy, instead of those beyond 65504
  /// keeping their nodes in float32.
  bool fp16_clamps = false;
  bool skips_unknown_types = false;  ///< of outputs_by_type, as Polygraphy does, with a word

  bool edited() const {
    return !outputs.empty() || !exclude_outputs.empty() || !outputs_by_type.empty();
  }

  /// Calls `field(name, value)` for each field that is part of the file of a run, in its order.
  template <typename Plan, typename Fields>
  static void EachField(Plan& model, Fields& field) {
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
    field("skips_unknown_types", model.skips_unknown_types);
  }
};

/// Who runs a framework that has both a plug-in and a module for the user's Python.
enum class RunnerPlace : uint8_t { kAuto, kPlugin, kPython };

/// One runner: a backend with its options and its model.
struct RunnerPlan {
  std::string name;     ///< in log lines and saved results
  std::string backend;  ///< "onnxruntime", "openvino", ...
  /// Options of the backend (loading it) and of the session; keys may repeat.
  std::vector<std::pair<std::string, std::string>> backend_options;
  std::vector<std::pair<std::string, std::string>> session_options;
  /// Keys that --BACKEND.OPTION gave: the plug-in must know them.
  std::vector<std::string> plugin_options;
  RunnerPlace place = RunnerPlace::kAuto;
  ModelPlan model;
  // Asked of backends that say that they can (roles of options in backend_abi.h); others go on as
  // they do without. Set by `vernier profile` for its own sessions; no part of a run's file.
  bool alone = false;       ///< no other runner computes meanwhile
  std::string layer_times;  ///< file for the times of single layers; empty: they are not measured
  // For profiles of TensorRT, which are to take what feeds will have.
  std::vector<DimSize> dims;  ///< --dim
  bool equal_names = true;    ///< dimensions of one name have one size

  template <typename Plan, typename Fields>
  static void EachField(Plan& runner, Fields& field) {
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
};

/// A function in a Python script; an empty path: none.
struct ScriptFunction {
  std::string path;
  std::string function;

  bool given() const { return !path.empty(); }

  template <typename Plan, typename Fields>
  static void EachField(Plan& script, Fields& field) {
    field("path", script.path);
    field("function", script.function);
  }
};

/// Where feeds come from.
struct InputPlan {
  std::vector<std::string> load_paths;  ///< empty: seeded random inputs
  ScriptFunction script;                ///< --data-loader-script
  std::vector<std::string> shape_words;
  std::vector<DimSize> dims;        ///< --dim
  std::vector<DimSize> found_dims;  ///< nobody's choice: with 1 the model does not run
  std::vector<std::string> range_words;
  std::vector<std::string> map_words;  ///< --map-inputs: `[RUNNER:]NAME=[SOURCE]`
  std::vector<std::string> map_files;  ///< words of either map came from these; nothing reads them
  bool from_graph = false;  ///< --inputs-from-graph: ranges that the model's graph demands
  std::string like;         ///< --like: a sample whose values are imitated; empty: none
  int64_t seed = 1;
  bool torch_numbers = false;         ///< random inputs are drawn by the user's torch
  std::optional<int64_t> iterations;  ///< not given: 1, or as many as the files hold

  template <typename Plan, typename Fields>
  static void EachField(Plan& inputs, Fields& field) {
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
};

/// Whose outputs the next step of a runner is fed with.
enum class StateSource : uint8_t {
  kOwn,       ///< its own: errors add up, as they do in use
  kReference  ///< those of the first runner: errors are each step's own
};

/// What makes a feed a sequence of steps, in which outputs of a step are inputs of the next.
struct StepPlan {
  std::optional<int64_t> steps;        ///< not given: as many as the sequence inputs hold
  std::vector<std::string> feed_back;  ///< --feed-back: `[RUNNER:]OUTPUT:INPUT` or `[RUNNER:]auto`
  std::string initial_state;           ///< a file of inputs; empty: what feeds hold, or zeros
  std::vector<std::string> slices;     ///< --step-slice
  std::vector<std::string> advances;   ///< --advance
  StateSource state = StateSource::kOwn;
  bool compare_state = false;  ///< what is fed back is compared at every step

  /// Without any of these each feed is one inference.
  bool wanted() const {
    return steps || !feed_back.empty() || !slices.empty() || !advances.empty();
  }

  template <typename Plan, typename Fields>
  static void EachField(Plan& steps, Fields& field) {
    field("steps", steps.steps);
    field("feed_back", steps.feed_back);
    field("initial_state", steps.initial_state);
    field("slices", steps.slices);
    field("advances", steps.advances);
    field("state", steps.state);
    field("compare_state", steps.compare_state);
  }
};

/// What a report is for: people, test machinery, programs, pull requests.
enum class ReportFormat : uint8_t { kHtml, kJunit, kJsonLines, kMarkdown };

struct ReportFile {
  std::string path;
  ReportFormat format = ReportFormat::kHtml;

  template <typename Plan, typename Fields>
  static void EachField(Plan& report, Fields& field) {
    field("path", report.path);
    field("format", report.format);
  }
};

/// Where things are saved; empty paths are not.
struct SavePlan {
  std::string inputs;
  std::string outputs;
  std::string input_blobs;
  std::string accuracy;             ///< --save-accuracy-results, Polygraphy's format
  std::string record;               ///< --save-record
  std::string rows;                 ///< --save-rows: FILE.jsonl or FILE.npz
  std::vector<ReportFile> reports;  ///< --report
  bool resume = false;              ///< --resume: go on with what was saved to `outputs`

  bool WantsPage() const {
    return std::any_of(reports.begin(), reports.end(), [](const ReportFile& report) {
      return report.format == ReportFormat::kHtml;
    });
  }
  /// Does anything that is saved hold the statistics of what was compared?
  bool WantsFigures() const { return !record.empty() || !rows.empty() || !reports.empty(); }
  /// Does anything that is saved show charts, or might later?
  bool WantsCharts() const { return WantsPage() || !record.empty(); }

  template <typename Plan, typename Fields>
  static void EachField(Plan& save, Fields& field) {
    field("inputs", save.inputs);
    field("outputs", save.outputs);
    field("input_blobs", save.input_blobs);
    field("accuracy", save.accuracy);
    field("record", save.record);
    field("rows", save.rows);
    field("reports", save.reports);
    field("resume", save.resume);
  }
};

/// Pictures of the differences that `simple` finds.
struct PicturePlan {
  std::string heatmaps;     ///< --save-heatmaps: a folder; empty: not saved
  std::string error_plots;  ///< --save-error-metrics-plot, likewise
  bool show_heatmaps = false;
  bool show_error_plots = false;

  template <typename Plan, typename Fields>
  static void EachField(Plan& pictures, Fields& field) {
    field("heatmaps", pictures.heatmaps);
    field("error_plots", pictures.error_plots);
    field("show_heatmaps", pictures.show_heatmaps);
    field("show_error_plots", pictures.show_error_plots);
  }
};

/// How runners are driven.
struct ExecutionPlan {
  bool sequential = false;      ///< one runner at a time
  bool parallel = false;        ///< --parallel: all runners infer an iteration at the same time
  bool use_subprocess = false;  ///< a worker for each runner, also for runners of one framework
  bool in_process = false;
  int64_t warm_up = 0;
  double timeout_s = 0;
  std::vector<std::string> backend_dirs;
  std::string python;        ///< --python: the interpreter of scripts; empty: found
  bool hash_inputs = false;  ///< workers tell hashes of the bytes that their runners receive
  /// "NAME=value", for workers beside the parent's own; of two for one name the last counts.
  std::vector<std::string> environment;

  template <typename Plan, typename Fields>
  static void EachField(Plan& execution, Fields& field) {
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
};

/// Which runners are compared.
enum class PairRule { kNeighbours, kFirst, kAll, kNamed };

struct PairPlan {
  PairRule rule = PairRule::kNeighbours;
  std::vector<std::pair<std::string, std::string>> named;

  template <typename Plan, typename Fields>
  static void EachField(Plan& pairs, Fields& field) {
    field("rule", pairs.rule);
    field("named", pairs.named);
  }
};

/// What the search for the layer to blame needs beside the run: `--blame`, and the command `blame`.
struct BlameOptions {
  std::string reference;        ///< the label of a runner; empty: the first in the order of kinds
  uint64_t max_host_bytes = 0;  ///< of all processes; 0: half of what is free besides
  uint64_t max_gpu_bytes = 0;   ///< 0: no limit is known
  std::string save;             ///< --save-blame; empty: not saved, like the next two
  std::string bundle;
  std::string resume;
  /// For --bundle, runner by runner: the words of a command line that run it on another model.
  std::vector<std::string> runner_words;

  template <typename Plan, typename Fields>
  static void EachField(Plan& blame, Fields& field) {
    field("reference", blame.reference);
    field("max_host_bytes", blame.max_host_bytes);
    field("max_gpu_bytes", blame.max_gpu_bytes);
    field("save", blame.save);
    field("bundle", blame.bundle);
    field("resume", blame.resume);
    field("runner_words", blame.runner_words);
  }
};

struct RunPlan {
  std::string command;  ///< what asked for the run, for banners and records
  /// Answer like Polygraphy: warnings instead of errors for coerced inputs, one-sided outputs and
  /// missing iterations.
  bool lenient = false;
  bool strict = false;     ///< vacuous agreement fails, and so does what `same_type` says
  bool same_type = false;  ///< outputs of different types fail
  std::vector<RunnerPlan> runners;
  InputPlan inputs;
  StepPlan steps;
  SavePlan save;
  PicturePlan pictures;
  ExecutionPlan execution;
  PairPlan pairs;
  std::vector<std::string> output_map_words;  ///< --map-outputs: `[A:[B:]]NAME=[SOURCE]`
  CompareOptions compare;
  std::vector<std::string> load_outputs;
  std::vector<std::string> load_labels;  ///< of these, in their order; empty: the file's own names
  bool inputs_as_outputs = false;        ///< files of saved inputs may stand in load_outputs
  PerOutput<TopK> postprocess;
  ScriptFunction postprocess_script;  ///< replaces `postprocess`
  ScriptFunction compare_script;      ///< replaces the functions of `compare`
  /// Bounds of --tolerance auto come from the reference run against itself with other settings.
  bool noise_floor = false;
  bool validate = false;
  bool comparison_asked = false;      ///< --compare-outputs: with one side only, that is a fault
  std::optional<BlameOptions> blame;  ///< --blame: search where outputs differ, after the run

  template <typename Plan, typename Fields>
  static void EachField(Plan& plan, Fields& field) {
    field("command", plan.command);
    field("lenient", plan.lenient);
    field("strict", plan.strict);
    field("same_type", plan.same_type);
    field("runners", plan.runners);
    field("inputs", plan.inputs);
    field("steps", plan.steps);
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
};

/// The plan as the file of a run (`--save-run-file`): JSON with what differs from a new plan, under
/// the names of docs/run-file.md.
std::string ToJson(const RunPlan& plan);

/// A plan from what ToJson() made of it, or from a file that somebody wrote: what is absent keeps
/// its default. `what` names the text in messages. kInvalidArgument, naming the setting, for one
/// that there is not or that is given twice, and for a value of another type; and, naming the line,
/// for what is not JSON. kMalformed for a text that is no plan, or one of a later version.
Result<RunPlan> ReadPlan(const std::string& text, const std::string& what);

}  // namespace vernier
