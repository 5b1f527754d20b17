// How fast runners are, one at a time.
#include "cli/bind/bind_profile.h"

#include <cmath>

#include "cli/commands/command_start.h"
#include "cli/commands/comparison_session.h"
#include "cli/table/commands.h"
#include "cli/table/option_sets.h"
#include "inputs/shape_grid.h"
#include "inputs/shape_spec.h"
#include "report/text/profile_text.h"

namespace vernier {
namespace {

constexpr size_t kShownLayers = 10;

Result<ProfileOptions> Bind(const ParsedArgs& args, const RunPlan& plan) {
  ProfileOptions options;
  VERNIER_ASSIGN_OR_RETURN(options.shapes, ExpandShapeGrid(args.List("input_shapes")));
  // A word that makes no sense ends the command before any framework loads.
  for (const std::vector<std::string>& words : options.shapes) {
    VERNIER_TRY(ParseShapeSpecs(words, Strictness::kStrict).status());
  }
  if (args.Has("input_shapes") && !plan.inputs.load_paths.empty()) {
    return InvalidArgument("--input-shapes: loaded inputs have their own shapes");
  }
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> runs, args.Int("runs"));
  if (runs && *runs < 1) {
    return InvalidArgument("--runs: expected a number >= 1, got '" + std::to_string(*runs) + "'");
  }
  options.runs = runs.value_or(0);
  options.seconds = args.Float("duration").value_or(options.seconds);
  if (!(options.seconds >= 0) || std::isinf(options.seconds)) {
    return InvalidArgument("--duration: expected seconds >= 0");
  }
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> warm_up, args.Int("profile_warm_up"));
  if (warm_up && *warm_up < 0) return InvalidArgument("--warm-up: expected a number >= 0");
  options.warm_up = warm_up.value_or(options.warm_up);
  options.layers = !args.Has("no_layer_times");
  return options;
}

Status CheckProfiledPlan(const RunPlan& plan) {
  VERNIER_TRY(CheckRun(plan));
  if (plan.runners.empty()) {
    return InvalidArgument("name at least one runner to measure: --onnxrt, --openvino, --trt ...");
  }
  return {};
}

}  // namespace

Result<ProfilePlan> BindProfile(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  ProfilePlan plan;
  VERNIER_ASSIGN_OR_RETURN(plan.run, BindRun(args, invocation, log));
  VERNIER_TRY(CheckProfiledPlan(plan.run));
  VERNIER_ASSIGN_OR_RETURN(plan.options, Bind(args, plan.run));
  return plan;
}

namespace {

int ProfileCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kProfileCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  const Result<ProfilePlan> plan = BindProfile(start.args, invocation, log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  log.Start("RUNNING | Command: " + invocation.command);
  const RunOutcome outcome = CarryOutProfile(
      plan->run, plan->options, ContextOf(start.args, kProfileCommand.options(), invocation, log));
  const int code = EndWithBanner(log, outcome.record.seconds, outcome.faults, invocation);
  const size_t layers = log.Enabled(Severity::kVerbose) ? kShownLayers : 0;
  const std::string table = FormatProfile(outcome.record, layers);
  if (!table.empty()) log.Plain(table);
  return CloseLog(log, code, invocation);
}

}  // namespace

constexpr CommandSpec kProfileCommand = {
    .name = "profile",
    .section = CommandSection::kCompare,
    .operands = "[model_file] [runners ...] [options ...]",
    .summary = "measure the speed of runners, one at a time",
    .about =
        "Measure the latency of each runner while the others are closed, over a grid of input"
        " shapes: percentiles, throughput, memory, layer times where the framework provides them,"
        " and the noise. Outputs are compared with those of the first runner, which reveals a"
        " runner that is faster but wrong.",
    .options =
        [] {
          return OptionTable(
              {GeneralGroup(), LoggingGroup(), LoneRunnerOptions(), ModelAndShapeOptions(),
               ProfileOptionRows(), TensorFlowGroup(), OnnxLoadGroup(), OnnxRuntimeGroup(),
               OpenVinoGroup(), TensorRtConfigGroup(), TensorRtShortFormGroup(),
               TensorRtLoadGroup(), TensorRtRunGroup(),
               Only(DataLoaderGroup(), {"seed", "val_range", "inputs_from_graph", "like",
                                        "load_inputs_paths", "preprocess", "max_image_pixels"}),
               // What needs several iterations, or draws, is left to `run`.
               Only(ComparisonGroup(),
                    {"no_shape_check", "compare", "lenient", "strict", "same_type"}),
               Only(CompareSimpleGroup(),
                    {"rtol", "atol", "tolerance", "check_error_stat", "infinities_compare_equal",
                     "error_quantile", "max_mismatch_share", "max_mismatch_excess"}),
               CompareIndicesGroup(), CompareLogitsGroup(), CompareMetricsGroup(), WorkerGroup(),
               Only(ReportGroup(), {"reports"})});
        },
    .run = ProfileCommand,
};

}  // namespace vernier
