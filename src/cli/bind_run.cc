#include "cli/bind_run.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "cli/bind_blame.h"
#include "cli/bind_compare.h"
#include "cli/bind_dims.h"
#include "cli/bind_maps.h"
#include "cli/bind_runners.h"
#include "cli/bind_tensorflow.h"
#include "cli/bind_tensorrt.h"
#include "cli/saved_sides.h"
#include "inputs/shape_grid.h"
#include "inputs/shape_spec.h"
#include "inputs/value_ranges.h"
#include "report/report_files.h"
#include "run/resolve_runner.h"
#include "vernier/session.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// Environment variables of the peer that mean nothing here.
struct PeerVariable {
  const char* name;
  std::string_view instead;
};
constexpr PeerVariable kPeerVariables[] = {
    {"POLYGRAPHY_AUTOINSTALL_DEPS", "nothing is ever installed at run time"},
    {"POLYGRAPHY_ASK_BEFORE_INSTALL", "nothing is ever installed at run time"},
    {"POLYGRAPHY_INSTALL_CMD", "nothing is ever installed at run time"},
    {"POLYGRAPHY_ARRAY_SWAP_THRESHOLD_MB", "memory does not grow with the iterations anyway"},
    {"POLYGRAPHY_USE_TENSORRT_RTX", "TensorRT for RTX is not supported; --trt runs TensorRT"},
    {"POLYGRAPHY_INTERNAL_CORRECTNESS_CHECKS", "the tests do that"},
};

// A flag that does nothing here must not pass in silence.
void WarnOfIdleFlags(const ParsedArgs& args, Logger& logger) {
  std::vector<std::string_view> warned;
  for (const GivenOption& given : args.given()) {
    const OptionRow& row = *given.row;
    const bool idle = row.standing == Standing::kLater || row.standing == Standing::kRefused;
    // Runners are reported when they cannot be opened.
    if (!idle || row.action == OptionAction::kRunner ||
        std::find(warned.begin(), warned.end(), row.dest) != warned.end()) {
      continue;
    }
    warned.push_back(row.dest);
    logger.Warning(std::string(given.flag) + " has no effect" +
                   (row.note.empty() ? "" : ": " + std::string(row.note)));
  }
  for (const PeerVariable& variable : kPeerVariables) {
    if (std::getenv(variable.name) == nullptr) continue;
    logger.Warning("the environment variable " + std::string(variable.name) +
                   " has no effect: " + std::string(variable.instead));
  }
}

// `FILE[:FUNCTION]`.
ScriptFunction BindScript(const ParsedArgs& args, std::string_view dest,
                          std::string_view function) {
  const std::string text = TextOf(args, dest);
  std::error_code ignored;
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || fs::exists(text, ignored)) {
    return {text, std::string(function)};
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// Polygraphy takes a count below 0 for none, and passes.
Status CheckCount(const ParsedArgs& args, std::string_view dest, std::optional<int64_t> count,
                  bool lenient) {
  if (!count || *count >= 0 || lenient) return {};
  return InvalidArgument(std::string(args.Flag(dest)) + ": expected a number >= 0, got '" +
                         std::to_string(*count) + "'");
}

// Words that make no sense end the run here, before any framework loads. Each set of shapes gets an
// iteration. The peer takes the last shape of an input.
Status BindShapes(const ParsedArgs& args, const RunPlan& plan, InputPlan& inputs, Logger& logger) {
  const std::vector<std::string> words = ListOf(args, "input_shapes");
  if (plan.lenient) {
    inputs.shape_words = words;
    return ParseShapeSpecs(words, Strictness::kPeer).status();
  }
  VERNIER_ASSIGN_OR_RETURN(inputs.shape_words, ShapesInTurn(words));
  VERNIER_ASSIGN_OR_RETURN(const int64_t sets, CountShapeSets(inputs.shape_words));
  if (words.empty()) return {};
  if (!inputs.load_paths.empty() || inputs.script.given()) {
    const bool for_engine =
        std::any_of(plan.runners.begin(), plan.runners.end(),
                    [](const RunnerPlan& runner) { return runner.backend == "tensorrt"; });
    if (!for_engine) {
      logger.Warning(std::string(args.Flag("input_shapes")) +
                     " is not used: inputs that are loaded or made by a script have their own "
                     "shapes");
    }
    return {};
  }
  if (!inputs.iterations && sets > 1) inputs.iterations = sets;
  if (sets == 1 || *inputs.iterations >= sets) return {};
  return InvalidArgument(
      std::string(args.Flag("iterations")) + ": expected a number >= " + std::to_string(sets) +
      ", for as many sets of shapes as " + std::string(args.Flag("input_shapes")) +
      " gives, got '" + std::to_string(*inputs.iterations) + "'");
}

Status BindInputs(const ParsedArgs& args, RunPlan& plan, Logger& logger) {
  InputPlan& inputs = plan.inputs;
  inputs.load_paths = ListOf(args, "load_inputs_paths");
  inputs.range_words = ListOf(args, "val_range");
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> seed, args.Int("seed"));
  VERNIER_ASSIGN_OR_RETURN(inputs.iterations, args.Int("iterations"));
  VERNIER_TRY(CheckCount(args, "iterations", inputs.iterations, plan.lenient));
  inputs.seed = seed.value_or(1);
  inputs.torch_numbers = args.Value("data_loader_backend_module") == "torch";
  inputs.from_graph = args.Has("inputs_from_graph");
  inputs.like = TextOf(args, "like");
  if (!inputs.like.empty() && inputs.torch_numbers) {
    return InvalidArgument("--like draws by itself: leave --data-loader-backend-module torch out");
  }
  inputs.script = BindScript(args, "data_loader_script", "load_data");
  if (args.Has("data_loader_func_name") && inputs.script.given()) {
    inputs.script.function = TextOf(args, "data_loader_func_name");
  }
  VERNIER_TRY(BindShapes(args, plan, inputs, logger));
  VERNIER_TRY(BindDims(args, plan, logger));
  VERNIER_TRY(ParseValueRanges(inputs.range_words).status());
  if (inputs.load_paths.empty() && !inputs.script.given()) {
    if (inputs.iterations == 0 && !plan.lenient) {
      logger.Warning(std::string(args.Flag("iterations")) +
                     " 0: nothing is run, so nothing is compared and no output is saved");
    }
    return {};
  }
  for (const std::string_view dest : {"seed", "val_range", "iterations"}) {
    if (!args.Has(dest)) continue;
    logger.Warning("Argument: '" + std::string(args.Flag(dest)) +
                   "' will be ignored since a custom data loader was provided.\n"
                   "This argument is only valid when using the default data loader.");
  }
  return {};
}

