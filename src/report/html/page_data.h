// What the page's script draws: a record, and our words on it, as JSON.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// One JSON object for a script element, without a '<', so that no name can end the element:
/// `record`, as ToPageJson() packs it, and `texts`, what else the page says of it
/// (html/record.js).
std::string MakePageData(const RunRecord& record);

}  // namespace vernier
