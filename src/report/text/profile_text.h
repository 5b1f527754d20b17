// A profile as a table for the console.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// The table, how many of the longest layers were asked for, and notes. Empty without a profile.
std::string FormatProfile(const RunRecord& given, size_t layers);

}  // namespace vernier
