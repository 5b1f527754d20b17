// Names in per-output options against the outputs that a run really has.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// An error that names the flag, the name and the nearest one, when a tolerance, statistic,
/// threshold or post-processing entry is for an output that no side has: it would have no effect.
/// kInvalidArgument for an option of ours; kNotFound for one of Polygraphy's, which fails as a
/// mismatch does. `wholes` are sequences, maps and optionals, whose parts are known once there are
/// some.
Status CheckOutputNames(const RunPlan& plan, const std::vector<std::string>& outputs,
                        std::span<const std::string> wholes = {});

}  // namespace vernier
