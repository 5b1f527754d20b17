// The feeds of a run's runners, each mapped and fitted to the runner's inputs, with the state of
// steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inputs/coerce_feed.h"
#include "run/live/live_steps.h"
#include "run/live/runner_reports.h"
#include "run/maps/name_maps.h"
#include "run/workers/runner_session.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Runners are identified by their place in the plan.
class RunnerFeeds {
 public:
  /// All must outlive it. `runners` are those of the plan, as soon as anything else is asked;
  /// `maps` are what --map-inputs says of them.
  RunnerFeeds(const RunPlan& plan, Result<InputMaps> maps, const std::deque<RunnerSession>& runners,
              const LiveSteps& steps, RunnerReports& reports)
      : plan_(plan), maps_(std::move(maps)), runners_(runners), steps_(steps), reports_(reports) {}

  /// That of the maps: without them nothing can be coerced.
  Status status() const { return maps_.status(); }

  /// kInvalidArgument where a map without a label names no input of any runner, a word of
  /// --feed-back is about none of them, or a shape is for an input of another runner alone. All
  /// must have been opened; where one has failed or does not say what it takes, nothing is known.
  Status CheckMaps() const;

  /// What feeds are made for: the inputs of the first opened runner that says what it takes. Where
  /// none does, those of `shape_words` (--input-shapes), as float32 unless they say another type,
  /// or none if feeds are `supplied` by files or a script. kInvalidArgument otherwise.
  Result<std::vector<TensorInfo>> InputsToFeed(bool supplied,
                                               std::span<const std::string> shape_words) const;

  /// Messages about the feed of an iteration begin with name(iteration). Without it they begin with
  /// its number, except those about the first.
  void NameFeedsBy(std::function<std::string(int64_t iteration)> name) {
    name_of_feed_ = std::move(name);
  }

  /// The feed of an iteration as the runner gets it; below 0: of none. Nothing is logged about it.
  /// kMalformed where it does not fit, kBackend where it has a token that was chosen and that the
  /// runner cannot look up: another runner may; errors as InputMaps::Apply.
  Result<CoercedFeed> Coerce(size_t index, const TensorMap& feed, int64_t iteration = -1) const;
  /// The same; what was changed is logged, and noted.
  Result<CoercedFeed> CoerceAndNote(size_t index, const TensorMap& feed, int64_t iteration);

  /// For the message of a runner that fails at an iteration: which sizes were not given, and how
  /// many others were tried. Empty if that does not matter.
  std::string NoteOnSizes(int64_t iteration) const;
  /// The same: a mask of the last feed that was noted of the runner has another length than its
  /// tokens and past. Empty if that is not so.
  std::string NoteOnMask(size_t index) const;
  /// So many (as of NoteOfFreeSizes).
  void NoteTried(int64_t sizes) { tried_sizes_ = sizes; }

  /// What maps did to the last feed that was noted.
  void DescribeMaps(size_t index, RunnerRecord& record) const;

 private:
  // `mapped` (may be null) is given what --map-inputs did.
  Result<CoercedFeed> Fit(size_t index, const TensorMap& feed, Logger& logger,
                          MappedFeed* mapped) const;
  CoerceOptions OptionsFor(size_t index) const;
  Result<CoercedFeed> OfFeed(int64_t iteration, Result<CoercedFeed> fits) const;
  Status CheckGivenTokens() const;
  Status CheckMadeTokens(size_t index, const TensorMap& fed) const;
  Status CheckMadeToken(size_t index, const std::string& input, std::string_view made,
                        const TensorMap& fed) const;
  std::span<const TensorInfo> MadeFor(size_t index) const;
  Status CheckShapes() const;

  const RunPlan& plan_;
  const Result<InputMaps> maps_;
  const std::deque<RunnerSession>& runners_;
  const LiveSteps& steps_;
  RunnerReports& reports_;
  std::function<std::string(int64_t)> name_of_feed_;  // may be empty
  std::map<size_t, std::string> odd_masks_;
  std::map<std::string, MappedFeed> mapped_;  // by the runner's name, without the tensors
  int64_t tried_sizes_ = 0;
};

}  // namespace vernier
