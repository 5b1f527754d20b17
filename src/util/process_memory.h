// How much memory a process holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace vernier {

/// Bytes that lie in memory now, shared ones included. `process` is a number, or "self". Nothing
/// where there is no such process or the system does not tell.
std::optional<uint64_t> ResidentMemoryOf(const std::string& process);

}  // namespace vernier