Status CheckRanges(const RunPlan& plan) {
  if (plan.lenient) return {};
  VERNIER_ASSIGN_OR_RETURN(const std::vector<NamedRange> ranges,
                           ParseValueRanges(plan.inputs.range_words));
  return CheckFiniteRanges(ranges);
}

Status BindReports(const ParsedArgs& args, SavePlan& save) {
  for (const std::span<const std::string> words : args.Occurrences("reports")) {
    for (const std::string& path : words) {
      VERNIER_ASSIGN_OR_RETURN(ReportFile report, ReportFileFor(std::string(args.Flag("reports")),
                                                                InOutputFolder(args, path)));
      save.reports.push_back(std::move(report));
    }
  }
  if (save.reports.empty() && !TextOf(args, "output_dir").empty()) {
    save.reports.push_back({InOutputFolder(args, "report.html"), ReportFormat::kHtml});
  }
  return {};
}

void BindSaving(const ParsedArgs& args, RunPlan& plan) {
  SavePlan& save = plan.save;
  const auto path_of = [&](std::string_view dest) {
    return InOutputFolder(args, TextOf(args, dest));
  };
  save.inputs = path_of("save_inputs_path");
  save.outputs = path_of("save_outputs_path");
  save.input_blobs = path_of("save_input_blob_path");
  save.accuracy = path_of("save_accuracy_results_path");
  save.record = path_of("save_record");
  save.rows = path_of("save_rows");
  save.resume = args.Has("resume_run");
  const bool keeps_tensors =
      args.Has("save_intermediate_outputs") || args.Has("save_all_intermediate_outputs");
  if (keeps_tensors && save.outputs.empty()) save.outputs = InOutputFolder(args, "outputs.json");
  const bool has_folder = !TextOf(args, "output_dir").empty();
  if (has_folder && save.record.empty()) save.record = InOutputFolder(args, "record.json");
}

Status BindPictures(const ParsedArgs& args, PicturePlan& pictures) {
  for (const std::string_view dest : {"save_heatmaps", "save_error_metrics_plot"}) {
    if (args.Value(dest) != "") continue;
    return InvalidArgument(std::string(args.Flag(dest)) + ": expected a folder, got ''");
  }
  pictures.heatmaps = InOutputFolder(args, TextOf(args, "save_heatmaps"));
  pictures.error_plots = InOutputFolder(args, TextOf(args, "save_error_metrics_plot"));
  pictures.show_heatmaps = args.Has("show_heatmaps");
  pictures.show_error_plots = args.Has("show_error_metrics_plot");
  return {};
}

Status BindExecution(const ParsedArgs& args, bool lenient, ExecutionPlan& execution) {
  execution.sequential = args.Has("sequential_runners");
  execution.use_subprocess = args.Has("use_subprocess");
  execution.in_process = args.Has("in_process");
  execution.parallel = args.Has("parallel");
  if (execution.parallel && execution.sequential) {
    return InvalidArgument(
        "--parallel lets runners infer side by side, --sequential-runners one after another: give "
        "one of them");
  }
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> warm_up, args.Int("warm_up"));
  VERNIER_TRY(CheckCount(args, "warm_up", warm_up, lenient));
  execution.warm_up = std::max<int64_t>(warm_up.value_or(0), 0);
  return BindWorkers(args, execution);
}

