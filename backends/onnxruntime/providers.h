// Execution providers: from the words of --providers to what this library has.
#pragma once

#include <string>
#include <vector>

#include "ort_api.h"
#include "vernier/status.h"

namespace vernier::ort {

/// Appends the asked-for providers in order ("cpu" when none) and returns the list as the peer
/// prints it. A word matches exactly, else by case-insensitive substring either way, as the peer.
Result<std::string> AppendProviders(const Api& api, OrtSessionOptions* options,
                                    const std::vector<std::string>& words);

}  // namespace vernier::ort
