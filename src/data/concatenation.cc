#include "data/joining.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "data/data_files.h"
#include "io/bytes/checksum.h"
#include "io/bytes/directory_listing.h"
#include "io/results/feed_writer.h"
#include "io/results/interleaved_runs.h"
#include "io/results/iteration_directory.h"
#include "io/results/results_writer.h"
#include "io/results/shard_file_name.h"
#include "record/schema/side_names.h"
#include "run/feeds/shard_names.h"
#include "run/saved/fed_states.h"
#include "run/saved/joined_feedings.h"
#include "util/process/interruption.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

class Concatenation {
 public:
  Concatenation(std::vector<DataSource> sources, bool lenient, const std::atomic<int>& interrupted,
                Logger& log)
      : sources_(std::move(sources)), lenient_(lenient), interrupted_(interrupted), log_(log) {}

  Status WriteTo(const std::string& output) {
    const bool outputs = sources_.front().tensors.kind == SavedKind::kOutputs;
    for (const DataSource& source : sources_) {
      if ((source.tensors.kind == SavedKind::kOutputs) == outputs) continue;
      return InvalidArgument(
          "Cannot concatenate input data with output data. Please provide files of the same type.\n"
          "Note: '" +
          sources_.front().path + "' holds " + (outputs ? "outputs" : "inputs") + ", '" +
          source.path + "' " + (outputs ? "inputs" : "outputs") + ".");
    }
    return outputs ? WriteOutputs(output) : WriteInputs(output);
  }

 private:
  Status WriteInputs(const std::string& output) {
    size_t total = 0;
    for (const DataSource& source : sources_) total += source.tensors.reader->runs()[0].iterations;
    VERNIER_ASSIGN_OR_RETURN(const auto writer,
                             FeedWriter::Create(output, SingleFileFormat(output)));
    const Status status = AppendFeeds(*writer);
    if (status.ok()) {
      log_.Info("Saving input file containing " + std::to_string(total) + " iteration(s) to " +
                output);
    }
    return PublishOrDiscard(status, *writer);
  }

  Status AppendFeeds(FeedWriter& writer) {
    for (const DataSource& source : sources_) {
      for (size_t i = 0; i < source.tensors.reader->runs()[0].iterations; ++i) {
        VERNIER_TRY(CheckInterrupted(interrupted_));
        VERNIER_ASSIGN_OR_RETURN(const IterationResult feed, source.tensors.reader->Read(0, i));
        WatchNames("", feed.outputs, source.path, i);
        VERNIER_TRY(writer.Append(feed.outputs));
      }
    }
    return {};
  }

  // Where a file lacks a runner of another one, the runners of a third have other numbers.
  Status CheckInStep() const {
    std::map<std::string, size_t> before;
    for (const DataSource& source : sources_) {
      std::map<std::string, size_t> here;
      for (const SavedRun& run : source.tensors.reader->runs()) {
        if (run.iterations > 0) here[RunnerNameOf(run)] += run.iterations;
      }
      size_t most = 0;
      for (const auto& [name, count] : here) most = std::max(most, before[name]);
      std::vector<std::string> behind, names;
      for (const auto& [name, count] : here) {
        (before[name] < most ? behind : names).push_back(name);
      }
      if (!behind.empty()) {
        const auto in_words = [](std::vector<std::string> runners) {
          return JoinWords(ShortNames(runners), " and ");
        };
        return InvalidArgument(
            "the files before '" + source.path + "' have fewer iterations of " + in_words(behind) +
            " than of " + in_words(names) +
            ": behind them, iterations of one number would not belong together; join files with "
            "the same runners (data select picks them), or add --lenient");
      }
      for (const auto& [name, count] : here) before[name] += count;
    }
    return {};
  }

  Status WriteOutputs(const std::string& output) {
    if (!lenient_) VERNIER_TRY(CheckInStep());
    VERNIER_ASSIGN_OR_RETURN(
        const auto writer, ResultsWriter::Create(output, RunnerNames(), SingleFileFormat(output)));
    if (KeepsOrigin(SingleFileFormat(output))) {
      LookForOtherSteps(output);
    } else {
      NoteLost(output);
    }
    const Status status = AppendAll(*writer);
    if (status.ok()) {
      log_.Info("Saving output file containing concatenated iteration(s) to " + output);
    }
    size_t longest = 0;
    for (size_t i = 0; i < names_.size(); ++i) longest = std::max(longest, writer->finished(i));
    return PublishOrDiscard(status, longest, *writer);
  }

