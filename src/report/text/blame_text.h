// What blame found, as tables for a terminal.
#pragma once

#include <string>

#include "vernier/blame_record.h"

namespace vernier {

/// Culprits first, then the layers with the largest errors, then what else there is to know. With
/// `all_layers` every layer, in topological order.
std::string FormatBlame(const BlameRecord& record, bool all_layers);

}  // namespace vernier
