#include "run/shards/shard_merge.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/version.h"
#include "io/bytes/checksum.h"
#include "run/comparison/comparison_run.h"
#include "run/comparison/no_reports.h"
#include "run/live/lost_outputs.h"
#include "run/parts/kept_labels.h"
#include "run/parts/shard_parts.h"
#include "run/parts/shard_writer.h"
#include "run/phases/ending.h"
#include "run/saved/row_writer.h"
#include "run/saved/self_comparisons.h"
#include "run/saved/shard_flips.h"
#include "run/shards/all_parts.h"
#include "run/shards/lines_ahead.h"
#include "run/shards/part_machines.h"
#include "run/shards/received_tally.h"
#include "run/shards/shard_command.h"
#include "run/workers/runner_session.h"
#include "util/log/no_log.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

Result<Parts> OpenParts(const std::vector<std::string>& paths) {
  Parts parts;
  for (const std::string& path : paths) {
    VERNIER_ASSIGN_OR_RETURN(ShardPart part, ShardPart::Open(path));
    if (part.head().version != kVersion) {
      return Malformed("'" + path + "' was written by vernier " + part.head().version +
                       ", and this is " + kVersion + ": merge with that version");
    }
    if (!parts.empty()) {
      VERNIER_TRY(CheckSameRun(parts.front(), part));
      VERNIER_TRY(CheckSameLabels(parts.front().path(), parts.front().head().labels, path,
                                  part.head().labels));
    }
    parts.push_back(std::move(part));
  }
  std::ranges::stable_sort(parts, {},
                           [](const ShardPart& part) { return part.head().numbers.front(); });
  return parts;
}

// Calls `take` with each iteration of the parts once, in the order of indices, until it gives
// false. Of iterations that several parts have all must be alike.
using TakeLine = std::function<Result<bool>(const ShardPart& part)>;
Status GoThrough(Parts& parts, const TakeLine& take) {
  while (true) {
    ShardPart* first = nullptr;
    for (ShardPart& part : parts) {
      if (!part.index()) continue;
      if (first == nullptr || *part.index() < *first->index()) first = &part;
    }
    if (first == nullptr) return {};
    const int64_t index = *first->index();
    for (const ShardPart& part : parts) {
      if (part.index() != index || part.line() == first->line()) continue;
      return Malformed("'" + first->path() + "' and '" + part.path() +
                       "' hold other results of iteration " + std::to_string(index) +
                       ": leave one of them out");
    }
    VERNIER_ASSIGN_OR_RETURN(const bool go_on, take(*first));
    if (!go_on) return {};
    for (ShardPart& part : parts) {
      if (part.index() == index) VERNIER_TRY(part.Advance());
    }
  }
}

Status WritePartial(Parts& parts, const std::string& output, std::vector<std::string> notes) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<ShardErrors> errors, ErrorsIn(parts));
  ShardHead head = parts.front().head();
  head.numbers = NumbersIn(parts);
  VERNIER_ASSIGN_OR_RETURN(ShardFile file, ShardFile::Create(output, head));
  const Status written = GoThrough(parts, [&](const ShardPart& part) -> Result<bool> {
    VERNIER_TRY(file.Add(std::string(part.line()) + "\n"));
    return true;
  });
  if (!written.ok()) {
    file.Discard();
    return written;
  }
  ShardEnd end = GatherEnds(parts);
  end.notes = std::move(notes);
  end.shards = ShardsIn(parts);
  end.flips = FlipsIn(parts);
  end.made_with = MadeWithIn(parts);
  end.errors = std::move(errors);
  return file.Publish(std::move(end));
}

Status TakeErrors(const std::vector<ShardErrors>& errors, ComparedPairs& pairs) {
  for (const ShardErrors& kept : errors) {
    const auto place = static_cast<size_t>(kept.pair);
    if (place >= pairs.pairs.size()) return Malformed("the parts are damaged: no pair has errors");
    const Status status = pairs.pairs[place].recorder.AddErrors(kept);
    if (!status.ok()) return Malformed("the parts are damaged: " + status.message());
  }
  return {};
}

