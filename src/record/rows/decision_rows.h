// The decisions of saved rows, read again without what they were made from.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "vernier/row_record.h"
#include "vernier/status.h"

namespace vernier {

/// How much of what was saved a file has.
struct RowsExtent {
  uint64_t rows = 0;
  uint64_t saved = 0;  ///< as the last row of a run says (`row_count`): of all runs in the file
  bool ended = false;  ///< the last row of the file says it

  bool whole() const { return ended && rows == saved; }
};

/// Calls `take` with each row of a file of JSON lines, or of an .npz file, in their order: index,
/// step, pair and decisions, which of rows without any are empty, the verdicts of outputs, the file
/// it was fed with, and what the run left out. Of JSON lines one row is in memory. kIo when it
/// cannot be read; kMalformed, naming the line, for what is no row, or says what cannot be true at
/// once (sample_faults.h); and what `take` returns.
Result<RowsExtent> ForEachDecisionRow(const std::string& path,
                                      const std::function<Status(const IterationRow& row)>& take);

}  // namespace vernier
