// What saved results were computed from, besides their feeds: models, seed, settings, steps.
#pragma once

#include <cstdint>

#include "io/journal/journal.h"
#include "io/results/partial_folder.h"
#include "vernier/run_plan.h"

namespace vernier {

/// The seed is what the run draws its inputs from; nullopt where they are loaded, or made by a
/// script. Reads the models.
PartialOrigin OriginOf(const RunPlan& plan);

/// Only the settings of the runners and their environment, without paths of models.
RunPlan PlanOfSettings(const RunPlan& plan);
/// They, as what results are made with.
JournalSource SettingsOf(const RunPlan& plan);

/// What makes steps of the inputs, as far as these do not show it: 0 without steps. The hash of
/// what a result was made from is that of its feed, and this (xor).
uint64_t HashOfSteps(const StepPlan& plan);

}  // namespace vernier
