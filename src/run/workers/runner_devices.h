// Devices that the workers of a runner are given, one each (--devices).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vernier/runner_plan.h"

namespace vernier {

inline constexpr std::string_view kAllDevices = "all";

/// 3 of "cuda:3"; nullopt for other words.
std::optional<int64_t> DeviceNumberOf(std::string_view word);

/// "CUDA_VISIBLE_DEVICES=3": lets worker number `worker` (from 0) of a runner see its device alone,
/// as the first one. Workers take the devices in turn. Where this process sees some devices only,
/// by that variable, numbers are of those. Nullopt where the plan names no devices; `all` must have
/// been replaced.
std::optional<std::string> DeviceVariable(const ExecutionPlan& plan, size_t worker);

}  // namespace vernier
