// Whether tensors that are about to be made fit into memory.
#pragma once

#include <cstdint>
#include <string>

#include "vernier/status.h"

namespace vernier {

/// kMalformed where `bytes` are more than the memory that is free, swap included: "WHAT of one
/// iteration take ...". The system often grants more memory than exists, and kills the process that
/// fills it. Nothing is looked up for up to 256 MiB, and nothing is refused if the system does not
/// report free memory. The advice is to give smaller sizes, unless they are `fixed` by the model.
Status CheckMemoryRoom(uint64_t bytes, const std::string& what, bool fixed = false);

}  // namespace vernier
