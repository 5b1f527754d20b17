// How a runner handles a model and its nodes, for the linter.
#pragma once

#include <string>
#include <vector>

#include "check/runners/probe.h"
#include "lint/lint.h"
#include "model/onnx/onnx_model.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

struct LintRunResult {
  std::string runner;         ///< "onnxruntime 1.31.1"
  std::vector<LintRun> runs;  ///< one for each node of the main graph
  bool refused = false;       ///< it takes no model of these opsets, as a finding says
  /// Why some nodes were not run though nothing is wrong with them; empty: all were.
  std::string limits;
};

/// A model whose rules were checked.
struct LintedModel {
  const OnnxModel& model;
  bool faultless = true;     ///< no rule found an exception
  std::vector<bool> failed;  ///< nodes that have one
};

/// Lets plan.runners[index] run the model once on a drawn or loaded feed. Where it cannot, or where
/// the model is not faultless, nodes are run one by one on what the nodes before them made; those
/// that failed, and those after them, are left out. Every failure becomes a finding with the
/// backend's name. Errors: kUnavailable when there is no such framework here, kCancelled, and
/// inputs that cannot be made.
Result<LintRunResult> LintWithRunner(const RunPlan& plan, size_t index, const LintedModel& linted,
                                     const Probe::Shared& shared, Findings& findings);

}  // namespace vernier
