// Execution providers: from the words of --providers to what this library has.
#pragma once

#include <string>
#include <vector>

#include "ort_api.h"
#include "vernier/status.h"

namespace vernier::ort {

/// Appends the asked-for providers in order ("cpu" when none) and returns their whole names. A word
/// matches exactly, else by case-insensitive substring either way, as Polygraphy. kUnavailable: one
/// that cannot be loaded, with the library that is missing where that is the reason.
Result<std::vector<std::string>> AppendProviders(const Api& api, OrtSessionOptions* options,
                                                 const std::vector<std::string>& words);

/// As Polygraphy prints a list of providers.
std::string Listed(const std::vector<std::string>& names);

}  // namespace vernier::ort
