// Options of commands that show, change or reduce models.
#include "cli/command_options.h"
#include "cli/options/groups.h"

namespace vernier {
namespace {

// Inputs for one inference whose tensors are looked at.
CommandGroup InputsOfOneRun() {
  return Only(DataLoaderOptions(),
              {"seed", "val_range", "iterations", "data_loader_backend_module", "inputs_from_graph",
               "like", "load_inputs_paths", "data_loader_script"});
}

// What all commands have that change an ONNX model.
std::vector<CommandGroup> SurgeonGroups(const OptionGroup& own) {
  return {GeneralOptions(),
          LoggingOptions(),
          Only(ModelOptions(), {"model_file", "model_type"}),
          own,
          Only(OnnxLoadOptions(),
               {"external_data_dir", "ignore_external_data", "fp_to_fp16", "strict_external_data"}),
          NewModelOptions(),
          Without(OnnxSaveOptions(), {"save_onnx"})};
}

// What all commands have that build engines.
void AddEngineOptions(std::vector<CommandGroup>& groups) {
  groups.push_back(TensorRtConfigOptions());
  for (const OptionGroup& group : TensorRtLoadOptions()) {
    groups.push_back(Without(group, {"save_engine", "load_runtime"}));
  }
  groups.push_back(Only(TensorRtRunOptions(), {"trt_lib"}));
  groups.push_back(Only(WorkerOptions(), {"timeout", "python", "backend_dir"}));
}

}  // namespace

OptionTable ConvertOptionTable() {
  std::vector<CommandGroup> groups = {GeneralOptions(), ConvertOptions(), LoggingOptions(),
                                      Without(ModelOptions(), {"model_file"})};
  for (const OptionGroup& group : TensorFlowOptions()) {
    groups.push_back(Only(group, {"ckpt", "tf_outputs", "tf_signature", "freeze_graph", "opset"}));
  }
  groups.push_back(OnnxShapeInferenceOptions());
  groups.push_back(OnnxLoadOptions());
  groups.push_back(Without(OnnxSaveOptions(), {"save_onnx"}));
  groups.push_back(DataLoaderOptions());
  AddEngineOptions(groups);
  return OptionTable(std::move(groups));
}

OptionTable InspectOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralOptions(),
      LoggingOptions(),
      Only(ModelOptions(), {"model_file", "model_type", "input_shapes"}),
      InspectOptions(),
      OnnxShapeInferenceOptions(),
      Only(OnnxLoadOptions(), {"external_data_dir", "ignore_external_data", "fp_to_fp16"})};
  for (const OptionGroup& group : CompareOptions()) {
    groups.push_back(Only(group, {"load_outputs_paths"}));
  }
  groups.push_back(Only(RunnerOptions(), {"runners"}));
  groups.push_back(InputsOfOneRun());
  for (const OptionGroup& group : TensorRtLoadOptions()) {
    groups.push_back(Without(
        group, {"trt_outputs", "trt_exclude_outputs", "trt_outputs_by_type", "save_engine"}));
  }
  groups.push_back(Only(TensorFlowRefusedOptions(), {"ckpt", "freeze_graph"}));
  groups.push_back(Only(TensorRtRunOptions(), {"trt_lib", "allow_engine_code"}));
  groups.push_back(Only(WorkerOptions(), {"timeout", "python", "backend_dir"}));
  return OptionTable(std::move(groups));
}

OptionTable ExtractOptionTable() {
  return OptionTable(
      {GeneralOptions(), LoggingOptions(), Only(ModelOptions(), {"model_file", "model_type"}),
       ExtractOptions(), NewModelOptions(), OnnxShapeInferenceOptions(), InputsOfOneRun(),
       Only(OnnxLoadOptions(),
            {"external_data_dir", "ignore_external_data", "strict_external_data", "fp_to_fp16"}),
       Without(OnnxSaveOptions(), {"save_onnx"}),
       Only(WorkerOptions(), {"timeout", "python", "backend_dir"})});
}

