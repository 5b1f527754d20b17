// Settings that change how a backend computes (the order of sums, which kernels run), not what.
#pragma once

#include <span>
#include <string_view>

#include "vernier/run_plan.h"

namespace vernier {

struct NeutralSetting {
  std::string_view backend, key, value;
};

/// Of all backends that have some. Of several values for one key, the first changes most.
std::span<const NeutralSetting> NeutralSettings();

/// Variables of a process that do the same for frameworks whose sessions have no such options.
struct NeutralEnvironment {
  std::string_view backend;
  std::string_view variables;  ///< "NAME=value NAME=value"
};

std::span<const NeutralEnvironment> NeutralEnvironments();

/// Sets a session option of the runner, instead of what it was.
void ReplaceSetting(RunnerPlan& runner, std::string_view key, std::string_view value);

}  // namespace vernier
