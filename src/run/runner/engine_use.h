// Runners that build an engine when their model is opened: BackendTrait::kBuildsEngines.
#pragma once

#include <string_view>

#include "backend/wire/messages.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Do runners of this backend, as far as that is known before it is loaded?
bool BuildsEngines(std::string_view backend);

/// Does this runner? An engine that is there already is only opened.
bool BuildsEngine(const RunnerPlan& runner);

/// kInvalidArgument where several processes would each build one, which need not compute the same.
/// For a plug-in that says so once it has been loaded.
Status CheckOneEngine(const RunPlan& plan, const RunnerPlan& runner);

}  // namespace vernier
