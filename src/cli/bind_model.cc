#include "cli/bind_model.h"

#include <span>

#include "util/cast_grammar.h"

namespace vernier {
Result<ModelPlan> BindModel(const ParsedArgs& args) {
  ModelPlan model;
  model.path = std::string(args.Value("model_file").value_or(""));
  model.type = std::string(args.Value("model_type").value_or(""));
  model.external_data_dir = std::string(args.Value("external_data_dir").value_or(""));
  model.strict_external_data = args.Has("strict_external_data");
  model.outputs = ListOf(args, "onnx_outputs");
  // One word where the shell was told to keep them together: `mark\ all`.
  if (model.outputs == std::vector<std::string>{"mark all"}) model.outputs = {"mark", "all"};
  model.exclude_outputs = ListOf(args, "onnx_exclude_outputs");
  model.outputs_by_type = ListOf(args, "onnx_outputs_by_type");
  model.save_path = std::string(args.Value("save_onnx").value_or(""));
  model.print_summary = args.Has("onnx_graphsurgeon");
  model.ignore_external_data = args.Has("ignore_external_data");
  if (args.Has("external_data_path")) {
    model.save_external_data = std::string(args.Value("external_data_path").value_or(""));
  }
  if (args.Has("external_data_size_threshold")) {
    VERNIER_ASSIGN_OR_RETURN(const int64_t threshold,
                             ParseByteCount(*args.Value("external_data_size_threshold")));
    if (threshold < 0) {
      return InvalidArgument("--external-data-size-threshold: expected a size >= 0, got " +
                             std::to_string(threshold));
    }
    model.save_threshold_given = true;
    model.save_external_threshold = static_cast<uint64_t>(threshold);
  }
  model.shape_inference = args.Has("do_shape_inference");
  model.symbolic_inference = !args.Has("allow_onnxruntime");
  model.fp_to_fp16 = args.Has("fp_to_fp16");
  model.save_one_file = !args.Has("all_tensors_to_one_file");
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
