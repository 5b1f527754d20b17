// Outputs of inferences that are not tensors (sequences, maps) and so are not compared.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/wire/tensor_block.h"
#include "run/live/inference_scheduler.h"
#include "run/outcome/run_outcome.h"
#include "vernier/run_plan.h"

namespace vernier {

/// The outputs of a runner that are no tensors.
struct LostOutputs {
  std::string runner;
  std::vector<SkippedOutput> outputs;
};

/// Of all runners; none if tensors were marked: everything requested is there then.
std::vector<LostOutputs> LostOutputsOf(const InferenceScheduler& live);

/// A fault for each such output, and for every pair with its runner, whose other outputs may agree:
/// of a run that was to compare, to validate or to save them. To be called once the pairs are in
/// the record.
void NoteLostOutputs(const RunPlan& plan, std::span<const LostOutputs> lost, RunOutcome& outcome);

}  // namespace vernier
