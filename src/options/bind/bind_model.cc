#include "options/bind/bind_model.h"

namespace vernier {
Result<ModelPlan> BindModel(const ParsedArgs& args) {
  ModelPlan model;
  VERNIER_TRY(BindOptions(args, {}, {model}));
  if (args.Has("mark_all") || args.Has("save_all_intermediate_outputs")) model.outputs = {"*"};
  if (args.Has("save_intermediate_outputs")) {
    model.outputs = ListOf(args, "save_intermediate_outputs");
    if (model.outputs.empty()) model.outputs = {"*"};
  }
  const std::vector<std::string> excluded = ListOf(args, "exclude_outputs");
  model.exclude_outputs.insert(model.exclude_outputs.end(), excluded.begin(), excluded.end());
  return model;
}

}  // namespace vernier
