#include "blame/memory_plan.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace vernier {
namespace {

constexpr uint64_t kSmallestLimit = uint64_t{64} << 20;
// The reference's, the candidate's with and without what it fuses, and two of islands.
constexpr uint64_t kKeptSessions = 5;

uint64_t HalfOfFreeMemory() {
  std::ifstream info("/proc/meminfo");
  std::string key, unit;
  for (uint64_t kilobytes = 0; info >> key >> kilobytes >> unit;) {
    if (key == "MemAvailable:") return std::max(kilobytes * 1024 / 2, kSmallestLimit);
  }
  return uint64_t{4} << 30;
}

}  // namespace

MemoryPlan PlanMemory(const HeldMemory& held, uint64_t wanted, size_t feeds) {
  // A session reads an edited copy of the model, which is made from the file's pages.
  const uint64_t one = held.session + held.model;
  MemoryPlan plan;
  plan.held_bytes = held.idle + held.model + one;
  plan.host_bytes = wanted > 0 ? wanted : plan.held_bytes + HalfOfFreeMemory();
  const uint64_t with_all = held.idle + held.model + kKeptSessions * one;
  if (feeds > 1 && with_all <= plan.host_bytes / 2) {
    plan.after_use = AfterUse::kKeepOpen;
    plan.held_bytes = with_all;
  }
  return plan;
}

}  // namespace vernier
