// How two plans differ, for people.
#pragma once

#include <optional>
#include <string>

#include "vernier/status.h"

namespace vernier {

/// One setting of the file of a run: "compare.atol" or "runners[1].model.path".
struct PlanDifference {
  std::string setting;
  std::string first, second;  ///< its values as JSON; empty: the plan does not have it
};

/// The first setting, in the order of the files, that two plans (ToJson()) do not have alike;
/// nullopt where none is. kMalformed for a text that is no JSON object.
Result<std::optional<PlanDifference>> FindPlanDifference(const std::string& first,
                                                         const std::string& second);

}  // namespace vernier
