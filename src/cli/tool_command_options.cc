// Options of the peer's smaller tools: templates, plug-ins, several devices, capability.
#include "cli/command_options.h"
#include "cli/options/groups.h"

namespace vernier {
namespace {

CommandGroup Python() { return Only(WorkerOptions(), {"timeout", "python"}); }

CommandGroup LoadedModel() {
  return Only(OnnxLoadOptions(), {"external_data_dir", "ignore_external_data", "fp_to_fp16"});
}

CommandGroup MarkedOutputs() {
  return Only(SanitizeOptions(), {"onnx_outputs", "onnx_exclude_outputs", "onnx_outputs_by_type"});
}

CommandGroup SavedModel() { return Without(OnnxSaveOptions(), {"save_onnx"}); }

// With the inputs that the peer's parser takes, though nothing is run.
std::vector<CommandGroup> PluginGroups() {
  return {
      GeneralOptions(),
      LoggingOptions(),
      Only(ModelOptions(), {"model_file", "model_type", "input_shapes"}),
      OnnxShapeInferenceOptions(),
      Without(OnnxLoadOptions(), {"mark_all", "exclude_outputs", "strict_external_data"}),
      Only(DataLoaderOptions(), {"seed", "val_range", "iterations", "data_loader_backend_module",
                                 "load_inputs_paths", "data_loader_script"})};
}

}  // namespace

OptionTable CapabilityOptionTable() {
  return OptionTable({GeneralOptions(), LoggingOptions(),
                      Only(ModelOptions(), {"model_file", "model_type"}), CapabilityOptions(),
                      OnnxShapeInferenceOptions(), LoadedModel(), MarkedOutputs(), SavedModel(),
                      Python()});
}

OptionTable PluginListOptionTable() {
  std::vector<CommandGroup> groups = PluginGroups();
  groups.push_back(PluginPatternOptions());
  groups.push_back(Python());
  return OptionTable(std::move(groups));
}

OptionTable PluginMatchOptionTable() {
  std::vector<CommandGroup> groups = PluginGroups();
  groups.push_back(PluginPatternOptions());
  groups.push_back(Only(PluginFileOptions(), {"output"}));
  groups.push_back(Python());
  return OptionTable(std::move(groups));
}

OptionTable PluginReplaceOptionTable() {
  std::vector<CommandGroup> groups = PluginGroups();
  groups.push_back(Only(PluginPatternOptions(), {"plugin_dir"}));
  groups.push_back(PluginFileOptions());
  groups.push_back(Python());
  return OptionTable(std::move(groups));
}

OptionTable PluginAutotuneOptionTable() {
  return OptionTable({GeneralOptions(), LoggingOptions(), Only(ModelOptions(), {"model_file"}),
                      PluginPatternOptions(), PluginAutotuneOptions(), NewModelOptions(),
                      SavedModel(), Python()});
}

OptionTable TemplateNetworkOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralOptions(), LoggingOptions(), Only(ModelOptions(), {"model_file", "model_type"}),
      TemplateOptions(),
      Without(OnnxLoadOptions(), {"mark_all", "exclude_outputs", "strict_external_data"})};
  for (const OptionGroup& group : TensorRtLoadOptions()) {
    groups.push_back(Without(group, {"save_engine", "load_runtime", "save_timing_cache",
                                     "dla_workspace_allocation_strategy"}));
  }
  groups.push_back(TensorFlowRefusedOptions());
  return OptionTable(std::move(groups));
}

OptionTable TemplateConfigOptionTable() {
  return OptionTable({GeneralOptions(), LoggingOptions(),
                      Only(ModelOptions(), {"model_file", "model_type", "input_shapes"}),
                      TemplateOptions(),
                      Without(DataLoaderOptions(), {"inputs_from_graph", "like"}),
                      Without(TensorRtConfigOptions(), {"workspace"})});
}

OptionTable TemplateGraphOptionTable() {
  return OptionTable(
      {GeneralOptions(), LoggingOptions(),
       Only(ModelOptions(), {"model_file", "model_type", "input_shapes"}), TemplateOptions(),
       OnnxShapeInferenceOptions(),
       Without(OnnxLoadOptions(), {"mark_all", "exclude_outputs", "strict_external_data"})});
}

OptionTable ShardHintsOptionTable() {
  return OptionTable({GeneralOptions(), LoggingOptions(),
                      Only(ModelOptions(), {"model_file", "model_type"}), TemplateOptions(),
                      LoadedModel(), MarkedOutputs(), ShardHintOptions(), Python()});
}

OptionTable ShardOptionTable() {
  return OptionTable({GeneralOptions(), LoggingOptions(),
                      Only(ModelOptions(), {"model_file", "model_type"}), ShardSourceOptions(),
                      ShardHintOptions(), NewModelOptions(), OnnxShapeInferenceOptions(),
                      LoadedModel(), MarkedOutputs(), SavedModel(), Python()});
}

}  // namespace vernier
