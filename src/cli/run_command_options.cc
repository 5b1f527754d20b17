// Options of commands that run or compare.
#include "cli/command_options.h"
#include "cli/options/groups.h"

namespace vernier {
namespace {

// Of our own rows only thresholds: what else we add looks at tensors, which are not saved.
CommandGroup OnSavedMeasures(CommandGroup group) {
  std::erase_if(group.rows, [](const OptionRow* row) {
    return row->origin == Origin::kOurs && !row->dest.ends_with("_threshold");
  });
  return group;
}

// What `run` has for runners, models and inputs; nothing is compared with another runner or saved.
std::vector<CommandGroup> RunnersAndInputs() {
  std::vector<CommandGroup> groups = {GeneralOptions(), LoggingOptions(),
                                      Without(RunnerOptions(), {"pairs", "reference"}),
                                      ModelOptions()};
  for (const OptionGroup& group : TensorFlowOptions()) groups.push_back(group);
  groups.push_back(OnnxLoadOptions());
  groups.insert(groups.end(), {OnnxRuntimeOptions(), OpenVinoOptions(), TensorRtConfigOptions()});
  for (const OptionGroup& group : TensorRtLoadOptions()) groups.push_back(group);
  groups.push_back(TensorRtRunOptions());
  groups.push_back(Without(DataLoaderOptions(), {"iterations", "data_loader_backend_module"}));
  return groups;
}

// Outputs are compared as run compares them, but for what needs several iterations or draws.
std::vector<CommandGroup> AccuracyGroups() {
  std::vector<CommandGroup> groups;
  for (const OptionGroup& group : CompareOptions()) {
    groups.push_back(
        Without(group, {"sequential_runners", "load_outputs_paths", "compare_outputs", "validate",
                        "fail_fast", "check_average", "compare_func_script",
                        "save_accuracy_results_path", "worst", "noise_floor", "save_heatmaps",
                        "show_heatmaps", "save_error_metrics_plot", "show_error_metrics_plot"}));
  }
  return groups;
}

}  // namespace

OptionTable BlameOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralOptions(),  LoggingOptions(),       Without(RunnerOptions(), {"pairs"}),
      ModelOptions(),    OnnxLoadOptions(),      OnnxRuntimeOptions(),
      OpenVinoOptions(), TensorRtConfigOptions()};
  for (const OptionGroup& group : TensorRtLoadOptions()) groups.emplace_back(group);
  groups.push_back(TensorRtRunOptions());
  groups.push_back(DataLoaderOptions());
  for (const OptionGroup& group : CompareOptions()) {
    groups.push_back(Only(group, {"load_outputs_paths"}));
  }
  groups.push_back(WorkerOptions());
  groups.push_back(BlameOptions());
  groups.push_back(BlameAloneOptions());
  groups.push_back(Only(ReportOptions(), {"reports"}));
  return OptionTable(std::move(groups));
}

OptionTable CompareOptionTable() {
  std::vector<CommandGroup> groups = {GeneralOptions(), ComparedFilesOptions(), LoggingOptions(),
                                      Only(RunnerOptions(), {"pairs"}), PostprocessOptions()};
  for (const OptionGroup& group : CompareOptions()) {
    // What is compared are the operands, and nothing runs.
    groups.push_back(
        Without(group, {"sequential_runners", "load_outputs_paths", "compare_outputs"}));
  }
  groups.push_back(Only(WorkerOptions(), {"timeout", "python"}));
  groups.push_back(ReportOptions());
  return OptionTable(std::move(groups));
}

OptionTable CheckAccuracyOptionTable() {
  std::vector<CommandGroup> groups = {GeneralOptions(), AccuracyFileOptions(), LoggingOptions()};
  for (const OptionGroup& group : CompareOptions()) {
    groups.push_back(
        OnSavedMeasures(Without(group, {"sequential_runners", "load_outputs_paths", "validate"})));
  }
  return OptionTable(std::move(groups));
}

OptionTable CheckExtremesOptionTable() {
  std::vector<CommandGroup> groups = RunnersAndInputs();
  groups.push_back(ExtremesCheckOptions());
  groups.push_back(Only(WorkerOptions(), {"timeout", "python", "backend_dir"}));
  groups.push_back(Only(ReportOptions(), {"save_record"}));
  return OptionTable(std::move(groups));
}

OptionTable CheckConsistencyOptionTable() {
  std::vector<CommandGroup> groups = RunnersAndInputs();
  groups.push_back(ConsistencyCheckOptions());
  for (const OptionGroup& group : CompareOptions()) {
    groups.push_back(Only(group, {"rtol", "atol", "tolerance", "strict", "lenient"}));
  }
  groups.push_back(Only(WorkerOptions(), {"timeout", "python", "backend_dir"}));
  groups.push_back(Only(ReportOptions(), {"save_record"}));
  return OptionTable(std::move(groups));
}

OptionTable CheckLintOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralOptions(),
      LoggingOptions(),
      LintCheckOptions(),
      Without(RunnerOptions(), {"pairs", "reference", "runner"}),
      Without(ModelOptions(), {"onnx_graphsurgeon"}),
      Only(OnnxLoadOptions(), {"external_data_dir", "ignore_external_data", "fp_to_fp16"})};
  groups.insert(groups.end(), {OnnxRuntimeOptions(), OpenVinoOptions(), TensorRtConfigOptions()});
  for (const OptionGroup& group : TensorRtLoadOptions()) groups.push_back(group);
  groups.push_back(TensorRtRunOptions());
  groups.push_back(DataLoaderOptions());
  groups.push_back(Only(WorkerOptions(), {"timeout", "python", "backend_dir"}));
  return OptionTable(std::move(groups));
}

OptionTable ProfileOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralOptions(), LoggingOptions(), Without(RunnerOptions(), {"pairs", "reference"}),
      Without(ModelOptions(), {"input_shapes", "onnx_graphsurgeon"}), ProfileOptionRows()};
  for (const OptionGroup& group : TensorFlowOptions()) groups.push_back(group);
  groups.insert(groups.end(), {OnnxLoadOptions(), OnnxRuntimeOptions(), OpenVinoOptions(),
                               TensorRtConfigOptions()});
  for (const OptionGroup& group : TensorRtLoadOptions()) groups.push_back(group);
  groups.push_back(TensorRtRunOptions());
  groups.push_back(Only(DataLoaderOptions(),
                        {"seed", "val_range", "inputs_from_graph", "like", "load_inputs_paths"}));
  for (CommandGroup& group : AccuracyGroups()) groups.push_back(std::move(group));
  groups.push_back(WorkerOptions());
  groups.push_back(Without(ReportOptions(), {"save_record"}));
  return OptionTable(std::move(groups));
}

}  // namespace vernier
