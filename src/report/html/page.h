// A record as one page for a browser: it opens without a network and loads nothing.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// The whole file. Where the program was built without d3, the page has no charts and says so.
std::string FormatPage(const RunRecord& record);

}  // namespace vernier
