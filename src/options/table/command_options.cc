#include "options/table/command_options.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "options/table/groups.h"
#include "options/table/option_sets.h"

namespace vernier {
namespace {

struct CommandOptions {
  std::string_view command;
  OptionTable (*options)();
};

constexpr CommandOptions kCommandOptions[] = {{"run", RunOptionTable},
                                              {"compare", CompareOptionTable},
                                              {"blame", BlameOptionTable},
                                              {"profile", ProfileOptionTable},
                                              {"check consistency", ConsistencyOptionTable},
                                              {"check extremes", ExtremesOptionTable},
                                              {"check lint", LintOptionTable},
                                              {"convert", ConvertOptionTable}};

}  // namespace

Result<OptionTable> OptionsOf(std::string_view command) {
  const auto* const at = std::ranges::find(kCommandOptions, command, &CommandOptions::command);
  if (at != std::end(kCommandOptions)) return at->options();
  return InvalidArgument("there is no command '" + std::string(command) + "' with options");
}

OptionTable RunOptionTable() {
  // Polygraphy's order of registration: it decides the order of names in "could match ..."
  // messages.
  return OptionTable({GeneralGroup(),
                      LoggingGroup(),
                      RunnerGroup(),
                      ModelGroup(),
                      TensorFlowGroup(),
                      OnnxSaveGroup(),
                      OnnxShapeInferenceGroup(),
                      OnnxLoadGroup(),
                      OnnxRuntimeGroup(),
                      OpenVinoGroup(),
                      TensorRtConfigGroup(),
                      TensorRtShortFormGroup(),
                      TensorRtLoadGroup(),
                      TensorRtRunGroup(),
                      DataLoaderGroup(),
                      StepGroup(),
                      ComparatorRunGroup(),
                      PostprocessGroup(),
                      CompareGroup(),
                      DecisionGroup(),
                      FlipFileGroup(),
                      MapGroup(),
                      WorkerGroup(),
                      ReplicaGroup(),
                      ReportGroup(),
                      ReproducibleGroup(),
                      ShardGroup(),
                      RunAndBlameGroup(),
                      BlameGroup(),
                      RunFileGroup(),
                      ScriptGroup()});
}

OptionTable CompareOptionTable() {
  return OptionTable(
      {GeneralGroup(), ComparedFilesGroup(), LoggingGroup(), Only(RunnerGroup(), {"pairs"}),
       PostprocessGroup(),
       Only(ComparisonGroup(), {"no_shape_check", "validate", "fail_fast", "check_average",
                                "compare", "compare_func_script", "save_accuracy_results_path",
                                "lenient", "strict", "same_type", "worst"}),
       CompareSimpleGroup(), CompareIndicesGroup(), CompareLogitsGroup(), CompareTokensGroup(),
       CompareMetricsGroup(), DecisionGroup(), FlipFileGroup(), BootstrapGroup(),
       Only(MapGroup(), {"map_outputs"}), PythonWorkerOptions(), ReportGroup(), ReproducibleGroup(),
       ShardGroup()});
}

OptionTable BlameOptionTable() {
  return OptionTable({GeneralGroup(),
                      LoggingGroup(),
                      Only(RunnerGroup(), {"runners", "torch_lib", "torch_in", "torch_outputs",
                                           "allow_pickle", "identity_device", "reference"}),
                      ModelGroup(),
                      OnnxLoadGroup(),
                      OnnxRuntimeGroup(),
                      OpenVinoGroup(),
                      TensorRtConfigGroup(),
                      TensorRtShortFormGroup(),
                      TensorRtLoadGroup(),
                      TensorRtRunGroup(),
                      DataLoaderGroup(),
                      Only(StepGroup(), {"steps", "feed_back", "initial_state", "step_slice",
                                         "advance", "reset", "decode", "decode_stop"}),
                      Only(CompareTokensGroup(), {"logits_tokens", "logits_mask"}),
                      Only(ComparisonGroup(), {"load_outputs_paths"}),
                      Only(DecisionGroup(), {"decisions", "near_tie", "worst_flips"}),
                      MapGroup(),
                      WorkerGroup(),
                      BlameGroup(),
                      BlameAloneGroup(),
                      Only(ReportGroup(), {"reports"})});
}

OptionTable ProfileOptionTable() {
  return OptionTable(
      {GeneralGroup(), LoggingGroup(), LoneRunnerOptions(), ModelAndShapeOptions(),
       ProfileOptionRows(), TensorFlowGroup(), OnnxLoadGroup(), OnnxRuntimeGroup(), OpenVinoGroup(),
       TensorRtConfigGroup(), TensorRtShortFormGroup(), TensorRtLoadGroup(), TensorRtRunGroup(),
       Only(DataLoaderGroup(), {"seed", "val_range", "inputs_from_graph", "like",
                                "load_inputs_paths", "preprocess", "max_image_pixels"}),
       // What needs several iterations, or draws, is left to `run`.
       Only(ComparisonGroup(), {"no_shape_check", "compare", "lenient", "strict", "same_type"}),
       Only(CompareSimpleGroup(),
            {"rtol", "atol", "tolerance", "check_error_stat", "infinities_compare_equal",
             "error_quantile", "max_mismatch_share", "max_mismatch_excess"}),
       CompareIndicesGroup(), CompareLogitsGroup(), CompareMetricsGroup(), WorkerGroup(),
       Only(ReportGroup(), {"reports"})});
}

OptionTable ConsistencyOptionTable() {
  return OptionTable({RunnerAndInputOptions(), ConsistencyCheckGroup(),
                      Only(StepGroup(), {"reset"}),
                      Only(CompareGroup(), {"rtol", "atol", "tolerance", "strict", "lenient"}),
                      AnyWorkerOptions(), Only(ReportGroup(), {"save_record"})});
}

OptionTable ExtremesOptionTable() {
  return OptionTable({RunnerAndInputOptions(), ExtremesCheckGroup(), AnyWorkerOptions(),
                      Only(ReportGroup(), {"save_record"})});
}

OptionTable LintOptionTable() {
  return OptionTable({GeneralGroup(), LoggingGroup(), LintCheckGroup(), LoneRunnerOptions(),
                      ModelAndShapeOptions(), LoadedModelOptions(), OnnxRuntimeGroup(),
                      OpenVinoGroup(), TensorRtConfigGroup(), TensorRtShortFormGroup(),
                      TensorRtLoadGroup(), TensorRtRunGroup(), DataLoaderGroup(),
                      AnyWorkerOptions()});
}

OptionTable ConvertOptionTable() {
  return OptionTable(
      {GeneralGroup(), ConvertGroup(), LoggingGroup(),
       Only(ModelGroup(), {"model_type", "input_shapes", "dims", "onnx_graphsurgeon"}),
       Only(TensorFlowGroup(), {"ckpt", "tf_outputs", "tf_signature", "freeze_graph", "opset"}),
       OnnxShapeInferenceGroup(), OnnxLoadGroup(), SavedModelOptions(), DataLoaderGroup(),
       EngineOptions()});
}

}  // namespace vernier
