// How runners handle inputs at the limits of their types.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "check/runners/probe.h"
#include "inputs/extreme_values.h"
#include "vernier/extremes_record.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Called with every answer as it is there.
using ExtremeObserver = std::function<void(const ExtremeAnswer& answer)>;

/// Draws or loads one feed, puts each set into its float inputs, and runs every runner of the plan
/// on it. A runner that cannot be opened has its `failure` set, one that fails with a set an answer
/// that says so; the others go on. No answers: the model has no float inputs. Errors: what is wrong
/// with the model, the inputs or the command line, and kCancelled.
Result<ExtremesRecord> CheckExtremes(const RunPlan& plan, std::span<const ExtremeSetRow> sets,
                                     const Probe::Shared& shared, const ExtremeObserver& observer);

}  // namespace vernier
