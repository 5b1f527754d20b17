// The devices that a run is shared between (--devices): which plans can, and which devices there
// are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// kInvalidArgument for words that are no devices or name one twice, and, naming the setting,
/// beside what cannot be placed on a device. Which devices exist does not matter.
Status CheckDevices(const RunPlan& plan);

/// Might runners have several workers because of their devices?
bool MayHaveSeveralDevices(const ExecutionPlan& plan);

/// The names of devices 0, 1, ... in what `vernier gpu-probe` prints; empty for other text.
std::vector<std::string> NamesOfDevices(std::string_view probed);

/// Puts the devices that there are, by their names, in the place of `all`. kInvalidArgument for a
/// device that does not exist, with those that do.
Status ChooseDevices(const std::vector<std::string>& names, ExecutionPlan& plan);

/// Queries NVIDIA's driver, in a process of its own, and calls ChooseDevices(). Does nothing where
/// the plan names no devices. kUnavailable without a driver or a device.
Status FindDevices(RunPlan& plan, Logger& logger);

}  // namespace vernier
