#include "io/results/interleaved_runs.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "io/results/shard_file_name.h"
#include "util/values/plural_text.h"
#include "vernier/shard_plan.h"

namespace vernier {
namespace {

class InterleavedRuns final : public ResultsReader::Source {
 public:
  InterleavedRuns(std::vector<ShardReader> shards, int64_t multiple)
      : shards_(std::move(shards)), multiple_(static_cast<size_t>(multiple)) {}

  /// Errors as InterleaveShards().
  Status Index();

  const std::vector<SavedRun>& runs() const override { return runs_; }

  Result<IterationResult> Read(size_t run, size_t iteration) override {
    const Place place = PlaceOf(iteration);
    return shards_[place.shard].reader->Read(run, place.iteration);
  }

  std::optional<uint64_t> FeedOf(size_t run, size_t iteration) const override {
    const Place place = PlaceOf(iteration);
    return shards_[place.shard].reader->FeedOf(run, place.iteration);
  }

  Status CheckIntact() const override {
    for (const ShardReader& shard : shards_) {
      if (shard.reader != nullptr) VERNIER_TRY(shard.reader->CheckIntact());
    }
    return {};
  }

  std::string Damage() const override {
    std::string damage;
    for (const ShardReader& shard : shards_) {
      if (damage.empty() && shard.reader != nullptr) damage = shard.reader->Damage();
    }
    return damage;
  }

 private:
  struct Place {
    size_t shard;
    size_t iteration;
  };

  Place PlaceOf(size_t iteration) const {
    const size_t group = iteration / multiple_;
    return {group % shards_.size(), group / shards_.size() * multiple_ + iteration % multiple_};
  }

  Status CheckShare(size_t shard) const;

  std::vector<ShardReader> shards_;
  size_t multiple_;
  std::vector<SavedRun> runs_;
};

Status InterleavedRuns::Index() {
  for (ShardReader& shard : shards_) {
    if (shard.reader == nullptr) continue;
    const std::vector<SavedRun>& own = shard.reader->runs();
    const bool idle = HoldsNoIteration(*shard.reader);
    if (&shard == &shards_.front()) {
      runs_ = own;
      for (SavedRun& run : runs_) run.iterations = 0;
    }
    if (idle) {
      shard.reader = nullptr;
      continue;
    }
    if (!std::ranges::equal(own, runs_, {}, &SavedRun::name, &SavedRun::name)) {
      return InvalidArgument("'" + shard.path + "' has other runners than '" +
                             shards_.front().path + "': they are not of the same run");
    }
    for (size_t run = 0; run < runs_.size(); ++run) {
      if (runs_[run].iterations == 0) runs_[run].steps = own[run].steps;
      if (own[run].steps != runs_[run].steps) {
        return InvalidArgument("the steps of '" + shard.path +
                               "' were fed otherwise than those of '" + shards_.front().path +
                               "': they are not of the same run");
      }
      runs_[run].iterations += own[run].iterations;
    }
  }
  for (size_t shard = 0; shard < shards_.size(); ++shard) VERNIER_TRY(CheckShare(shard));
  return {};
}

Status InterleavedRuns::CheckShare(size_t shard) const {
  if (runs_.empty()) return {};
  const auto total = static_cast<int64_t>(runs_.front().iterations);
  const auto number = static_cast<int64_t>(shard + 1);
  const ShardPlan plan{number, std::ssize(shards_), ShardRule::kStride, false,
                       static_cast<int64_t>(multiple_)};
  const auto share = static_cast<size_t>(plan.CountOf(total));
  for (size_t run = 0; run < runs_.size(); ++run) {
    const auto& reader = shards_[shard].reader;
    const size_t own = reader == nullptr ? 0 : reader->runs()[run].iterations;
    if (own == share) continue;
    return InvalidArgument("'" + shards_[shard].path + "' has " + Counted(own, "iteration") +
                           ", and shard " + std::to_string(number) + " of " +
                           std::to_string(shards_.size()) + " by stride has " +
                           std::to_string(share) + " of " + std::to_string(total) +
                           ": a shard has not saved all of its share; run it again");
  }
  return {};
}

}  // namespace

bool HoldsNoIteration(ResultsReader& reader) {
  for (size_t run = 0; run < reader.runs().size(); ++run) {
    if (reader.runs()[run].iterations == 0) continue;
    if (reader.runs()[run].iterations > 1) return false;
    const Result<IterationResult> only = reader.Read(run, 0);
    if (!only.ok() || !only->outputs.empty()) return false;
  }
  return true;
}

Result<std::unique_ptr<ResultsReader::Source>> InterleaveShards(std::vector<ShardReader> shards,
                                                                int64_t multiple) {
  auto runs = std::make_unique<InterleavedRuns>(std::move(shards), multiple);
  VERNIER_TRY(runs->Index());
  return std::unique_ptr<ResultsReader::Source>(std::move(runs));
}

Result<std::unique_ptr<ResultsReader::Source>> InterleaveFiles(
    const std::vector<std::string>& files, const OpenShard& open) {
  std::vector<ShardReader> shards;
  for (const std::string& file : files) {
    VERNIER_ASSIGN_OR_RETURN(auto reader, open(file));
    shards.push_back({file, std::move(reader)});
  }
  return InterleaveShards(std::move(shards), ReadShardFileName(files.front())->multiple);
}

}  // namespace vernier
