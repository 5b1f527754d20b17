#include "io/recovery/recover.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "io/bytes/directory_listing.h"
#include "io/results/feed_writer.h"
#include "io/results/iteration_directory.h"
#include "io/results/partial_folder.h"
#include "io/results/results_writer.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;
using ResultsSource = std::unique_ptr<ResultsReader::Source>;

// Iterations in their order, as a run makes them, without those that cannot be read.
class IterationStream {
 public:
  IterationStream(ResultsReader::Source& source, RecoveredResults& recovered)
      : source_(source), recovered_(recovered) {
    for (size_t run = 0; run < source.runs().size(); ++run) ends_.push_back(FindEnd(run));
  }

  size_t longest() const {
    return ends_.empty() ? 0 : *std::max_element(ends_.begin(), ends_.end());
  }

  /// Whether Read() left out an iteration behind which there are others.
  bool damaged() const { return damaged_; }

  /// Calls `use(run, result)` for each runner that has the iteration, or for none of them.
  template <typename Use>
  Status Read(size_t iteration, const Use& use) {
    std::vector<std::pair<size_t, IterationResult>> whole;
    bool damaged = false;
    for (size_t run = 0; run < ends_.size(); ++run) {
      if (iteration >= ends_[run]) continue;
      Result<IterationResult> result = source_.Read(run, iteration);
      if (result.ok()) {
        whole.emplace_back(run, *std::move(result));
      } else {
        LeaveOut(run, iteration, result.status());
        damaged = true;
      }
    }
    damaged_ |= damaged;
    for (auto& [run, result] : whole) {
      if (damaged) {
        LeaveOut(run, iteration, {});
        continue;
      }
      VERNIER_TRY(use(run, std::move(result)));
      ++recovered_.runs[run].iterations;
    }
    return {};
  }

 private:
  // What is damaged at the end, as after a power cut, shifts nothing: there the runner ends.
  size_t FindEnd(size_t run) {
    size_t end = source_.runs()[run].iterations;
    for (; end > 0; --end) {
      const Status status = source_.Read(run, end - 1).status();
      if (status.ok()) break;
      LeaveOut(run, end - 1, status);
    }
    return end;
  }

  void LeaveOut(size_t run, size_t iteration, const Status& why) {
    recovered_.lost[run].push_back(iteration);
    if (!why.ok() && recovered_.why_lost.empty()) recovered_.why_lost = why.message();
  }

  ResultsReader::Source& source_;
  RecoveredResults& recovered_;
  std::vector<size_t> ends_;
  bool damaged_ = false;
};

std::vector<std::string> NamesOf(const std::vector<SavedRun>& runs) {
  std::vector<std::string> names;
  for (const SavedRun& run : runs) names.push_back(run.name);
  return names;
}

// What is being made must not take the name of what it is made of: a recovery that was killed is
// begun again by the same words.
constexpr auto kBeside = PartialFolder::Earlier::kUntouched;

// `append` takes a runner's place, the iteration and its result, `publish` the number of
// iterations, and discards what it cannot. `partial` gets what goes wrong; a copy that did
// not get through is not left beside it.
template <typename Writer, typename Append, typename Publish>
Status WriteIterations(ResultsReader::Source& source, const std::string& partial,
                       RecoveredResults& recovered, Writer& writer, const Append& append,
                       const Publish& publish) {
  IterationStream stream(source, recovered);
  Status status;
  for (size_t i = 0; status.ok() && i < stream.longest(); ++i) {
    status = stream.Read(
        i, [&](size_t run, const IterationResult& result) { return append(run, i, result); });
  }
  if (status.ok() && stream.longest() == 0) {
    status = Malformed("no iteration is whole: " + recovered.why_lost);
  }
  recovered.moved_up = stream.damaged();
  if (status.ok()) {
    status = publish(stream.longest());
  } else {
    writer.Discard();
  }
  return std::move(status).Annotate("the parts are in '" + partial + "'");
}

Status WriteAll(ResultsSource source, const std::string& partial, const std::string& path,
                RecoveredResults& recovered) {
  VERNIER_ASSIGN_OR_RETURN(
      const auto writer,
      ResultsWriter::Create(path, NamesOf(source->runs()), ResultsFormatFor(path), kBeside));
  for (size_t run = 0; run < source->runs().size(); ++run) {
    VERNIER_TRY(writer->NoteSteps(run, source->runs()[run].steps));
  }
  return WriteIterations(
      *source, partial, recovered, *writer,
      [&](size_t run, size_t iteration, const IterationResult& result) {
        return writer->Append(run, result, source->FeedOf(run, iteration));
      },
      [&](size_t iterations) { return writer->PublishOrDiscard(iterations); });
}

Status WriteFeeds(ResultsSource source, const std::string& partial, const std::string& path,
                  RecoveredResults& recovered) {
  VERNIER_ASSIGN_OR_RETURN(const auto writer,
                           FeedWriter::Create(path, ResultsFormatFor(path), 0, kBeside));
  return WriteIterations(
      *source, partial, recovered, *writer,
      [&](size_t, size_t, const IterationResult& result) { return writer->Append(result.outputs); },
      [&](size_t) { return writer->FinishOrDiscard(); });
}

// The iterations whose files are missing in the directory.
Status CompleteDirectory(ResultsReader::Source& source, const std::string& directory,
                         RecoveredResults& recovered) {
  IterationStream stream(source, recovered);
  recovered.keeps_numbers = true;
  for (size_t i = 0; i < stream.longest(); ++i) {
    std::vector<IterationResult> results;
    std::vector<std::string> names;
    VERNIER_TRY(stream.Read(i, [&](size_t run, IterationResult result) {
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

size_t RecoveredResults::lost_count() const {
  size_t count = 0;
  for (const std::vector<size_t>& of_run : lost) count += of_run.size();
  return count;
}

Result<RecoveredResults> RecoverResults(const std::string& partial, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const PartialManifest manifest, ReadPartialManifest(partial));
  VERNIER_ASSIGN_OR_RETURN(ResultsSource source, OpenPartialResults(partial));
  RecoveredResults recovered;
  recovered.inputs = manifest.inputs;
  recovered.lost.resize(source->runs().size());
  size_t promised = 0;
  for (const SavedRun& run : source->runs()) {
    recovered.runs.push_back({run.name, 0});
    promised += run.iterations;
  }
  recovered.damage = source->Damage();
  if (promised == 0) {
    return Malformed("'" + partial + "' holds no whole iteration" +
                     (recovered.damage.empty() ? "" : ": " + recovered.damage));
  }
  std::error_code ignored;
  const bool same_directory = manifest.format == ResultsFormat::kJsonDirectory &&
                              IsDirectory(path) && fs::equivalent(path, manifest.target, ignored);
  if (manifest.inputs) {
    VERNIER_TRY(WriteFeeds(std::move(source), partial, path, recovered));
  } else if (same_directory) {
    VERNIER_TRY(CompleteDirectory(*source, path, recovered));
  } else {
    VERNIER_TRY(WriteAll(std::move(source), partial, path, recovered));
  }
  for (std::vector<size_t>& lost : recovered.lost) std::sort(lost.begin(), lost.end());
  if (recovered.whole()) {
    RemovePartialFolder(partial);
  } else {
    recovered.kept_parts = partial;
  }
  return recovered;
}

}  // namespace vernier
