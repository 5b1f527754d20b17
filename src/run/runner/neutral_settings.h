// Settings that change how a backend computes (the order of sums, which kernels run), not what.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/wire/messages.h"
#include "vernier/run_plan.h"

namespace vernier {

/// Session options that the backend declares, as key and value: of several values for one key, the
/// first changes most. Empty where it declares none.
std::vector<std::pair<std::string, std::string>> NeutralSettings(const BackendInfo& backend);

/// Sets a session option of the runner, instead of what it was.
void ReplaceSetting(RunnerPlan& runner, std::string_view key, std::string_view value);

}  // namespace vernier
