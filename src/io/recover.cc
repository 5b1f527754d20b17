#include "io/recover.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "io/directory_listing.h"
#include "io/feed_writer.h"
#include "io/iteration_directory.h"
#include "io/partial_folder.h"
#include "io/results_writer.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;
using SourcePtr = std::unique_ptr<ResultsReader::Source>;

// Iterations in their order, as a run makes them; a runner ends where one cannot be read.
class IterationStream {
 public:
  explicit IterationStream(ResultsReader::Source& source) : source_(source) {
    for (const SavedRun& run : source.runs()) ends_.push_back(run.iterations);
  }

  size_t longest() const {
    return ends_.empty() ? 0 : *std::max_element(ends_.begin(), ends_.end());
  }

  /// Calls `use(run, result)` for each runner that has the iteration.
  template <typename Use>
  Status Read(size_t iteration, RecoveredResults& recovered, const Use& use) {
    for (size_t run = 0; run < ends_.size(); ++run) {
      if (iteration >= ends_[run]) continue;
      Result<IterationResult> result = source_.Read(run, iteration);
      if (result.ok()) {
        VERNIER_TRY(use(run, *std::move(result)));
        ++recovered.runs[run].iterations;
        continue;
      }
      if (recovered.lost == 0) recovered.why_lost = result.status().message();
      recovered.lost += ends_[run] - iteration;
      ends_[run] = iteration;
    }
    return {};
  }

 private:
  ResultsReader::Source& source_;
  std::vector<size_t> ends_;
};

std::vector<std::string> NamesOf(const std::vector<SavedRun>& runs) {
  std::vector<std::string> names;
  for (const SavedRun& run : runs) names.push_back(run.name);
  return names;
}

// Where the folder `partial` is after a writer to `path` was made, which moves PATH.partial aside
// to `stale`. `before`: its real path until then.
std::string PlaceAfter(const std::string& partial, const fs::path& before, const std::string& path,
                       const std::string& stale) {
  std::error_code ignored;
  const std::string own = WithoutTrailingSlashes(path) + kPartialSuffix;
  return !stale.empty() && before == fs::canonical(own, ignored) ? stale : partial;
}

// `append` takes a runner's place and its result, `publish` the number of iterations. `where` is
// told with what goes wrong.
template <typename Append, typename Publish>
Status WriteIterations(ResultsReader::Source& source, const std::string& where,
                       RecoveredResults& recovered, const Append& append, const Publish& publish) {
  IterationStream stream(source);
  Status status;
  for (size_t i = 0; status.ok() && i < stream.longest(); ++i) {
    status = stream.Read(i, recovered, append);
  }
  if (status.ok() && stream.longest() == 0) {
    status = Malformed("no iteration is whole: " + recovered.why_lost);
  }
  if (status.ok()) status = publish(stream.longest());
  return std::move(status).Annotate("the parts are in '" + where + "'");
}

Result<std::string> WriteAll(SourcePtr source, const std::string& partial, const std::string& path,
                             RecoveredResults& recovered) {
  std::error_code ignored;
  const fs::path before = fs::canonical(partial, ignored);
  VERNIER_ASSIGN_OR_RETURN(const auto writer, ResultsWriter::Create(path, NamesOf(source->runs())));
  const std::string where = PlaceAfter(partial, before, path, writer->stale_partial());
  VERNIER_TRY(WriteIterations(
      *source, where, recovered,
      [&](size_t run, const IterationResult& result) { return writer->Append(run, result); },
      [&](size_t iterations) { return writer->Publish(iterations); }));
  return where;
}

Result<std::string> WriteFeeds(SourcePtr source, const std::string& partial,
                               const std::string& path, RecoveredResults& recovered) {
  std::error_code ignored;
  const fs::path before = fs::canonical(partial, ignored);
  VERNIER_ASSIGN_OR_RETURN(const auto writer, FeedWriter::Create(path));
  const std::string where = PlaceAfter(partial, before, path, writer->stale_partial());
  VERNIER_TRY(WriteIterations(
      *source, where, recovered,
      [&](size_t, const IterationResult& result) { return writer->Append(result.outputs); },
      [&](size_t) { return writer->Finish(); }));
  return where;
}

// The iterations whose files are missing in the directory.
Status CompleteDirectory(ResultsReader::Source& source, const std::string& directory,
                         RecoveredResults& recovered) {
  IterationStream stream(source);
  for (size_t i = 0; i < stream.longest(); ++i) {
    std::vector<IterationResult> results;
    std::vector<std::string> names;
    VERNIER_TRY(stream.Read(i, recovered, [&](size_t run, IterationResult result) {
      names.push_back(source.runs()[run].name);
      results.push_back(std::move(result));
      return Status();
    }));
    std::error_code ignored;
    const std::string file = IterationFilePath(directory, i);
    if (results.empty() || fs::exists(file, ignored)) continue;
    VERNIER_ASSIGN_OR_RETURN(const auto writer, ResultsWriter::Create(file, names));
    for (size_t k = 0; k < results.size(); ++k) VERNIER_TRY(writer->Append(k, results[k]));
    VERNIER_TRY(writer->Publish(1));
  }
  return {};
}

}  // namespace

Result<RecoveredResults> RecoverResults(const std::string& partial, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const PartialManifest manifest, ReadPartialManifest(partial));
  VERNIER_ASSIGN_OR_RETURN(SourcePtr source, OpenPartialResults(partial));
  RecoveredResults recovered;
  recovered.inputs = manifest.inputs;
  size_t promised = 0;
  for (const SavedRun& run : source->runs()) {
    recovered.runs.push_back({run.name, 0});
    promised += run.iterations;
  }
  if (promised == 0) return Malformed("'" + partial + "' holds no whole iteration");
  std::string where = partial;
  std::error_code ignored;
  const bool same_directory = manifest.format == ResultsFormat::kJsonDirectory &&
                              IsDirectory(path) && fs::equivalent(path, manifest.target, ignored);
  if (manifest.inputs) {
    VERNIER_ASSIGN_OR_RETURN(where, WriteFeeds(std::move(source), partial, path, recovered));
  } else if (same_directory) {
    VERNIER_TRY(CompleteDirectory(*source, path, recovered));
  } else {
    VERNIER_ASSIGN_OR_RETURN(where, WriteAll(std::move(source), partial, path, recovered));
  }
  if (recovered.lost > 0) {
    recovered.kept_parts = where;
  } else {
    fs::remove_all(where, ignored);
  }
  return recovered;
}

}  // namespace vernier
