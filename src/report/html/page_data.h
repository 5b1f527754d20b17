// What the page's script draws: a record as short JSON.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// One JSON object for a script element: absent fields have their defaults, numbers are rounded,
/// and no '<' is in the text, so that no name can end the element. The fields: html/record.js.
std::string MakePageData(const RunRecord& record);

}  // namespace vernier
