// TensorRT's optimization profiles, with the sizes that feeds will have.
#pragma once

#include <span>

#include "backend/wire/messages.h"
#include "vernier/dim_size.h"
#include "vernier/run_plan.h"
#include "vernier/tensor.h"

namespace vernier {

/// Adds to `options` profiles for those of `inputs` that a profile of the runner leaves out, where
/// sizes of their dimensions are known: from the shapes of its other inputs, from runner.dims, and
/// from `found`. Where there is no profile at all, one of what is known. No change for a runner of
/// another backend.
void CompleteProfiles(const RunnerPlan& runner, std::span<const TensorInfo> inputs,
                      std::span<const DimSize> found, OptionList& options);

}  // namespace vernier
