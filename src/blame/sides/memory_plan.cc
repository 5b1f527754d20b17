#include "blame/sides/memory_plan.h"

#include <algorithm>
#include <optional>

#include "util/process/process_memory.h"

namespace vernier {
namespace {

constexpr uint64_t kSmallestLimit = uint64_t{64} << 20;
// Batches beyond this save little: pages that no process had before cost as much as a further pass,
// unless the sessions of that pass are large.
constexpr uint64_t kEnough = uint64_t{4} << 30;
constexpr uint64_t kEnoughSessions = 8;
// The reference's, the candidate's with and without what it fuses, and two of islands.
constexpr uint64_t kKeptSessions = 5;

}  // namespace

uint64_t HalfOfFreeMemory() {
  const std::optional<FreeMemory> free = FindFreeMemory();
  return free ? std::max(free->in_memory / 2, kSmallestLimit) : uint64_t{4} << 30;
}

MemoryPlan PlanMemory(const HeldMemory& held, uint64_t limit, size_t feeds, size_t sides) {
  // A session reads an edited copy of the model, which is made from the file's pages.
  const uint64_t one = held.session + held.model;
  const auto with = [&](uint64_t sessions) { return held.idle + held.model + sessions * one; };
  MemoryPlan plan;
  plan.held_bytes = with(1);
  const uint64_t enough = std::max(kEnough, kEnoughSessions * one);
  plan.host_bytes = limit > 0 ? limit : plan.held_bytes + std::min(HalfOfFreeMemory(), enough);
  const auto have_room = [&](uint64_t sessions) { return with(sessions) <= plan.host_bytes / 2; };
  if (sides > 1 && have_room(2)) {
    plan.side_by_side = true;
    plan.held_bytes = with(2);
  }
  if (feeds > 1 && have_room(kKeptSessions)) {
    plan.after_use = AfterUse::kKeepOpen;
    plan.held_bytes = with(kKeptSessions);
  }
  return plan;
}

}  // namespace vernier
