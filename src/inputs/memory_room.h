// Whether tensors that are about to be made have room in memory.
#pragma once

#include <cstdint>
#include <string>

#include "vernier/status.h"

namespace vernier {

/// kMalformed where `bytes` are more than the memory that is free, swap included: "WHAT of one
/// iteration take ...". Memory is often granted beyond what there is, and whoever fills it is
/// killed. Nothing is looked up for up to 256 MiB, and nothing is refused where the system does not
/// tell. The advice is to give smaller sizes, unless they are `fixed` by the model.
Status CheckMemoryRoom(uint64_t bytes, const std::string& what, bool fixed = false);

}  // namespace vernier
