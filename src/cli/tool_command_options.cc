// Options of the peer's smaller tools: templates, plug-ins, several devices, capability.
#include "cli/command_options.h"
#include "cli/options/groups.h"

namespace vernier {
namespace {

CommandGroup Python() { return Only(WorkerGroup(), {"timeout", "python"}); }

CommandGroup LoadedModel() {
  return Only(OnnxLoadGroup(), {"external_data_dir", "ignore_external_data", "fp_to_fp16"});
}

CommandGroup MarkedOutputs() {
  return Only(SanitizeGroup(), {"onnx_outputs", "onnx_exclude_outputs", "onnx_outputs_by_type"});
}

CommandGroup SavedModel() { return Without(OnnxSaveGroup(), {"save_onnx"}); }

// With the inputs that the peer's parser takes, though nothing is run.
std::vector<CommandGroup> PluginGroups() {
  return {GeneralGroup(),
          LoggingGroup(),
          Only(ModelGroup(), {"model_file", "model_type", "input_shapes"}),
          OnnxShapeInferenceGroup(),
          Without(OnnxLoadGroup(), {"mark_all", "exclude_outputs", "strict_external_data"}),
          Only(DataLoaderGroup(), {"seed", "val_range", "iterations", "data_loader_backend_module",
                                   "load_inputs_paths", "data_loader_script"})};
}

}  // namespace

OptionTable CapabilityOptionTable() {
  return OptionTable({GeneralGroup(), LoggingGroup(),
                      Only(ModelGroup(), {"model_file", "model_type"}), CapabilityGroup(),
                      OnnxShapeInferenceGroup(), LoadedModel(), MarkedOutputs(), SavedModel(),
                      Python()});
}

OptionTable PluginListOptionTable() {
  std::vector<CommandGroup> groups = PluginGroups();
  groups.push_back(PluginPatternGroup());
  groups.push_back(Python());
  return OptionTable(std::move(groups));
}

OptionTable PluginMatchOptionTable() {
  std::vector<CommandGroup> groups = PluginGroups();
  groups.push_back(PluginPatternGroup());
  groups.push_back(Only(PluginFileGroup(), {"output"}));
  groups.push_back(Python());
  return OptionTable(std::move(groups));
}

OptionTable PluginReplaceOptionTable() {
  std::vector<CommandGroup> groups = PluginGroups();
  groups.push_back(Only(PluginPatternGroup(), {"plugin_dir"}));
  groups.push_back(PluginFileGroup());
  groups.push_back(Python());
  return OptionTable(std::move(groups));
}

OptionTable PluginAutotuneOptionTable() {
  return OptionTable({GeneralGroup(), LoggingGroup(), Only(ModelGroup(), {"model_file"}),
                      PluginPatternGroup(), PluginAutotuneGroup(), NewModelGroup(), SavedModel(),
                      Python()});
}

OptionTable TemplateNetworkOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralGroup(), LoggingGroup(), Only(ModelGroup(), {"model_file", "model_type"}),
      TemplateGroup(),
      Without(OnnxLoadGroup(), {"mark_all", "exclude_outputs", "strict_external_data"})};
  for (const OptionGroup& group : TensorRtLoadGroup()) {
    groups.push_back(Without(group, {"save_engine", "load_runtime", "save_timing_cache",
                                     "dla_workspace_allocation_strategy"}));
  }
  groups.push_back(TensorFlowRefusedGroup());
  return OptionTable(std::move(groups));
}

OptionTable TemplateConfigOptionTable() {
  return OptionTable({GeneralGroup(), LoggingGroup(),
                      Only(ModelGroup(), {"model_file", "model_type", "input_shapes"}),
                      TemplateGroup(), Without(DataLoaderGroup(), {"inputs_from_graph", "like"}),
                      Without(TensorRtConfigGroup(), {"workspace"})});
}

OptionTable TemplateGraphOptionTable() {
  return OptionTable(
      {GeneralGroup(), LoggingGroup(),
       Only(ModelGroup(), {"model_file", "model_type", "input_shapes"}), TemplateGroup(),
       OnnxShapeInferenceGroup(),
       Without(OnnxLoadGroup(), {"mark_all", "exclude_outputs", "strict_external_data"})});
}

OptionTable ShardHintsOptionTable() {
  return OptionTable({GeneralGroup(), LoggingGroup(),
                      Only(ModelGroup(), {"model_file", "model_type"}), TemplateGroup(),
                      LoadedModel(), MarkedOutputs(), ShardHintGroup(), Python()});
}

OptionTable ShardOptionTable() {
  return OptionTable({GeneralGroup(), LoggingGroup(),
                      Only(ModelGroup(), {"model_file", "model_type"}), ShardSourceGroup(),
                      ShardHintGroup(), NewModelGroup(), OnnxShapeInferenceGroup(), LoadedModel(),
                      MarkedOutputs(), SavedModel(), Python()});
}

}  // namespace vernier
