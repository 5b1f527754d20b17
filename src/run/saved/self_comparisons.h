// Sides that were loaded from one file, and outputs whose agreement shows nothing.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "run/outcome/run_outcome.h"
#include "run/saved/saved_streams.h"
#include "vernier/run_record.h"

namespace vernier {

/// Marks the pairs of `outcome`, places among all sides, that are a file compared with itself,
/// which agrees whatever it holds but for what equals nothing: a note for each, with --strict a
/// mismatch.
void NoteSelfComparisons(const SavedStreams& loaded,
                         const std::vector<std::pair<size_t, size_t>>& pairs, bool strict,
                         RunOutcome& outcome);

/// The same where they are known: places in the record's pairs, and the file's path.
void NoteSelfComparisons(const std::vector<std::pair<size_t, std::string>>& found, bool strict,
                         RunOutcome& outcome);

/// --strict: marks the pairs that show nothing in part or as a whole, which are a mismatch.
void RejectVacuous(RunOutcome& outcome);

}  // namespace vernier
