// What `blame` found as the page's script takes it.
#pragma once

#include "record/blame_record.h"
#include "report/html/page_json.h"

namespace vernier {

/// Adds the field `blame`.
void AddBlame(PageJson& page, const BlameRecord& blame);

}  // namespace vernier
