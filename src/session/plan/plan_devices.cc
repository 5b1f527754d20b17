#include "session/plan/plan_devices.h"

#include <algorithm>
#include <set>

#include "run/workers/runner_devices.h"
#include "run/workers/worker_source.h"
#include "util/process/own_program.h"
#include "util/process/program_output.h"

namespace vernier {
namespace {

constexpr double kProbeSeconds = 30;

Status CheckDeviceWords(const std::vector<std::string>& words) {
  std::set<int64_t> known;
  for (const std::string& word : words) {
    if (word == kAllDevices && words.size() == 1) continue;
    const std::optional<int64_t> number = DeviceNumberOf(word);
    if (!number) {
      return InvalidArgument("--devices: expected cuda:0,cuda:1,... or all, got '" + word + "'");
    }
    if (!known.insert(*number).second) {
      return InvalidArgument("--devices: " + word +
                             " is named twice; --workers-per-runner 2 gives" +
                             " every device two workers of each runner");
    }
  }
  return {};
}

Status NoDevices(const std::string& why) {
  return InvalidArgument("--devices cannot go with " + why);
}

std::string WithoutSpaces(std::string_view text) {
  const size_t first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \n") - first + 1));
}

}  // namespace

Status CheckDevices(const RunPlan& plan) {
  const ExecutionPlan& execution = plan.execution;
  if (execution.devices.empty()) return {};
  VERNIER_TRY(CheckDeviceWords(execution.devices));
  if (plan.runners.empty()) return NoDevices("saved outputs alone: nothing is inferred");
  if (execution.in_process) {
    return NoDevices("--in-process: a device is chosen for a process of its own");
  }
  const bool chosen = std::ranges::any_of(execution.environment, [](const std::string& variable) {
    return variable.starts_with("CUDA_VISIBLE_DEVICES=");
  });
  if (chosen) return NoDevices("--env CUDA_VISIBLE_DEVICES: both choose devices; give one of them");
  const auto served = std::ranges::find_if(plan.runners, ServedByCaller);
  if (served == plan.runners.end()) return {};
  return NoDevices("runner '" + served->name +
                   "': it is an object of the calling program, which chooses its device");
}

bool MayHaveSeveralDevices(const ExecutionPlan& plan) {
  return plan.devices.size() > 1 || (!plan.devices.empty() && plan.devices.front() == kAllDevices);
}

std::vector<std::string> NamesOfDevices(std::string_view probed) {
  std::vector<std::string> names;
  while (true) {
    const std::string begin = std::to_string(names.size()) + ": ";
    const size_t end = probed.find("), ");
    if (!probed.starts_with(begin) || end == std::string_view::npos) return names;
    const std::string_view entry = probed.substr(begin.size(), end - begin.size());
    names.emplace_back(entry.substr(0, entry.rfind(" (compute ")));
    probed.remove_prefix(end + std::string_view("), ").size());
  }
}

Status ChooseDevices(const std::vector<std::string>& names, ExecutionPlan& plan) {
  std::vector<std::string> all;
  std::string there;
  for (const std::string& name : names) {
    all.push_back("cuda:" + std::to_string(all.size()));
    there += (there.empty() ? "" : ", ") + all.back() + " (" + name + ")";
  }
  if (plan.devices.size() == 1 && plan.devices.front() == kAllDevices) plan.devices = all;
  for (const std::string& device : plan.devices) {
    if (std::ranges::find(all, device) != all.end()) continue;
    return InvalidArgument("--devices: there is no " + device + "; there is " + there);
  }
  return {};
}

Status FindDevices(RunPlan& plan, Logger& logger) {
  ExecutionPlan& execution = plan.execution;
  if (execution.devices.empty()) return {};
  // A driver may crash or hang.
  VERNIER_ASSIGN_OR_RETURN(const ProgramOutput output,
                           RunProgram({OwnProgram().string(), "gpu-probe"}, kProbeSeconds));
  const std::vector<std::string> names =
      output.exit_code == 0 ? NamesOfDevices(output.out) : std::vector<std::string>();
  if (names.empty()) {
    const std::string said = WithoutSpaces(output.out);
    return Unavailable("--devices: " + (said.empty() ? "NVIDIA's driver cannot be used" : said));
  }
  VERNIER_TRY(ChooseDevices(names, execution));
  for (size_t i = 0; i < execution.devices.size(); ++i) {
    const auto number = static_cast<size_t>(*DeviceNumberOf(execution.devices[i]));
    logger.Info("--devices: " + execution.devices[i] + " is " + names[number]);
  }
  return {};
}

}  // namespace vernier
