// What the `data` commands have in common: files that are read and one that is written.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/results/feed_writer.h"
#include "io/results/results_format.h"
#include "io/results/results_writer.h"
#include "io/results/saved_tensors.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

/// kInvalidArgument when `output` is one of the files that are read, or one lies in the other.
/// Polygraphy, which reads everything before it writes, allows it, and so do we under its name.
Status CheckNotRead(const std::string& output, std::span<const std::string> paths);

/// The format for -o of `data concat` and `data merge`: always one file, JSON unless the extension
/// says otherwise.
ResultsFormat SingleFileFormat(const std::string& path);

/// A file that is read, and what to call it in messages.
struct DataSource {
  std::string path;
  SavedTensors tensors;
};

/// kInvalidArgument where `path`, of -o, has an extension that is none of `known` (".npz"), in
/// whatever case. For commands that Polygraphy does not have: it would write JSON.
Status CheckExtension(const std::string& path, std::initializer_list<std::string_view> known);

/// Opens all paths, in order; test data that hold both are read as inputs.
Result<std::vector<DataSource>> OpenDataSources(std::span<const std::string> paths);

/// Ends the writing of outputs: publishes them, or, where reading or writing failed, removes the
/// parts, since the sources are still there and the disk may be full.
Status PublishOrDiscard(const Status& appended, size_t max_iterations, ResultsWriter& writer);

/// The same for inputs.
Status PublishOrDiscard(const Status& appended, FeedWriter& writer);

/// Where the outputs of `runs` are written to a format that does not keep how they were made,
/// says so, and returns whether there was anything to say. `keeps`: it does.
bool NoteLostOrigin(const ResultsReader& source, std::span<const size_t> runs, bool keeps,
                    const std::string& output, Logger& log);

/// Does a format keep what iterations were made from, and how steps were fed?
bool KeepsOrigin(ResultsFormat format);

/// The runner's name; for runs without one, Polygraphy's default.
std::string RunnerNameOf(const SavedRun& run);

/// The short names of the runners as summaries have them ("openvino"), which options take beside
/// RunnerNameOf(); where several would be called so, their names.
std::vector<std::string> ShortRunnerNames(const std::vector<SavedRun>& runs);

/// "['x', 'y']": the names of an iteration's tensors as Python prints them.
std::string FormatTensorNames(const TensorMap& tensors);

}  // namespace vernier
