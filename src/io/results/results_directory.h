// Saved outputs in the files of a directory.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "io/results/results_reader.h"
#include "vernier/status.h"

namespace vernier {

using ResultsOpener =
    std::function<Result<std::unique_ptr<ResultsReader::Source>>(const std::string& path)>;

/// The iterations of the files of ListSavedFiles(), in the order of their names, joined by runner
/// name; runners of equal name within one file stay apart. At most one file is open, but of shards
/// by stride, whose iterations take turns, all. kMalformed where there is none, and what `open` and
/// InterleaveShards() return.
Result<std::unique_ptr<ResultsReader::Source>> OpenResultsDirectory(const std::string& path,
                                                                    ResultsOpener open);

}  // namespace vernier
