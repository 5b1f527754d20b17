// The candidate's model with some tensors exposed, against what it computes without.
#pragma once

#include <string>
#include <vector>

#include "blame/probe/probe_side.h"
#include "blame/probe/unprobed_outputs.h"

namespace vernier {

/// What is run again and again; the objects outlive it.
struct ExposedScene {
  ProbeSide* candidate = nullptr;
  UnprobedOutputs* plain = nullptr;
  const TensorMap* feed = nullptr;
  size_t iteration = 0;              ///< which of `plain` the feed is
  std::vector<std::string> outputs;  ///< the model's own
};

/// The error of the model's outputs with `probes` exposed, as a ProbeTrial has it. kCancelled.
Result<double> RunExposed(const ExposedScene& scene, const std::vector<std::string>& probes);

}  // namespace vernier
