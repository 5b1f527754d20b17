#include "inference/activations.h"

#include <algorithm>
#include <vector>

#include "blame/sides/run_for_tensors.h"
#include "model/onnx/onnx_order.h"
#include "report/models/model_text.h"
#include "run/saved/saved_runs.h"

namespace vernier {
namespace {

// In the order in which they are made, inputs first.
Result<std::vector<std::string>> AllTensors(const OnnxModel& model) {
  std::vector<std::string> names;
  for (const TensorInfo& input : model.RequiredInputs()) names.push_back(input.name);
  VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> order, TopologicalOrder(model));
  for (const uint32_t index : order) {
    for (const std::string_view name : model.graph().Outputs(model.graph().nodes[index])) {
      if (!name.empty()) names.emplace_back(name);
    }
  }
  return names;
}

std::string Lines(const std::vector<std::string>& names, const TensorMap& values,
                  const std::string& source) {
  std::string text;
  for (const std::string& name : names) {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const NamedTensor& value) { return value.name == name; });
    if (found != values.end()) text += FormatActivation(source, *found) + "\n";
  }
  return text;
}

Result<std::string> FromSaved(const RunPlan& plan, const std::vector<std::string>& names,
                              Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(SavedRuns loaded, SavedRuns::Open(plan, LoadRule::kAnything));
  std::string text;
  for (size_t run = 0; run < loaded.runs().size(); ++run) {
    const SavedRuns::Run& saved = loaded.runs()[run];
    for (int64_t i = 0; i < saved.iterations; ++i) {
      VERNIER_ASSIGN_OR_RETURN(const IterationResult result, loaded.Read(run, i, log));
      const std::string which =
          saved.iterations > 1 ? ", iteration " + std::to_string(i) : std::string();
      text += Lines(names, result.outputs, saved.name + which);
    }
  }
  return text;
}

}  // namespace

Result<std::string> DescribeActivations(const RunPlan& plan, const OnnxModel& model,
                                        const std::string& layer,
                                        const std::atomic<int>& interrupted, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                           layer.empty() ? AllTensors(model) : TensorsOfLayer(model, layer));
  VERNIER_ASSIGN_OR_RETURN(std::string text, FromSaved(plan, names, log));
  for (const RunnerPlan& runner : plan.runners) {
    RunPlan alone = plan;
    alone.runners = {runner};
    VERNIER_ASSIGN_OR_RETURN(const TensorMap values, RunForTensors(alone, names, interrupted, log));
    text += Lines(names, values, runner.name);
  }
  if (text.empty()) {
    return NotFound(
        "these tensors have no values: the saved outputs contain none of them; save with"
        " --onnx-outputs mark all, or name a runner, such as --onnxrt");
  }
  return text;
}

}  // namespace vernier
