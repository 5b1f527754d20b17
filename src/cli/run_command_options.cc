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
  std::vector<CommandGroup> groups = {GeneralGroup(), LoggingGroup(),
                                      Without(RunnerGroup(), {"pairs", "reference"}), ModelGroup()};
  for (const OptionGroup& group : TensorFlowGroup()) groups.push_back(group);
  groups.push_back(OnnxLoadGroup());
  groups.insert(groups.end(), {OnnxRuntimeGroup(), OpenVinoGroup(), TensorRtConfigGroup()});
  for (const OptionGroup& group : TensorRtLoadGroup()) groups.push_back(group);
  groups.push_back(TensorRtRunGroup());
  groups.push_back(Without(DataLoaderGroup(), {"iterations", "data_loader_backend_module"}));
  return groups;
}

// Outputs are compared as run compares them, but for what needs several iterations or draws.
std::vector<CommandGroup> AccuracyGroups() {
  std::vector<CommandGroup> groups;
  for (const OptionGroup& group : CompareGroup()) {
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
      GeneralGroup(),  LoggingGroup(),       Without(RunnerGroup(), {"pairs"}),
      ModelGroup(),    OnnxLoadGroup(),      OnnxRuntimeGroup(),
      OpenVinoGroup(), TensorRtConfigGroup()};
  for (const OptionGroup& group : TensorRtLoadGroup()) groups.emplace_back(group);
  groups.push_back(TensorRtRunGroup());
  groups.push_back(DataLoaderGroup());
  for (const OptionGroup& group : CompareGroup()) {
    groups.push_back(Only(group, {"load_outputs_paths"}));
  }
  groups.push_back(WorkerGroup());
  groups.push_back(BlameGroup());
  groups.push_back(BlameAloneGroup());
  groups.push_back(Only(ReportGroup(), {"reports"}));
  return OptionTable(std::move(groups));
}

OptionTable CompareOptionTable() {
  std::vector<CommandGroup> groups = {GeneralGroup(), ComparedFilesGroup(), LoggingGroup(),
                                      Only(RunnerGroup(), {"pairs"}), PostprocessGroup()};
  for (const OptionGroup& group : CompareGroup()) {
    // What is compared are the operands, and nothing runs.
    groups.push_back(
        Without(group, {"sequential_runners", "load_outputs_paths", "compare_outputs"}));
  }
  groups.push_back(Only(WorkerGroup(), {"timeout", "python"}));
  groups.push_back(ReportGroup());
  return OptionTable(std::move(groups));
}

OptionTable CheckAccuracyOptionTable() {
  std::vector<CommandGroup> groups = {GeneralGroup(), AccuracyFileGroup(), LoggingGroup()};
  for (const OptionGroup& group : CompareGroup()) {
    groups.push_back(
        OnSavedMeasures(Without(group, {"sequential_runners", "load_outputs_paths", "validate"})));
  }
  return OptionTable(std::move(groups));
}

OptionTable CheckExtremesOptionTable() {
  std::vector<CommandGroup> groups = RunnersAndInputs();
  groups.push_back(ExtremesCheckGroup());
  groups.push_back(Only(WorkerGroup(), {"timeout", "python", "backend_dir"}));
  groups.push_back(Only(ReportGroup(), {"save_record"}));
  return OptionTable(std::move(groups));
}

OptionTable CheckConsistencyOptionTable() {
  std::vector<CommandGroup> groups = RunnersAndInputs();
  groups.push_back(ConsistencyCheckGroup());
  for (const OptionGroup& group : CompareGroup()) {
    groups.push_back(Only(group, {"rtol", "atol", "tolerance", "strict", "lenient"}));
  }
  groups.push_back(Only(WorkerGroup(), {"timeout", "python", "backend_dir"}));
  groups.push_back(Only(ReportGroup(), {"save_record"}));
  return OptionTable(std::move(groups));
}

OptionTable CheckLintOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralGroup(),
      LoggingGroup(),
      LintCheckGroup(),
      Without(RunnerGroup(), {"pairs", "reference", "runner"}),
      Without(ModelGroup(), {"onnx_graphsurgeon"}),
      Only(OnnxLoadGroup(), {"external_data_dir", "ignore_external_data", "fp_to_fp16"})};
  groups.insert(groups.end(), {OnnxRuntimeGroup(), OpenVinoGroup(), TensorRtConfigGroup()});
  for (const OptionGroup& group : TensorRtLoadGroup()) groups.push_back(group);
  groups.push_back(TensorRtRunGroup());
  groups.push_back(DataLoaderGroup());
  groups.push_back(Only(WorkerGroup(), {"timeout", "python", "backend_dir"}));
  return OptionTable(std::move(groups));
}

OptionTable ProfileOptionTable() {
  std::vector<CommandGroup> groups = {
      GeneralGroup(), LoggingGroup(), Without(RunnerGroup(), {"pairs", "reference"}),
      Without(ModelGroup(), {"onnx_graphsurgeon"}), ProfileOptionRows()};
  for (const OptionGroup& group : TensorFlowGroup()) groups.push_back(group);
  groups.insert(groups.end(),
                {OnnxLoadGroup(), OnnxRuntimeGroup(), OpenVinoGroup(), TensorRtConfigGroup()});
  for (const OptionGroup& group : TensorRtLoadGroup()) groups.push_back(group);
  groups.push_back(TensorRtRunGroup());
  groups.push_back(Only(DataLoaderGroup(),
                        {"seed", "val_range", "inputs_from_graph", "like", "load_inputs_paths"}));
  for (CommandGroup& group : AccuracyGroups()) groups.push_back(std::move(group));
  groups.push_back(WorkerGroup());
  groups.push_back(Without(ReportGroup(), {"save_record"}));
  return OptionTable(std::move(groups));
}

}  // namespace vernier
