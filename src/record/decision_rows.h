// The decisions of saved rows, read again without what they were made from.
#pragma once

#include <functional>
#include <string>

#include "vernier/row_record.h"
#include "vernier/status.h"

namespace vernier {

/// Calls `take` with each row of a file of JSON lines, or of an .npz file, in their order: index,
/// step, pair and decisions, which of rows without any are empty, the file it was fed with,
/// and what the run left out. Of JSON lines one row is in
/// memory. kIo when the file cannot be read; kMalformed, naming the line, for what is no row; and
/// what `take` returns.
Status ForEachDecisionRow(const std::string& path,
                          const std::function<Status(const IterationRow& row)>& take);

}  // namespace vernier
