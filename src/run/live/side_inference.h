// Inferences of a live runner besides those of the run, neither reported nor counted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/live/inference_scheduler.h"
#include "run/workers/model_source.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// One inference of which nothing is kept, whatever comes of it. Whether none of its outputs is
/// empty. kUnavailable where the worker is gone; kCancelled.
Result<bool> TryInference(InferenceScheduler& live, size_t index, const TensorMap& feed);

/// Another inference for the iteration, with other inputs. A failure removes the runner from the
/// run, since its process may have died.
Result<TensorMap> InferAside(InferenceScheduler& live, size_t index, const TensorMap& feed,
                             int64_t iteration);

/// The same with another model in place of the runner's own, opened for this inference. Whatever
/// comes of it, the runner stays.
Result<TensorMap> InferAsideWith(InferenceScheduler& live, size_t index, const ModelSource& model,
                                 const TensorMap& feed, int64_t iteration);

}  // namespace vernier
