// A culprit as a folder to pass on: its part of the model with real inputs and the outputs that the
// reference expects, which reproduces the failure.
#pragma once

#include <span>
#include <string>

#include "blame/graph/blame_graph.h"
#include "blame/sides/reference_probe.h"
#include "vernier/blame_record.h"
#include "vernier/run_plan.h"

namespace vernier {

struct BundleRequest {
  std::string folder;
  /// What runs the candidate, as words of a command line: "--openvino --openvino-precision bf16".
  std::string runner_words;
  const ModelPlan* model = nullptr;  ///< the candidate's
};

/// Writes model.onnx, test_data_set_0, repro.sh and found/blame.json. The nodes are those of the
/// first culprit, its group or the region of a fusion included. An older bundle in the folder is
/// replaced as a whole once all of the new one is written. kInvalidArgument when nothing is to
/// blame, and as BundleFolder::Create; kIo; kBackend when the reference does not expose what is
/// needed. On error the folder is as it was.
Status WriteBundle(const BundleRequest& request, const BlameGraph& graph,
                   const ReferenceSource& reference, std::span<const TensorMap> feeds,
                   const BlameRecord& record);

}  // namespace vernier
