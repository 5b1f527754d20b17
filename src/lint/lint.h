// The faults of an ONNX model by itself, found without a framework.
#pragma once

#include <string>
#include <vector>

#include "lint/findings.h"
#include "model/onnx/onnx_model.h"
#include "model/shapes/onnx_shapes.h"
#include "vernier/status.h"

namespace vernier {

struct LintOptions {
  std::vector<std::string> skip;  ///< names of rules that leave no finding
  std::vector<InputDims> inputs;  ///< sizes of inputs, instead of those that the model declares
  std::string external_data_dir;  ///< empty: the model's folder
};

/// kInvalidArgument for a name in `skip` that no rule has.
Status CheckRuleNames(const LintOptions& options);

/// Every rule but those of runners. External weights are read, others looked at where they lie.
void LintModel(const OnnxModel& model, const LintOptions& options, Findings& findings);

/// For each node of the main graph: does an output of the model depend on it?
std::vector<bool> NodesOutputsDependOn(const OnnxModel& model);

/// What a runner made of a node.
enum class LintRun : uint8_t {
  kNotRun,  ///< no runner was asked, what it reads could not be had, or nothing needed it
  kPassed,
  kFailed
};

/// A report in Polygraphy's schema, with additions.
struct LintReport {
  std::vector<LintFinding> findings;
  std::vector<std::string> passing, failing;  ///< nodes, in the file's order
  std::vector<std::string> not_run;           ///< nodes that no runner computed
  std::vector<std::string> runners;           ///< who ran them: "onnxruntime 1.31.1"

  size_t Count(LintLevel level) const;
  bool valid() const { return Count(LintLevel::kException) == 0; }
};

/// Sums up. Failing: nodes with an exception. Passing: the others, without those that no output
/// depends on and those that wait for a failing one; where something was run and there is an
/// exception, those that ran. `runs` has an entry for each node of the main
/// graph, or none where nothing was run.
LintReport MakeLintReport(const OnnxModel& model, Findings findings,
                          const std::vector<LintRun>& runs);

/// A report of a file that cannot be read.
LintReport UnreadableReport(const Status& why);

/// {"summary": {"passing", "failing"}, "lint_entries": [...]} as Polygraphy writes it; each entry
/// has its "rule" besides, and "vernier" says what was run.
std::string ToJson(const LintReport& report);

}  // namespace vernier
