// The feeds of a run whose feeds are sequences.
#pragma once

#include <memory>
#include <span>

#include "run/feeds/feed_stream.h"
#include "run/steps/step_states.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// As FeedStream::Open, which is all without `states`. Else the stream gives the steps of
/// sequences, and they must outlive it; `inputs` are those of the first runner that was opened,
/// `states` has paired it. kInvalidArgument and kMalformed for --initial-state that cannot be read
/// or holds other tensors.
Result<std::unique_ptr<FeedStream>> OpenStepFeeds(const RunPlan& plan,
                                                  std::span<const TensorInfo> inputs,
                                                  const PythonFeeds& python, StepStates* states,
                                                  Logger& logger);

}  // namespace vernier