  Status AppendAll(ResultsWriter& writer) {
    for (const DataSource& source : sources_) {
      for (size_t run = 0; run < source.tensors.reader->runs().size(); ++run) {
        VERNIER_TRY(AppendRun(source, run, writer));
      }
    }
    return {};
  }

  // Runners are joined by name, also those of one file.
  std::vector<std::string> RunnerNames() {
    for (const DataSource& source : sources_) {
      for (const SavedRun& run : source.tensors.reader->runs()) {
        const std::string name = RunnerNameOf(run);
        if (IndexOf(name) == names_.size()) names_.push_back(name);
      }
    }
    return names_;
  }

  size_t IndexOf(const std::string& name) const {
    return static_cast<size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  }

  // Once: of the first file that says anything.
  void NoteLost(const std::string& output) {
    for (const DataSource& source : sources_) {
      std::vector<size_t> runs(source.tensors.reader->runs().size());
      std::iota(runs.begin(), runs.end(), 0);
      if (NoteLostOrigin(*source.tensors.reader, runs, false, output, log_)) return;
    }
  }

  // A file has one account of how the steps of a runner were fed. Marks of feeds say it as well.
  void LookForOtherSteps(const std::string& output) {
    std::map<std::string, std::vector<FeedingPart>> accounts;
    for (const DataSource& source : sources_) {
      const ResultsReader& reader = *source.tensors.reader;
      for (size_t i = 0; i < reader.runs().size(); ++i) {
        const SavedRun& run = reader.runs()[i];
        if (run.iterations == 0) continue;
        accounts[RunnerNameOf(run)].push_back(
            {run.steps, run.iterations, reader.FeedOf(i, 0), reader.FeedOf(i, run.iterations - 1)});
      }
    }
    for (const auto& [name, feedings] : accounts) {
      const std::optional<std::string> joined = JoinFeedings(feedings);
      if (!joined) of_other_steps_.insert(name);
      feedings_[name] = joined ? *joined : MixedFeeding(PartsOf(name));
    }
    if (of_other_steps_.empty()) return;
    const std::vector<std::string> names(of_other_steps_.begin(), of_other_steps_.end());
    log_.Warning("'" + output + "' does not say any more how the steps of " +
                 JoinWords(ShortNames(names), " and ") +
                 " were fed, and from what inputs, because that differs between the files, or one "
                 "does not say it: comparisons warn, and do not notice outputs that were fed "
                 "otherwise");
  }

  // Of a runner: each account, and the marks of the feeds that it is about.
  std::vector<std::pair<std::string, std::string>> PartsOf(const std::string& name) const {
    std::vector<std::pair<std::string, std::string>> parts;
    for (const DataSource& source : sources_) {
      const ResultsReader& reader = *source.tensors.reader;
      for (size_t run = 0; run < reader.runs().size(); ++run) {
        const SavedRun& saved = reader.runs()[run];
        if (RunnerNameOf(saved) != name) continue;
        std::string marks;
        for (size_t i = 0; i < saved.iterations; ++i) {
          const std::optional<uint64_t> mark = reader.FeedOf(run, i);
          marks += mark ? ChecksumText(*mark) + ' ' : "- ";
        }
        parts.emplace_back(saved.steps, std::move(marks));
      }
    }
    return parts;
  }

  Status AppendRun(const DataSource& source, size_t run, ResultsWriter& writer) {
    const SavedRun& saved = source.tensors.reader->runs()[run];
    const std::string name = RunnerNameOf(saved);
    const bool keeps = !of_other_steps_.contains(name);
    VERNIER_TRY(writer.NoteSteps(IndexOf(name), feedings_[name]));
    for (size_t i = 0; i < saved.iterations; ++i) {
      VERNIER_TRY(CheckInterrupted(interrupted_));
      VERNIER_ASSIGN_OR_RETURN(IterationResult result, source.tensors.reader->Read(run, i));
      if (result.runner_name.empty()) result.runner_name = name;
      WatchNames(name, result.outputs, source.path, i);
      VERNIER_TRY(writer.Append(IndexOf(name), result,
                                keeps ? source.tensors.reader->FeedOf(run, i) : std::nullopt));
    }
    return {};
  }