Status BindPairs(const ParsedArgs& args, PairPlan& pairs) {
  std::string_view text = args.Value("pairs").value_or("neighbours");
  if (text == "neighbours") return {};
  if (text == "first" || text == "all") {
    pairs.rule = text == "first" ? PairRule::kFirst : PairRule::kAll;
    return {};
  }
  pairs.rule = PairRule::kNamed;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    const size_t colon = pair.find(':');
    if (colon == 0 || colon == std::string_view::npos || colon + 1 == pair.size()) {
      return InvalidArgument("--pairs: expected neighbours, first, all or A:B,..., got '" +
                             std::string(pair) + "'");
    }
    pairs.named.emplace_back(pair.substr(0, colon), pair.substr(colon + 1));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
  }
  return {};
}

void BindScripts(const ParsedArgs& args, RunPlan& plan, Logger& logger) {
  plan.compare_script = BindScript(args, "compare_func_script", "compare_outputs");
  if (plan.compare_script.given()) plan.compare.functions = {CompareFunction::kScript};
  plan.postprocess_script = BindScript(args, "postprocess_func_script", "postprocess_outputs");
  if (plan.postprocess_script.given() && args.Has("postprocess")) {
    logger.Warning(
        "Argument: '--postprocess/--postprocess-func' will be ignored since "
        "'--postprocess-func-script' was provided.");
  }
}

}  // namespace

std::string InOutputFolder(const ParsedArgs& args, const std::string& path) {
  const std::string folder = TextOf(args, "output_dir");
  if (folder.empty() || path.empty() || fs::path(path).has_parent_path()) return path;
  return (fs::path(folder) / path).string();
}

Status BindWorkers(const ParsedArgs& args, ExecutionPlan& execution) {
  execution.python = TextOf(args, "python");
  execution.timeout_s = args.Float("timeout").value_or(0);
  if (!(execution.timeout_s >= 0) || std::isinf(execution.timeout_s)) {
    return InvalidArgument("--timeout: expected seconds >= 0");
  }
  for (const std::span<const std::string> words : args.Occurrences("backend_dir")) {
    execution.backend_dirs.insert(execution.backend_dirs.end(), words.begin(), words.end());
  }
  return {};
}

Result<RunPlan> BindRun(const ParsedArgs& args, const Invocation& invocation, Logger& logger) {
  RunPlan plan;
  plan.command = invocation.command;
  plan.lenient = invocation.as_peer || args.Has("lenient");
  plan.strict = args.Has("strict");
  plan.same_type = args.Has("same_type");
  VERNIER_TRY(BindRunners(args, invocation.now, plan, logger));
  for (RunnerPlan& runner : plan.runners) runner.model.fp16_clamps = plan.lenient;
  VERNIER_TRY(BindInputs(args, plan, logger));
  VERNIER_TRY(CheckRanges(plan));
  VERNIER_TRY(BindExecution(args, plan.lenient, plan.execution));
  VERNIER_TRY(BindPairs(args, plan.pairs));
  VERNIER_TRY(BindCompare(args, plan, logger));
  VERNIER_TRY(BindMaps(args, plan));
  for (const std::string_view dest : {"load_outputs_paths", "compare_outputs"}) {
    for (const std::string& word : args.List(dest)) AddSavedSide(word, plan);
  }
  // Of saved outputs alone, one side is nothing to judge.
  const bool judged = plan.strict || plan.same_type || args.Has("pairs") || args.Has("tolerance");
  plan.comparison_asked = args.Has("compare_outputs") || (plan.runners.empty() && judged);
  BindScripts(args, plan, logger);
  BindSaving(args, plan);
  VERNIER_TRY(BindReports(args, plan.save));
  plan.execution.hash_inputs = logger.Enabled(Severity::kExtraVerbose) ||
                               !plan.save.record.empty() || !plan.save.reports.empty();
  VERNIER_TRY(BindPictures(args, plan.pictures));
  if (args.Has("blame")) {
    VERNIER_ASSIGN_OR_RETURN(plan.blame, BindBlame(args, plan));
  }
  WarnOfIdleFlags(args, logger);
  return plan;
}

Result<RunPlan> BindEngineBuild(const ParsedArgs& args, const ModelPlan& model,
                                const std::string& output, Logger& logger) {
  RunPlan plan;
  RunnerPlan runner;
  runner.name = "trt";
  runner.backend = "tensorrt";
  runner.model = model;
  for (const std::string& library : args.List("trt_lib")) {
    runner.backend_options.emplace_back("lib", library);
  }
  VERNIER_TRY(BindTensorRt(args, runner, logger));
  ServeInPython(runner);
  if (const std::optional<ModelType> type = ModelTypeFromName(model.type)) {
    GiveModelToTensorRt(*type, SplitModelPath(*args.Value("model_file")).extra, runner);
  }
  runner.session_options.emplace_back("save_engine", output);
  plan.runners.push_back(std::move(runner));
  VERNIER_TRY(BindInputs(args, plan, logger));
  VERNIER_TRY(BindExecution(args, plan.lenient, plan.execution));
  return plan;
}

Status CheckRun(const RunPlan& plan) {
  VERNIER_TRY(CheckAverageFlags(plan.compare));
  VERNIER_TRY(CheckLabels(plan));
  return ValidatePlan(plan);
}

}  // namespace vernier
