// Options of commands that show, change or reduce models.
#include "cli/command_options.h"
#include "cli/options/groups.h"

namespace vernier {
namespace {

// Inputs for one inference whose tensors are looked at.
CommandGroup InputsOfOneRun() {
  return Only(DataLoaderGroup(),
              {"seed", "val_range", "iterations", "data_loader_backend_module", "inputs_from_graph",
               "like", "load_inputs_paths", "data_loader_script"});
}

// What all commands have that change an ONNX model.
std::vector<CommandGroup> SurgeonGroups(const OptionGroup& own) {
  return {GeneralGroup(),
          LoggingGroup(),
          Only(ModelGroup(), {"model_file", "model_type"}),
          own,
          Only(OnnxLoadGroup(),
               {"external_data_dir", "ignore_external_data", "fp_to_fp16", "strict_external_data"}),
          NewModelGroup(),
          Without(OnnxSaveGroup(), {"save_onnx"})};
}

// What all commands have that build engines.
void AddEngineOptions(std::vector<CommandGroup>& groups) {
  groups.push_back(TensorRtConfigGroup());
  for (const OptionGroup& group : TensorRtLoadGroup()) {
    groups.push_back(Without(group, {"save_engine", "load_runtime"}));
  }
  groups.push_back(Only(TensorRtRunGroup(), {"trt_lib"}));
  groups.push_back(Only(WorkerGroup(), {"timeout", "python", "backend_dir"}));
}

}  // namespace

OptionTable ConvertOptionTable() {
  std::vector<CommandGroup> groups = {GeneralGroup(), ConvertGroup(), LoggingGroup(),
                                      Without(ModelGroup(), {"model_file"})};
  for (const OptionGroup& group : TensorFlowGroup()) {
    groups.push_back(Only(group, {"ckpt", "tf_outputs", "tf_signature", "freeze_graph", "opset"}));
  }
  groups.push_back(OnnxShapeInferenceGroup());
  groups.push_back(OnnxLoadGroup());
  groups.push_back(Without(OnnxSaveGroup(), {"save_onnx"}));
  groups.push_back(DataLoaderGroup());
  AddEngineOptions(groups);
  return OptionTable(std::move(groups));
}

OptionTable InspectOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralGroup(),
      LoggingGroup(),
      Only(ModelGroup(), {"model_file", "model_type", "input_shapes", "dims"}),
      InspectGroup(),
      OnnxShapeInferenceGroup(),
      Only(OnnxLoadGroup(), {"external_data_dir", "ignore_external_data", "fp_to_fp16"})};
  for (const OptionGroup& group : CompareGroup()) {
    groups.push_back(Only(group, {"load_outputs_paths"}));
  }
  groups.push_back(Only(RunnerGroup(), {"runners"}));
  groups.push_back(InputsOfOneRun());
  for (const OptionGroup& group : TensorRtLoadGroup()) {
    groups.push_back(Without(
        group, {"trt_outputs", "trt_exclude_outputs", "trt_outputs_by_type", "save_engine"}));
  }
  groups.push_back(Only(TensorFlowRefusedGroup(), {"ckpt", "freeze_graph"}));
  groups.push_back(Only(TensorRtRunGroup(), {"trt_lib", "allow_engine_code"}));
  groups.push_back(Only(WorkerGroup(), {"timeout", "python", "backend_dir"}));
  return OptionTable(std::move(groups));
}

OptionTable ExtractOptionTable() {
  return OptionTable(
      {GeneralGroup(), LoggingGroup(), Only(ModelGroup(), {"model_file", "model_type"}),
       ExtractGroup(), NewModelGroup(), OnnxShapeInferenceGroup(), InputsOfOneRun(),
       Only(OnnxLoadGroup(),
            {"external_data_dir", "ignore_external_data", "strict_external_data", "fp_to_fp16"}),
       Without(OnnxSaveGroup(), {"save_onnx"}),
       Only(WorkerGroup(), {"timeout", "python", "backend_dir"})});
}

