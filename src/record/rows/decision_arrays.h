// Rows that were saved as arrays, as far as decisions need them. Only for this folder.
#pragma once

#include <functional>
#include <string>

#include "record/rows/decision_rows.h"
#include "record/schema/record_json.h"
#include "vernier/row_record.h"
#include "vernier/status.h"

namespace vernier {

/// Goes through the rows of an .npz file: calls `take_plain` with those of the usual form
/// (decision_table.h), and `take` with each other one, as the object that its JSON line would hold:
/// index, step, pair, and the columns of its decisions. The arrays are in memory. kMalformed for a
/// file that is damaged or whose arrays do not belong together; and what the two return.
Result<RowsExtent> ForEachArrayRow(const std::string& path,
                                   const std::function<Status(const IterationRow& row)>& take_plain,
                                   const std::function<Status(const RecordJson& row)>& take);

}  // namespace vernier
