// How much memory a process holds, and how much is left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace vernier {

/// Bytes that lie in memory now, shared ones included. `process` is a number, or "self". Nothing
/// where there is no such process or the system does not say.
std::optional<uint64_t> ResidentMemoryOf(const std::string& process);

/// Bytes of the machine that are available now: without swap, and with it. Nothing where the system
/// does not say.
struct FreeMemory {
  uint64_t in_memory = 0;
  uint64_t with_swap = 0;
};
std::optional<FreeMemory> FindFreeMemory();

}  // namespace vernier