class ShardFolding {
 public:
  static Result<std::unique_ptr<ShardFolding>> Create(const RunPlan& plan, const ShardHead& head,
                                                      const ShardEnd& end, RowWriter* rows) {
    VERNIER_TRY(CheckLabelsRead(head.labels, plan.decisions, plan.inputs));
    VERNIER_ASSIGN_OR_RETURN(RunLabels labels, RunLabels::Open(plan.decisions, plan.inputs));
    VERNIER_ASSIGN_OR_RETURN(ComparedPairs pairs, ComparedPairs::Find(plan, end.names, end.marked));
    if (pairs.pairs.size() != end.pairs.size()) {
      return Malformed("the parts are damaged: their pairs are not those of the run");
    }
    std::vector<std::pair<std::string, std::string>> shown;
    for (size_t i = 0; i < end.pairs.size(); ++i) {
      shown.emplace_back(end.pairs[i].shown_first, end.pairs[i].shown_second);
      PairMatching& matching = pairs.pairs[i].matching;
      matching.TakeFound(end.pairs[i].left_out, "");
      std::map<std::string, double> errors;
      for (const ShardPairedBy& paired : end.pairs[i].by_value) {
        errors.emplace(paired.output, paired.error);
      }
      matching.TakePairing(std::move(errors), end.pairs[i].undecided);
    }
    pairs.NamePairs(std::move(shown));
    VERNIER_TRY(TakeErrors(end.errors, pairs));
    return std::unique_ptr<ShardFolding>(
        new ShardFolding(plan, end.total, std::move(pairs), std::move(labels), rows));
  }

  Result<bool> Add(ShardIteration& iteration, const std::string& path) {
    const bool skipped = !iteration.skipped.empty();
    const size_t pairs = skipped ? 0 : comparisons_.pairs().size();
    if (iteration.index != lines() || iteration.pairs.size() != pairs) {
      return Malformed("'" + path + "' is damaged: iteration " + std::to_string(iteration.index) +
                       " is not the next one, or lacks pairs");
    }
    if (skipped) {
      skipped_.push_back({iteration.index, iteration.skipped});
      return true;
    }
    // Images that were skipped are no iterations.
    const int64_t index = received_.iterations();
    if (rows_ != nullptr) rows_->NoteFeed(index, HashFrom(iteration.input_hash));
    if (iteration.image) {
      samples_.push_back(iteration.image->path);
      const FedFile file{iteration.image->path, iteration.index, total_};
      labels_.NotePlaced(index, file, *iteration.image);
      if (rows_ != nullptr) rows_->NoteFile(index, file);
    }
    received_.Add(iteration);
    bool go_on = true;
    for (size_t place = 0; go_on && place < iteration.pairs.size(); ++place) {
      VERNIER_ASSIGN_OR_RETURN(go_on,
                               comparisons_.Fold(place, index, std::move(iteration.pairs[place])));
    }
    comparisons_.flips().TakePictures(index, std::move(iteration.pictures), comparisons_.pairs());
    return go_on;
  }

  // The feeds and outputs of the flips that turned out to be the worst of all.
  Status TakeFlips(const std::vector<ShardFlips>& flips, const std::vector<std::string>& streams) {
    if (plan_.decisions.save_flips.empty()) return {};
    for (const int64_t iteration : WorstIterationsOf(comparisons_.pairs())) {
      int64_t index = iteration;  // of its line: images that were skipped have lines as well
      for (const SkippedImage& skipped : skipped_) index += skipped.place <= index ? 1 : 0;
      VERNIER_ASSIGN_OR_RETURN(ShardFlip flip, ReadFlip(flips, index, streams));
      comparisons_.flips().Take(iteration, std::move(flip.feed), std::move(flip.outputs));
    }
    return {};
  }

