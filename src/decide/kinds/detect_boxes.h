// The detections of one runner in an output of boxes.
#pragma once

#include <vector>

#include "decide/figures/average_precision.h"
#include "vernier/decision_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Of one sample, surest first. `category` is the class as the network counts, from 0.
struct SampleDetections {
  std::vector<DetectedBox> boxes;  ///< none where has_nan
  /// Among the scores, or the numbers of a box that is sure enough: nothing was decided.
  bool has_nan = false;
};

/// What a decision of DecisionKind::kBoxes detects in each sample: boxes from its least score on,
/// after non-maximum suppression, in the units of the output. kInvalidArgument where it does not
/// fit the output, and for more boxes in a sample than can be suppressed in seconds.
Result<std::vector<SampleDetections>> DetectBoxes(const DecisionPlan& decision,
                                                  const Tensor& output);

}  // namespace vernier
