// The faults of an ONNX model, found without a framework.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lint/findings.h"
#include "model/onnx/onnx_model.h"
#include "model/shapes/onnx_shapes.h"
#include "vernier/status.h"

namespace vernier {

/// What is known about a model besides its file.
struct LintContext {
  std::vector<InputDims> inputs;  ///< sizes of inputs, instead of those that the model declares
  std::string external_data_dir;  ///< empty: the model's folder
};

/// kInvalidArgument, with the nearest name or all of them, for one that no rule has.
Status CheckRuleNames(std::span<const std::string> names);

/// Every rule but those of runners. External weights are read, others looked at where they lie.
void LintModel(const OnnxModel& model, const LintContext& context, Findings& findings);

/// For each node of the main graph: does an output of the model depend on it?
std::vector<bool> NodesOutputsDependOn(const OnnxModel& model);

/// The result of a runner for a node.
enum class LintRun : uint8_t {
  kNotRun,  ///< no runner was used, its inputs were not available, or nothing needed it
  kPassed,
  kFailed
};

/// Sums up; the runners' names are left to the caller. `runs` has an entry for each node of the
/// main graph, or none where nothing was run.
LintRecord MakeLintRecord(const OnnxModel& model, Findings findings,
                          const std::vector<LintRun>& runs);

/// Of a file that cannot be read.
LintRecord UnreadableRecord(const Status& why);

}  // namespace vernier
