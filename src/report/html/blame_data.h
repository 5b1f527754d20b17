// What `blame` found as the page's script takes it.
#pragma once

#include "report/html/page_json.h"
#include "vernier/blame_record.h"

namespace vernier {

/// Adds the field `blame`.
void AddBlame(PageJson& page, const BlameRecord& blame);

}  // namespace vernier
