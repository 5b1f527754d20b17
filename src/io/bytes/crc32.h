// The checksum of ZIP members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/threads/thread_pool.h"

namespace vernier {

/// CRC-32 as ZIP has it (ISO 3309), each thread's share of the bytes at once.
uint32_t Crc32(std::span<const std::byte> bytes, ThreadPool& threads);

}  // namespace vernier
