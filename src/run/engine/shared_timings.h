// Kernel timings that the builds of one command share: TensorRT times a kernel once.
#pragma once

#include <optional>
#include <span>

#include "util/files/scratch_folder.h"
#include "vernier/run_plan.h"

namespace vernier {

/// Lets the engines that TensorRT's plug-in builds for these runners begin with the timings of
/// those before: kept in each worker, and between workers in a file of the folder that is returned,
/// which has to outlive the builds; or in that of --timing-cache-dir. nullopt where no runner needs
/// the folder, or where none can be made: each worker then keeps what it measured. Runners that
/// record or replay tactics are left alone, and so are those that share timings already.
std::optional<ScratchFolder> ShareTimings(std::span<RunnerPlan> runners);

}  // namespace vernier
