#include "options/bind/bind_profile.h"

#include <cmath>
#include <string>

#include "inputs/shape_grid.h"
#include "inputs/shape_spec.h"

namespace vernier {
namespace {

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

}  // namespace vernier