OptionTable SanitizeOptionTable() {
  std::vector<CommandGroup> groups = SurgeonGroups(SanitizeOptions());
  groups.push_back(ConstantFoldingOptions());
  groups.push_back(DefaultShapeInferenceOptions());
  groups.push_back(Only(OnnxShapeInferenceOptions(), {"allow_onnxruntime"}));
  groups.push_back(Without(DataLoaderOptions(), {"inputs_from_graph", "like"}));
  groups.push_back(Only(OnnxRuntimeOptions(), {"onnxrt_lib"}));
  groups.push_back(Only(WorkerOptions(), {"timeout", "python", "backend_dir"}));
  return OptionTable(std::move(groups));
}

OptionTable InsertOptionTable() {
  std::vector<CommandGroup> groups = SurgeonGroups(InsertOptions());
  groups.push_back(OnnxShapeInferenceOptions());
  groups.push_back(Only(WorkerOptions(), {"timeout", "python", "backend_dir"}));
  return OptionTable(std::move(groups));
}

OptionTable WeightStripOptionTable() { return OptionTable(SurgeonGroups(WeightStripOptions())); }

OptionTable DebugBuildOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralOptions(),
      LoggingOptions(),
      Without(ModelOptions(), {"input_shapes", "onnx_graphsurgeon"}),
      DebugRepeatOptions(),
      Without(DebugCheckOptions(), {"load_debug_replay", "save_debug_replay"}),
      DebugArtifactOptions(),
      OnnxShapeInferenceOptions(),
      OnnxLoadOptions(),
      DataLoaderOptions()};
  AddEngineOptions(groups);
  return OptionTable(std::move(groups));
}

OptionTable DebugPrecisionOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralOptions(),
      LoggingOptions(),
      Only(ModelOptions(), {"model_file", "model_type", "input_shapes"}),
      DebugPrecisionOptions(),
      DebugJobOptions(),
      DebugCheckOptions(),
      DebugArtifactOptions(),
      InputsOfOneRun(),
      Only(OnnxRuntimeOptions(), {"onnxrt_lib"}),
      OnnxShapeInferenceOptions(),
      Only(OnnxLoadOptions(),
           {"external_data_dir", "ignore_external_data", "fp_to_fp16", "strict_external_data"}),
      Without(OnnxSaveOptions(), {"save_onnx"})};
  AddEngineOptions(groups);
  return OptionTable(std::move(groups));
}

OptionTable DebugReduceOptionTable() {
  return OptionTable(
      {GeneralOptions(), LoggingOptions(), Only(ModelOptions(), {"model_file", "model_type"}),
       DebugReduceOptions(), DebugJobOptions(), DebugCheckOptions(), DebugArtifactOptions(),
       DefaultShapeInferenceOptions(), Only(OnnxShapeInferenceOptions(), {"allow_onnxruntime"}),
       Without(DataLoaderOptions(), {"inputs_from_graph", "like"}),
       Only(OnnxLoadOptions(),
            {"external_data_dir", "ignore_external_data", "fp_to_fp16", "strict_external_data"}),
       Without(OnnxSaveOptions(), {"save_onnx"}),
       Only(WorkerOptions(), {"timeout", "python", "backend_dir"})});
}

OptionTable DebugRepeatOptionTable() {
  return OptionTable(
      {GeneralOptions(), LoggingOptions(), DebugRepeatOptions(), DebugCheckOptions()});
}

OptionTable SparsityOptionTable() {
  return OptionTable(
      {GeneralOptions(), LoggingOptions(), Only(ModelOptions(), {"model_file", "model_type"}),
       Only(OnnxLoadOptions(),
            {"external_data_dir", "ignore_external_data", "fp_to_fp16", "strict_external_data"}),
       DocumentOptions()});
}

OptionTable TacticReplayOptionTable() {
  return OptionTable(
      {GeneralOptions(), TacticReplayOptions(), DocumentOptions(), LoggingOptions()});
}

OptionTable DiffTacticsOptionTable() {
  return OptionTable({GeneralOptions(), DiffTacticsOptions(), DocumentOptions(), LoggingOptions()});
}

OptionTable WeightOptionTable() { return OptionTable(SurgeonGroups({})); }

}  // namespace vernier