  // What FinishLive() and FinishPairs() do after an undivided run.
  Status Finish(const ShardEnd& end, RunOutcome& outcome) {
    const auto skipped = std::ssize(skipped_);
    if (skipped > 0 && skipped == end.total) return NoneCanBeRead(end.total, skipped_.front().path);
    if (skipped > 0) {
      outcome.faults.incomplete = true;
      outcome.record.faults.push_back(FaultOfSkipped(DescribeSkipped(skipped_, end.total), {}));
    }
    // Rows of images alone have them.
    if (!samples_.empty()) outcome.record.samples = std::move(samples_);
    outcome.record.runners = received_.Complete(end.runners);
    outcome.record.averaged = plan_.compare->check_average;
    StreamLength live{received_.iterations(), end.total - skipped};
    if (stopped() && !end.counted_beforehand) live.asked.reset();
    std::vector<StreamLength> lengths(end.runners.size(), live);
    lengths.resize(end.names.size(), {end.total, end.total});
    comparisons_.TakeNotesOfMismatch(end.on_mismatch);
    comparisons_.Finish(lengths, Coverage::kJudged, outcome.faults, outcome.record);
    NoteRandomInputs(plan_, outcome.record);
    NoteImagesLeftOut(plan_, outcome);
    std::vector<std::pair<size_t, std::string>> itself;
    for (size_t i = 0; i < end.pairs.size(); ++i) {
      outcome.record.pairs[i].first_file = end.pairs[i].first_file;
      outcome.record.pairs[i].second_file = end.pairs[i].second_file;
      if (!end.pairs[i].itself.empty()) itself.emplace_back(i, end.pairs[i].itself);
    }
    NoteSelfComparisons(itself, plan_.strict, outcome);
    std::vector<LostOutputs> lost;
    for (const ShardLost& known : end.lost) {
      LostOutputs& made = lost.emplace_back();
      made.runner = known.runner;
      for (const auto& [name, why] : known.outputs) made.outputs.push_back({name, why});
    }
    const int64_t feeds = plan_.execution.batch_feeds;
    if (feeds > 1) outcome.record.batch_feeds = feeds;
    NoteLostOutputs(plan_, lost, outcome);
    if (plan_.strict) RejectVacuous(outcome);
    return comparisons_.flips().Save(outcome.record);
  }

  RowsEnd EndOfRows(const RunOutcome& outcome) const {
    RowsEnd end = comparisons_.EndOfRows(outcome.faults, outcome.record);
    if (!plan_.strict) end.passed_over = ImagesLeftOut(plan_.inputs);
    return end;
  }

  bool stopped() const { return comparisons_.stopped(); }
  /// Iterations, and images that were skipped.
  int64_t lines() const { return received_.iterations() + std::ssize(skipped_); }

 private:
  ShardFolding(const RunPlan& plan, int64_t total, ComparedPairs pairs, RunLabels labels,
               RowWriter* rows)
      : plan_(plan),
        total_(total),
        rows_(rows),
        labels_(std::move(labels)),
        comparisons_(plan, std::move(pairs), {}, {.scripts = {}, .rows = rows, .labels = &labels_},
                     no_reports_) {}

  const RunPlan& plan_;
  int64_t total_;  ///< of the undivided run, images that were skipped counted
  RowWriter* rows_;
  RunLabels labels_;
  NoReports no_reports_;  // iterations were reported where they were compared
  ComparisonRun comparisons_;
  ReceivedTally received_;
  std::vector<std::string> samples_;
  std::vector<SkippedImage> skipped_;
};

Status FoldParts(Parts& parts, const MergePlan& merge, Logger& logger, MergeOutcome& merged) {
  RunRecord& record = merged.outcome.record;
  ShardEnd end = GatherEnds(parts);
  VERNIER_ASSIGN_OR_RETURN(end.errors, ErrorsIn(parts));
  std::unique_ptr<RowWriter> rows;
  if (!merge.rows.empty() && end.pairs.empty()) {
    return InvalidArgument("--save-rows: rows describe pairs, and the parts have none");
  }
  if (!merge.rows.empty()) {
    VERNIER_ASSIGN_OR_RETURN(rows,
                             RowWriter::Create(merge.rows, RowWriter::Earlier::kStay, logger));
  }
  const Status done = [&]() -> Status {
    VERNIER_ASSIGN_OR_RETURN(
        const std::unique_ptr<ShardFolding> folding,
        ShardFolding::Create(merged.plan, parts.front().head(), end, rows.get()));
    LinesAhead lines([&](ShardIteration& iteration, const std::string& path) {
      return folding->Add(iteration, path);
    });
    const Status gone = GoThrough(parts, [&](const ShardPart& part) { return lines.Add(part); });
    VERNIER_TRY(lines.Finish());
    // What is wrong with lines that are not wanted any more does not matter.
    if (!folding->stopped()) VERNIER_TRY(gone);
    if (!folding->stopped() && folding->lines() != end.total) {
      return Malformed("the parts are damaged: they hold " + std::to_string(folding->lines()) +
                       " of " + std::to_string(end.total) + " iterations");
    }
    VERNIER_TRY(folding->TakeFlips(FlipsIn(parts), end.names));
    VERNIER_TRY(folding->Finish(end, merged.outcome));
    if (rows == nullptr) return {};
    if (rows->empty()) NoteNoRows(merge.rows, record);
    return rows->Publish(folding->EndOfRows(merged.outcome), record.saved);
  }();
  // Of a disk that is full the message names them.
  if (!done.ok() && done.code() != StatusCode::kIo && rows != nullptr) rows->Discard();
  return done;
}

