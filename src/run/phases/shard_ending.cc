#include "run/phases/shard_ending.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "run/comparison/comparison_run.h"
#include "run/lanes/processor_text.h"
#include "run/live/lost_outputs.h"
#include "run/live/made_with.h"
#include "run/saved/left_parts.h"
#include "run/saved/shard_flips.h"

namespace vernier {
namespace {

// Of the undivided run.
int64_t TotalOf(const LiveResults& made, const SavedStreams& loaded) {
  if (made.feeds != nullptr) return made.feeds->total().value_or(0);
  int64_t total = 0;
  for (const SavedRuns::Run& run : loaded.runs()) total = std::max(total, run.iterations);
  return total;
}

bool IsCountedBeforehand(const LiveResults& made) {
  return made.feeds == nullptr || made.feeds->CountedBeforehand();
}

// What other shards would have decided otherwise.
Status CheckDecided(const Comparing& comparing, int64_t total) {
  VERNIER_TRY(CheckSavedCounts(comparing.loaded, total));
  for (const ComparedPair& pair : comparing.comparisons.pairs()) {
    if (!pair.matching.by_value() || comparing.comparisons.looked_ahead()) continue;
    return InvalidArgument("--shard: " + pair.label() +
                           ": outputs would be paired by the values of the first iterations, "
                           "which this shard has not inferred: pair them with --map-outputs");
  }
  return {};
}

const ImageFeeds* ImagesOf(const LiveResults& made) {
  return made.feeds == nullptr ? nullptr : made.feeds->images();
}

std::vector<ShardPairNames> DescribePairs(const Comparing& comparing,
                                          const std::vector<PairRecord>& records) {
  std::vector<ShardPairNames> names;
  std::vector<std::pair<size_t, size_t>> places;
  const std::vector<ComparedPair>& pairs = comparing.comparisons.pairs();
  for (size_t i = 0; i < pairs.size(); ++i) {
    ShardPairNames& made = names.emplace_back();
    made.first = static_cast<int64_t>(pairs[i].first);
    made.second = static_cast<int64_t>(pairs[i].second);
    std::tie(made.shown_first, made.shown_second) = pairs[i].shown;
    made.first_file = records.at(i).first_file;
    made.second_file = records.at(i).second_file;
    const PairMatching& matching = pairs[i].matching;
    made.left_out = matching.left_out();
    for (const auto& [output, error] : matching.errors()) made.by_value.push_back({output, error});
    made.undecided = matching.table();
    made.by_shape = matching.by_shape();
    places.emplace_back(pairs[i].first, pairs[i].second);
  }
  for (auto& [place, path] : comparing.loaded.SelfComparisons(places)) {
    names.at(place).itself = path;
  }
  return names;
}

std::vector<ShardErrors> KeepErrors(const std::vector<ComparedPair>& pairs) {
  std::vector<ShardErrors> all;
  for (size_t i = 0; i < pairs.size(); ++i) {
    std::ranges::move(pairs[i].recorder.errors().Keep(i), std::back_inserter(all));
  }
  return all;
}

Result<ShardEnd> DescribeEnd(const InferenceScheduler& live, const Comparing& comparing,
                             const RunRecord& record, ShardEnd end) {
  VERNIER_ASSIGN_OR_RETURN(end.flips,
                           DescribeFlips(live.plan(), comparing.comparisons.flips().iterations()));
  end.names = live.names();
  for (const SavedRuns::Run& run : comparing.loaded.runs()) end.names.push_back(run.name);
  end.marked = live.any_marked();
  end.runners = record.runners;
  bool on_processor = false;
  for (size_t i = 0; i < record.runners.size(); ++i) {
    const RunnerRecord& runner = record.runners[i];
    const int64_t threads = ThreadsUsed(live, i, runner.device);
    on_processor |= threads > 0;
    end.made_with.push_back({"runner", runner.name, DescribeMachine(runner, threads), {}});
  }
  if (on_processor) end.made_with.push_back({"processor", "", ProcessorText(), {}});
  end.pairs = DescribePairs(comparing, record.pairs);
  end.errors = KeepErrors(comparing.comparisons.pairs());
  for (const LostOutputs& lost : LostOutputsOf(live)) {
    ShardLost& made = end.lost.emplace_back();
    made.runner = lost.runner;
    for (const SkippedOutput& output : lost.outputs) {
      made.outputs.emplace_back(output.name, output.why);
    }
  }
  end.notes = live.reports().notes();
  end.on_mismatch = comparing.comparisons.NotesOfMismatch();
  return end;
}

Status PublishEnd(ShardWriter& shard, Result<ShardEnd> end) {
  return end.ok() ? shard.Publish(*std::move(end)) : end.status();
}

}  // namespace

bool IsDone(const RunFaults& faults) {
  RunFaults rest = faults;
  rest.mismatch = rest.incomplete = false;
  return !rest.any();
}

bool IsWholeShard(const RunEnding& ending) {
  return !ending.aborted && IsDone(ending.outcome.faults);
}

Status CheckMergeable(const RunPlan& plan, const LiveResults& made, const Comparing& comparing) {
  const ImageFeeds* const images = ImagesOf(made);
  if (images != nullptr && !images->skipped().empty() && !comparing.loaded.runs().empty()) {
    return Malformed("--shard: image '" + images->skipped().front().path +
                     "' was skipped, so that it is not known which iteration of the saved " +
                     "outputs the others belong to: leave it out");
  }
  VERNIER_TRY(CheckDecided(comparing, TotalOf(made, comparing.loaded)));
  VERNIER_TRY(comparing.shard->CheckSources(plan));
  if (comparing.shard->fewest_pairs() >= comparing.comparisons.pairs().size()) return {};
  return Malformed("--shard: not every iteration was compared in every pair, so the part '" +
                   comparing.shard->path() +
                   "' was not written: it would show less than was asked");
}

void PublishShard(const RunContext& run, const InferenceScheduler& live, const LiveResults& made,
                  const Comparing& comparing, RunEnding& ending) {
  ShardWriter& shard = *comparing.shard;
  if (!IsWholeShard(ending)) {
    shard.Discard();
    const std::string stays = made.savers && !ending.unsaved ? made.savers->WhatStays() : "";
    run.logger.Warning("This shard is not whole, so its part '" + shard.path() +
                       "' was not written: run it again" + stays);
    return;
  }
  RunRecord& record = ending.outcome.record;
  const int64_t total = TotalOf(made, comparing.loaded);
  const ImageFeeds* const images = ImagesOf(made);
  Status done = images == nullptr ? Status() : shard.AddSkipped(*images, total);
  ShardEnd end;
  end.total = total;
  end.counted_beforehand = IsCountedBeforehand(made);
  if (done.ok()) done = PublishEnd(shard, DescribeEnd(live, comparing, record, std::move(end)));
  if (done.ok()) {
    record.saved.emplace_back("part", shard.path());
    RemoveLeftOfShard(run.plan.save);
    return;
  }
  shard.Discard();
  ReportFailure(run, done, made, ending);
}

}  // namespace vernier
