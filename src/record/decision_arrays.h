// Rows that were saved as arrays, as far as decisions need them. Only for this folder.
#pragma once

#include <functional>
#include <string>

#include "record/record_json.h"
#include "vernier/status.h"

namespace vernier {

/// Calls `take` with each row of an .npz file, as the object that its JSON line would hold: index,
/// step, pair, and the columns of its decisions. The arrays are in memory. kMalformed for a file
/// that is damaged or whose arrays do not belong together; and what `take` returns.
Status ForEachArrayRow(const std::string& path,
                       const std::function<Status(const RecordJson& row)>& take);

}  // namespace vernier
