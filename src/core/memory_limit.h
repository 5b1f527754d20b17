// How much memory there is.
#pragma once

#include <cstdint>
#include <string>

namespace vernier {

/// Bytes that this process could use if nothing else ran: the machine's memory, or its control
/// group's limit (cgroup v1 and v2) where that is less, and swap. The largest number where the
/// system does not say. Asked once.
///
/// The kernel of a plain machine refuses an allocation beyond that by itself. In a container, or
/// where overcommitting was allowed, it would be granted, and the process killed while it is
/// filled.
uint64_t MemoryLimit();

/// The limit of the control groups that `membership`, a text as /proc/self/cgroup has it, names
/// under `root` (/sys/fs/cgroup), or of one above them. The largest number where there is none.
uint64_t ControlGroupLimit(const std::string& membership, const std::string& root);

}  // namespace vernier