std::string DescribeMissing(const ShardPart& part, int64_t number) {
  const ShardPlan shard = ShardOf(part.head(), number);
  const int64_t total = part.end().total, count = shard.CountOf(total);
  const std::string name = std::to_string(number) + "/" + std::to_string(shard.count);
  std::string what = "shard " + name + " is missing";
  if (count == 1) {
    what += ": iteration " + std::to_string(shard.IndexOf(0, total));
  } else if (count > 0) {
    what += ": iterations " + std::to_string(shard.IndexOf(0, total)) + " to " +
            std::to_string(shard.IndexOf(count - 1, total)) +
            (shard.rule == ShardRule::kStride ? StrideText(shard) : std::string());
  }
  if (part.head().words.empty()) {
    return what + "; to make it, give the file of its run 'shard.number' " + std::to_string(number);
  }
  return what + "; to make it: " + CommandOfShard(part.head().folder, part.head().words, name);
}

// A sentence for each of the first ten missing shards, with its iterations and the command that
// makes it, and one that counts the others. `there`: the numbers of all that are, ascending.
std::vector<std::string> DescribeMissingShards(const ShardPart& part,
                                               std::span<const int64_t> there) {
  constexpr size_t kMostShown = 10;
  std::vector<std::string> missing;
  int64_t more = 0;
  for (int64_t number = 1; number <= part.head().count; ++number) {
    if (std::ranges::binary_search(there, number)) continue;
    if (missing.size() < kMostShown) {
      missing.push_back(DescribeMissing(part, number));
    } else {
      ++more;
    }
  }
  if (more > 0) {
    missing.push_back("and " + Counted(more, "more shard is", "more shards are") +
                      " missing: vernier merge --status lists them");
  }
  return missing;
}

Status Merge(const MergePlan& merge, Logger& logger, MergeOutcome& merged) {
  VERNIER_ASSIGN_OR_RETURN(Parts parts, OpenParts(merge.parts));
  const ShardHead& head = parts.front().head();
  VERNIER_ASSIGN_OR_RETURN(merged.plan, ReadPlan(head.plan, parts.front().path()));
  RunRecord& record = merged.outcome.record;
  record.notes = GatherNotes(parts, &ShardEnd::notes);
  VERNIER_TRY(CheckSamePairing(parts));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> mixed,
                           CheckMachines(parts, merge.mixed, logger));
  if (merge.partial) {
    VERNIER_TRY(WritePartial(parts, merge.output, record.notes));
    merged.merged = true;
    return {};
  }
  std::ranges::copy(mixed, std::back_inserter(record.notes));
  for (const std::string& missing : DescribeMissingShards(parts.front(), NumbersIn(parts))) {
    logger.Critical(missing);
    record.faults.push_back(missing);
    merged.outcome.faults.incomplete = true;
  }
  if (merged.outcome.faults.incomplete) return {};
  VERNIER_TRY(FoldParts(parts, merge, logger, merged));
  record.shards = ShardsIn(parts);
  merged.merged = true;
  return {};
}

}  // namespace

Status CheckMerge(const std::vector<std::string>& paths, bool mixed) {
  VERNIER_ASSIGN_OR_RETURN(Parts parts, OpenParts(paths));
  VERNIER_TRY(CheckSamePairing(parts));
  NoLog unheard;
  VERNIER_TRY(CheckMachines(parts, mixed, unheard).status());
  return GoThrough(parts, [](const ShardPart&) -> Result<bool> { return true; });
}

MergeOutcome MergeShards(const MergePlan& merge, Logger& logger) {
  MergeOutcome merged;
  const Status status = Merge(merge, logger, merged);
  if (status.ok()) return merged;
  logger.Critical(status.message());
  merged.merged = false;
  merged.outcome.faults = {};
  merged.outcome.faults.Add(status);
  merged.outcome.record.error = status.message();
  return merged;
}

}  // namespace vernier
