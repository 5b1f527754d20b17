#include "options/bind/bind_profile.h"

#include <string>

#include "inputs/shape_grid.h"
#include "inputs/shape_spec.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"

namespace vernier {
namespace {

Result<ProfileOptions> Bind(const ParsedArgs& args, const RunPlan& plan) {
  ProfileOptions options;
  VERNIER_ASSIGN_OR_RETURN(options.shapes, ExpandShapeGrid(ReadField<&FeedWords::shapes>(args)));
  // A word that makes no sense ends the command before any framework loads.
  for (const std::vector<std::string>& words : options.shapes) {
    VERNIER_TRY(ParseShapeSpecs(words, Strictness::kStrict).status());
  }
  if (IsGiven<&FeedWords::shapes>(args) && !plan.inputs.load_paths.empty()) {
    return InvalidArgument("--input-shapes: loaded inputs have their own shapes");
  }
  VERNIER_TRY(BindOptions(args, {}, {options}));
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