  // Polygraphy's warning where an iteration has other names than the first of its stream.
  void WatchNames(const std::string& stream, const TensorMap& tensors, const std::string& path,
                  size_t iteration) {
    const std::string names = FormatTensorNames(tensors);
    const auto [first, is_new] = first_names_.emplace(stream, names);
    if (is_new || first->second == names) return;
    log_.Warning(
        "Iteration " + std::to_string(iteration) + " from " + path +
        " contains different tensor names than earlier iterations.\nNote: Expected names: " +
        first->second + ", but got: " + names + ".");
  }

  std::vector<DataSource> sources_;
  const bool lenient_;
  const std::atomic<int>& interrupted_;
  Logger& log_;
  std::vector<std::string> names_;
  std::set<std::string> of_other_steps_;         // runners
  std::map<std::string, std::string> feedings_;  // of runners
  std::map<std::string, std::string> first_names_;
};

// Of more shards than iterations some had nothing to save. An empty folder does not even show
// whether it was for inputs or outputs.
bool IsEmptyShardFolder(const std::string& path) {
  return ReadShardFileName(path) && IsDirectory(path) && !HoldsFiles(path);
}

// Likewise a file.
bool IsIdleShard(const DataSource& source) {
  return ReadShardFileName(source.path) && HoldsNoIteration(*source.tensors.reader);
}

// `sources` are those of `paths` that are no empty folders.
std::vector<ShardTensors> ShardsAmong(const std::vector<std::string>& paths,
                                      const std::vector<DataSource>& sources) {
  std::vector<ShardTensors> files;
  auto source = sources.begin();
  for (const std::string& path : paths) {
    ShardTensors& file = files.emplace_back();
    file.path = path;
    if (source == sources.end() || source->path != path) continue;
    for (const SavedRun& run : source->tensors.reader->runs()) {
      file.iterations.push_back(run.iterations);
    }
    ++source;
  }
  return files;
}

// Shards of one run by stride.
struct TakingTurns {
  size_t place = 0;  // among what is joined
  int64_t multiple = 1;
  std::vector<ShardReader> shards = {};
};

// Of shards by stride, which are all there, in place of the first of each run what they are of.
Result<std::vector<DataSource>> InterleaveStrides(std::vector<DataSource> sources) {
  std::vector<DataSource> joined;
  std::map<std::string, TakingTurns> runs;
  for (DataSource& source : sources) {
    const std::optional<ShardFileName> name = ReadShardFileName(source.path);
    if (!name || !name->stride) {
      joined.push_back(std::move(source));
      continue;
    }
    const auto [entry, is_new] =
        runs.try_emplace(name->whole, TakingTurns{joined.size(), name->multiple});
    TakingTurns& run = entry->second;
    if (is_new) joined.push_back({name->whole, {source.tensors.kind, nullptr}});
    if (is_new) run.shards.resize(static_cast<size_t>(name->count));
    run.shards[static_cast<size_t>(name->number - 1)] = {source.path,
                                                         std::move(source.tensors.reader)};
  }
  for (auto& [whole, run] : runs) {
    VERNIER_ASSIGN_OR_RETURN(auto runs_of_all,
                             InterleaveShards(std::move(run.shards), run.multiple));
    joined[run.place].tensors.reader = ResultsReader::Of(std::move(runs_of_all));
  }
  return joined;
}

}  // namespace

Status ConcatenateData(const DataJoinPlan& plan, const std::atomic<int>& interrupted, Logger& log) {
  if (!plan.may_replace) VERNIER_TRY(CheckNotRead(plan.output, plan.paths));
  std::vector<std::string> paths = plan.paths;
  if (!plan.may_replace) std::erase_if(paths, IsEmptyShardFolder);
  if (paths.empty()) {
    return InvalidArgument("there is nothing to join: the folders of shards are empty");
  }
  VERNIER_ASSIGN_OR_RETURN(std::vector<DataSource> sources, OpenDataSources(paths));
  if (!plan.may_replace) {
    VERNIER_TRY(CheckShardsInOrder(ShardsAmong(plan.paths, sources), log));
    VERNIER_ASSIGN_OR_RETURN(sources, InterleaveStrides(std::move(sources)));
    if (!std::ranges::all_of(sources, IsIdleShard)) std::erase_if(sources, IsIdleShard);
  }
  const bool lenient = plan.lenient || plan.may_replace;
  return Concatenation(std::move(sources), lenient, interrupted, log).WriteTo(plan.output);
}

}  // namespace vernier
