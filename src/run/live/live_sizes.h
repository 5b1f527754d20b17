// Chooses sizes for the first feed of a run if the user gave none.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "run/live/inference_scheduler.h"
#include "run/live/size_search.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class SavedProgress;

struct SizeSettling {
  InferenceScheduler& live;
  Logger& logger;
  int64_t iteration = 0;  ///< that a first inference is for
  /// As in SizeTrial.
  std::function<Result<TensorMap>(const RunPlan& sized)> draw;
  SavedProgress* progress = nullptr;  ///< which may have that inference already; null: none
};

/// Where the plan guesses sizes, has the first inference of each runner made beforehand; where one
/// fails, or makes an empty output, looks for sizes that all of them take, and has the runners
/// changed to those; that is logged, and a note of the runs. Nothing is found where there is no
/// need, nor where only objects of the calling program fail (ServedByCaller): those are called
/// once. Engines are built for certain sizes: runners of TensorRT are not asked.
Result<FoundSizes> SettleSizes(const RunPlan& plan, std::span<const TensorInfo> inputs,
                               const SizeSettling& settling);

}  // namespace vernier
