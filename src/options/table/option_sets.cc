#include "options/table/option_sets.h"

namespace vernier {

CommandGroup ModelFileOptions() { return Only(ModelGroup(), {"model_file", "model_type"}); }

CommandGroup ModelAndShapeOptions() {
  return Only(ModelGroup(), {"model_file", "model_type", "input_shapes", "dims"});
}

CommandGroup LoadedModelOptions() {
  return Only(OnnxLoadGroup(), {"external_data_dir", "ignore_external_data", "fp_to_fp16"});
}

CommandGroup StrictlyLoadedModelOptions() {
  return Only(OnnxLoadGroup(),
              {"external_data_dir", "ignore_external_data", "fp_to_fp16", "strict_external_data"});
}

CommandGroup NewOutputOptions() {
  return Only(OnnxLoadGroup(), {"external_data_dir", "ignore_external_data", "onnx_outputs",
                                "onnx_exclude_outputs", "onnx_outputs_by_type", "fp_to_fp16"});
}

CommandGroup MarkedOutputOptions() {
  return Only(SanitizeGroup(), {"onnx_outputs", "onnx_exclude_outputs", "onnx_outputs_by_type"});
}

CommandGroup SavedModelOptions() {
  return Only(OnnxSaveGroup(),
              {"external_data_path", "external_data_size_threshold", "all_tensors_to_one_file"});
}

std::vector<CommandGroup> SurgeonOptions(const OptionGroup& own) {
  return {
      GeneralGroup(),  LoggingGroup(),     ModelFileOptions(), own, StrictlyLoadedModelOptions(),
      NewModelGroup(), SavedModelOptions()};
}

CommandGroup OneRunInputOptions() {
  return Only(DataLoaderGroup(), {"seed", "val_range", "iterations", "data_loader_backend_module",
                                  "inputs_from_graph", "like", "load_inputs_paths", "preprocess",
                                  "max_image_pixels", "data_loader_script"});
}

CommandGroup ToolInputOptions() {
  return Only(DataLoaderGroup(),
              {"seed", "val_range", "iterations", "data_loader_backend_module", "load_inputs_paths",
               "preprocess", "max_image_pixels", "data_loader_script"});
}

CommandGroup DrawnOrReadInputOptions() {
  return Only(DataLoaderGroup(),
              {"seed", "val_range", "iterations", "data_loader_backend_module", "load_inputs_paths",
               "preprocess", "max_image_pixels", "data_loader_script", "data_loader_func_name"});
}

CommandGroup LoneRunnerOptions() {
  return Only(RunnerGroup(), {"runners", "torch_lib", "torch_in", "torch_outputs", "allow_pickle",
                              "identity_device"});
}

CommandGroup PythonWorkerOptions() { return Only(WorkerGroup(), {"timeout", "python"}); }

CommandGroup AnyWorkerOptions() {
  return Only(WorkerGroup(), {"timeout", "python", "backend_dir"});
}

CommandGroup BackendPlaceOptions() { return Only(WorkerGroup(), {"python", "backend_dir"}); }

std::vector<CommandGroup> RunnerAndInputOptions() {
  return Together({GeneralGroup(), LoggingGroup(), LoneRunnerOptions(), ModelGroup(),
                   TensorFlowGroup(), OnnxLoadGroup(), OnnxRuntimeGroup(), OpenVinoGroup(),
                   TensorRtConfigGroup(), TensorRtShortFormGroup(), TensorRtLoadGroup(),
                   TensorRtRunGroup(),
                   Only(DataLoaderGroup(), {"seed", "val_range", "inputs_from_graph", "like",
                                            "load_inputs_paths", "preprocess", "max_image_pixels",
                                            "data_loader_script", "data_loader_func_name"})});
}

std::vector<CommandGroup> EngineOptions() {
  return Together(
      {TensorRtConfigGroup(), TensorRtShortFormGroup(), TensorRtPluginGroup(),
       TensorRtParserGroup(), TensorRtNetworkGroup(),
       Only(TensorRtEngineGroup(), {"save_timing_cache", "dla_workspace_allocation_strategy"}),
       Only(TensorRtRunGroup(), {"trt_lib"}), AnyWorkerOptions()});
}

}  // namespace vernier
