// How much memory all processes of a search may hold, and how much of it is always in use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "blame/sides/probe_side.h"

namespace vernier {

/// In bytes; 0 if unknown.
struct HeldMemory {
  uint64_t idle = 0;     ///< this process and the workers, without an open session
  uint64_t session = 0;  ///< the most that a session of the whole model took beyond that
  uint64_t model = 0;    ///< the largest of the models' files, without external weights
};

struct MemoryPlan {
  uint64_t host_bytes = 0;  ///< the limit for all processes
  uint64_t held_bytes = 0;  ///< of it, what is not for tensors
  AfterUse after_use = AfterUse::kClose;
  bool side_by_side = false;  ///< sessions of both sides may be open at a time
};

/// Of what the machine has, in bytes.
uint64_t HalfOfFreeMemory();

/// `limit` is --max-host-mem; 0: what is held, and half of what the machine has free, but no more
/// than 4 GiB, or than eight sessions take where that is more. `sides` is
/// how many may open sessions at a time, one or two. Two do so, and sessions stay open for further
/// feeds, where that leaves half of the limit to tensors.
MemoryPlan PlanMemory(const HeldMemory& held, uint64_t limit, size_t feeds, size_t sides);

}  // namespace vernier