OptionTable SanitizeOptionTable() {
  std::vector<CommandGroup> groups = SurgeonGroups(SanitizeGroup());
  groups.push_back(ConstantFoldingGroup());
  groups.push_back(DefaultShapeInferenceGroup());
  groups.push_back(Only(OnnxShapeInferenceGroup(), {"allow_onnxruntime"}));
  groups.push_back(Without(DataLoaderGroup(), {"inputs_from_graph", "like"}));
  groups.push_back(Only(OnnxRuntimeGroup(), {"onnxrt_lib"}));
  groups.push_back(Only(WorkerGroup(), {"timeout", "python", "backend_dir"}));
  return OptionTable(std::move(groups));
}

OptionTable InsertOptionTable() {
  std::vector<CommandGroup> groups = SurgeonGroups(InsertGroup());
  groups.push_back(OnnxShapeInferenceGroup());
  groups.push_back(Only(WorkerGroup(), {"timeout", "python", "backend_dir"}));
  return OptionTable(std::move(groups));
}

OptionTable WeightStripOptionTable() { return OptionTable(SurgeonGroups(WeightStripGroup())); }

OptionTable DebugBuildOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralGroup(),
      LoggingGroup(),
      Without(ModelGroup(), {"input_shapes", "dims", "onnx_graphsurgeon"}),
      DebugRepeatGroup(),
      Without(DebugCheckGroup(), {"load_debug_replay", "save_debug_replay"}),
      DebugArtifactGroup(),
      OnnxShapeInferenceGroup(),
      OnnxLoadGroup(),
      DataLoaderGroup()};
  AddEngineOptions(groups);
  return OptionTable(std::move(groups));
}

OptionTable DebugPrecisionOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralGroup(),
      LoggingGroup(),
      Only(ModelGroup(), {"model_file", "model_type", "input_shapes", "dims"}),
      DebugPrecisionGroup(),
      DebugJobGroup(),
      DebugCheckGroup(),
      DebugArtifactGroup(),
      InputsOfOneRun(),
      Only(OnnxRuntimeGroup(), {"onnxrt_lib"}),
      OnnxShapeInferenceGroup(),
      Only(OnnxLoadGroup(),
           {"external_data_dir", "ignore_external_data", "fp_to_fp16", "strict_external_data"}),
      Without(OnnxSaveGroup(), {"save_onnx"})};
  AddEngineOptions(groups);
  return OptionTable(std::move(groups));
}

OptionTable DebugReduceOptionTable() {
  return OptionTable(
      {GeneralGroup(), LoggingGroup(), Only(ModelGroup(), {"model_file", "model_type"}),
       DebugReduceGroup(), DebugJobGroup(), DebugCheckGroup(), DebugArtifactGroup(),
       DefaultShapeInferenceGroup(), Only(OnnxShapeInferenceGroup(), {"allow_onnxruntime"}),
       Without(DataLoaderGroup(), {"inputs_from_graph", "like"}),
       Only(OnnxLoadGroup(),
            {"external_data_dir", "ignore_external_data", "fp_to_fp16", "strict_external_data"}),
       Without(OnnxSaveGroup(), {"save_onnx"}),
       Only(WorkerGroup(), {"timeout", "python", "backend_dir"})});
}

OptionTable DebugRepeatOptionTable() {
  return OptionTable({GeneralGroup(), LoggingGroup(), DebugRepeatGroup(), DebugCheckGroup()});
}

OptionTable SparsityOptionTable() {
  return OptionTable(
      {GeneralGroup(), LoggingGroup(), Only(ModelGroup(), {"model_file", "model_type"}),
       Only(OnnxLoadGroup(),
            {"external_data_dir", "ignore_external_data", "fp_to_fp16", "strict_external_data"}),
       DocumentGroup()});
}

OptionTable TacticReplayOptionTable() {
  return OptionTable({GeneralGroup(), TacticReplayGroup(), DocumentGroup(), LoggingGroup()});
}

OptionTable DiffTacticsOptionTable() {
  return OptionTable({GeneralGroup(), DiffTacticsGroup(), DocumentGroup(), LoggingGroup()});
}

OptionTable WeightOptionTable() { return OptionTable(SurgeonGroups({})); }

}  // namespace vernier
