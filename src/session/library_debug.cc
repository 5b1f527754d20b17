// debug.h: investigations of programs that are not ours.
#include <string>
#include <utility>
#include <vector>

#include "debug/debug_session.h"
#include "debug/reducing.h"
#include "inference/model_shapes.h"
#include "model/onnx/companion_files.h"
#include "session/library_context.h"
#include "session/plan_files.h"
#include "surgeon/constant_folding.h"
#include "surgeon/editable_model.h"
#include "util/scratch_folder.h"
#include "vernier/debug.h"

namespace vernier {
namespace {

// What is written spares the model, its weights and each other.
Status CheckReducedFiles(const std::string& model, const ReduceOptions& reduce) {
  std::vector<std::string> spared = CompanionFiles(model, reduce.external_data_dir);
  spared.push_back(model);
  const auto check = [&](const std::string& field, const std::string& written) -> Status {
    for (const std::string& path : spared) {
      if (written.empty() || (written != path && !WouldReplaceData(written, path))) continue;
      return InvalidArgument("ReduceOptions::" + field + ": '" + written + "' would replace '" +
                             path + "': name another file");
    }
    return {};
  };
  VERNIER_TRY(check("output", reduce.output));
  spared.push_back(reduce.output);
  return check("min_good", reduce.min_good);
}

// As the search needs it: constants are weights, and the types of tensors are known.
Status PrepareToReduce(EditableModel& model, const SessionOptions& options,
                       const SessionContext& context) {
  VERNIER_ASSIGN_OR_RETURN(OnnxModel lowered, ConstantsAsInitializers(model.now()));
  model.Become(std::move(lowered));
  VERNIER_ASSIGN_OR_RETURN(const bool known, TakeShapesThatFollow(model));
  if (known) return {};
  VERNIER_TRY(ChooseProgram(options.program));
  return InferShapes(model, {}, ShapeTool::kSymbolic, context.interrupted, context.logger);
}

}  // namespace

Result<ReduceRecord> ReduceModel(const std::string& path, const ModelCheck& check,
                                 const ReduceOptions& reduce, const SessionOptions& options) {
  if (!check) return InvalidArgument("no check is given that says which models are good");
  VERNIER_TRY(CheckReducedFiles(path, reduce));
  LibraryDefaults defaults;
  const SessionContext context = defaults.ContextOf(options);
  ReduceDebugPlan plan;
  plan.reduce_inputs = reduce.inputs;
  plan.reduce_outputs = reduce.outputs;
  plan.bisect = reduce.bisect;
  plan.output = reduce.output;
  plan.min_good = reduce.min_good;
  plan.save.log = &context.logger;
  plan.save.source.directory = reduce.external_data_dir;
  VERNIER_ASSIGN_OR_RETURN(EditableModel model, EditableModel::Open(path, plan.save.source, false));
  VERNIER_TRY(PrepareToReduce(model, options, context));
  VERNIER_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Create());
  DebugSessionPlan session_plan;
  session_plan.check.judge = check;
  session_plan.suffix = "reduce";
  session_plan.artifact = folder.path() + "/model.onnx";
  for (const std::string& written : {reduce.output, reduce.min_good}) {
    if (!written.empty()) session_plan.outputs.push_back(written);
  }
  VERNIER_ASSIGN_OR_RETURN(
      DebugSession session,
      DebugSession::Open(std::move(session_plan), context.interrupted, context.logger));
  return DebugReduce(plan, model, session, context.logger);
}

}  // namespace vernier
