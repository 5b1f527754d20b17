#include "run/workers/runner_devices.h"

#include <charconv>
#include <cstdlib>
#include <vector>

namespace vernier {
namespace {

constexpr const char* kVisibleDevices = "CUDA_VISIBLE_DEVICES";

// What the list has in place `number`; nullopt where it is shorter.
std::optional<std::string> NthDevice(std::string_view list, int64_t number) {
  for (; number > 0; --number) {
    const size_t comma = list.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    list.remove_prefix(comma + 1);
  }
  return std::string(list.substr(0, list.find(',')));
}

}  // namespace

std::optional<int64_t> DeviceNumberOf(std::string_view word) {
  constexpr std::string_view kCuda = "cuda:";
  if (!word.starts_with(kCuda)) return std::nullopt;
  word.remove_prefix(kCuda.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool whole = error == std::errc() && end == word.data() + word.size() && number >= 0;
  return whole ? std::optional(number) : std::nullopt;
}

std::optional<std::string> DeviceVariable(const ExecutionPlan& plan, size_t worker) {
  if (plan.devices.empty()) return std::nullopt;
  const std::optional<int64_t> number = DeviceNumberOf(plan.devices[worker % plan.devices.size()]);
  if (!number) return std::nullopt;
  const char* const visible = std::getenv(kVisibleDevices);
  const std::string own = std::to_string(*number);
  return std::string(kVisibleDevices) + "=" +
         (visible == nullptr ? own : NthDevice(visible, *number).value_or(own));
}

}  // namespace vernier
