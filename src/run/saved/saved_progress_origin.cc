// Whether what --resume finds was saved by this command.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "io/bytes/directory_listing.h"
#include "io/results/partial_folder.h"
#include "io/results/partial_results.h"
#include "record/schema/runner_name.h"
#include "run/parts/shard_differences.h"
#include "run/parts/shard_parts.h"
#include "run/parts/shard_writer.h"
#include "run/saved/result_origin.h"
#include "run/saved/saved_progress.h"

namespace vernier {
namespace {

// Only what outputs are made from: they may be compared otherwise now.
Status KeepWhatMakesOutputs(ShardHead& head, const std::string& what) {
  VERNIER_ASSIGN_OR_RETURN(const RunPlan plan, ReadPlan(head.plan, what));
  RunPlan kept = PlanOfSettings(plan);
  kept.inputs = plan.inputs;
  kept.execution.batch_feeds = plan.execution.batch_feeds;
  head.plan = ToJson(kept);
  return {};
}

std::vector<JournalSource> SourcesOf(const ShardEnd& end) {
  std::vector<JournalSource> sources;
  for (const ShardMadeWith& made : end.made_with) {
    if (made.kind != "build") sources.push_back({made.kind, made.name, made.value});
  }
  return sources;
}

}  // namespace

// Before anything is moved or made again. Files that were saved whole do not say their origin.
Status SavedProgress::CheckOrigin(const PartialOrigin& own) {
  for (const Source& source : sources_) {
    if (!IsParts(source)) continue;
    const auto manifest = ReadPartialManifest(source.path);
    if (!manifest.ok()) continue;
    const PartialOrigin& saved = manifest->origin;
    const auto refuse = [&](const std::string& what, const std::string& flag, int64_t there,
                            int64_t here) {
      return Refuse("'" + source.path + "' was not saved by this command: its " + what + " is " +
                    std::to_string(there) + ", this run's is " + std::to_string(here) + ". Give " +
                    flag + " " + std::to_string(there) + ", or move it away to start over");
    };
    const bool reseeded = own.seed && saved.seed.value_or(*own.seed) != *own.seed;
    if (reseeded) return refuse("seed", "--seed", *saved.seed, *own.seed);
    // The same sample may have other bits in a batch of another size.
    const int64_t there = saved.batch_feeds, here = own.batch_feeds;
    if (there != here) return refuse("number of feeds at once", "--batch-feeds", there, here);
    if (own.models && saved.models.value_or(*own.models) != *own.models) {
      return Refuse("'" + source.path +
                    "' was not saved by this command: a model or a script of its runners has other "
                    "content now. Move it away to start over");
    }
  }
  return {};
}

// Steps of other words may be as many as these, and alike where they are made again.
Status SavedProgress::CheckSteps(const RunPlan& plan) {
  for (const Source& source : sources_) {
    for (size_t runner = 0; plan.steps.wanted() && runner < runners_.size(); ++runner) {
      if (source.ends[runner] == 0 || PartsKnowSteps(source, runner)) continue;
      const bool is_json = source.path.find(".json") != std::string::npos;
      return Refuse("'" + source.path + "' does not say which steps it holds, as " +
                    (is_json ? "no JSON file does; move it away to start over, and save steps as "
                               ".npz or .safetensors to go on with them"
                             : "files of other tools and earlier versions do not; move it away to "
                               "start over"));
    }
  }
  return {};
}

// A folder of iterations is filled from parts, which say it for both.
bool SavedProgress::PartsKnowSteps(const Source& source, size_t runner) const {
  return std::ranges::any_of(sources_, [&](const Source& other) {
    const bool same = &other == &source || (IsParts(other) && !IsParts(source));
    return same && other.ends[runner] >= source.ends[runner] && other.reader->FeedOf(runner, 0);
  });
}

Status SavedProgress::CheckMadeWith(const std::vector<JournalSource>& now) {
  const std::string why = made_with_.WhyNot(now, of_shard_, logger_);
  if (why.empty()) return {};
  return Refuse("'" + place() + "' was not saved by this command: " + why +
                ". Move it away to start over");
}

Status SavedProgress::CheckRunners() const {
  const std::vector<SavedRun>& runs = sources_.front().reader->runs();
  if (SameRunners(runs, runners_)) return {};
  const auto add = [](std::string& list, const std::string& name) {
    list += (list.empty() ? "'" : ", '") + WithoutTime(name) + "'";
  };
  std::string saved, asked;
  for (const SavedRun& run : runs) add(saved, run.name);
  for (const std::string& name : runners_) add(asked, name);
  return Malformed("--resume: '" + place() + "' is of the runners " + saved + ", this run has " +
                   asked + "; move it away to start over");
}

// Files that were saved whole do not say what they were computed with; of a shard its part does.
Status SavedProgress::CheckWhole(const RunPlan& plan) {
  const auto whole = std::ranges::find(sources_, target_, &Source::path);
  if (!of_shard_ || whole == sources_.end()) return {};
  // A folder of iterations is filled while its parts have the journal.
  if (IsDirectory(target_) && sources_.size() > 1) return {};
  const Result<ShardPart> part = ShardPart::Open(plan.save.record);
  if (!part.ok()) {
    logger_.Warning("--resume: '" + target_ +
                    "' does not say what it was computed with, and the part of this shard, which "
                    "would, is not there: all iterations are made again");
    sources_.erase(whole);
    return {};
  }
  VERNIER_ASSIGN_OR_RETURN(ShardHead own, MakeShardHead(plan));
  ShardHead there = part->head();
  VERNIER_TRY(KeepWhatMakesOutputs(own, "this command"));
  VERNIER_TRY(KeepWhatMakesOutputs(there, part->path()));
  const std::string why = DifferenceOfHeads(there, own, part->path(), "this command");
  if (!why.empty()) {
    return Refuse("'" + target_ + "' was not saved by this command: " + why +
                  ". Move it away to start over");
  }
  made_with_.Add(SourcesOf(part->end()));
  return {};
}

}  // namespace vernier
