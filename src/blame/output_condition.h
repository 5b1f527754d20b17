// Whether rounding explains what the model's outputs differ by.
#pragma once

#include <atomic>
#include <string>

#include "blame/blame_graph.h"
#include "blame/error_easing.h"
#include "blame/plain_run.h"
#include "blame/probe_side.h"
#include "vernier/blame_record.h"

namespace vernier {

/// The objects outlive the call.
struct ConditionScene {
  const BlameGraph* graph = nullptr;
  ProbeSide* candidate = nullptr;
  PlainRun* plain = nullptr;  ///< that has run
  const AmplifiedTensors* amplified = nullptr;
  const std::atomic<int>* interrupted = nullptr;
};

/// Where outputs are over their bars though no layer makes an error, fills `record.condition`: from
/// the layers, or from how far the candidate's outputs move when each input moves by one rounding
/// step. Errors of running; kCancelled.
Status ExplainOutputs(const ConditionScene& scene, BlameRecord& record);

/// A sentence where `record.condition` explains what the outputs differ by; else empty.
std::string DescribeCondition(const BlameGraph& graph, const BlameRecord& record);

}  // namespace vernier
