// How runners come to be fed: their feeds, the place where those and what is made of them are
// saved, sizes that were not given, and warm-ups.
#pragma once

#include <cstddef>

#include "run/feeds/feed_stream.h"
#include "run/live/inference_scheduler.h"
#include "run/live/pair_error_bounds.h"
#include "run/phases/live_results.h"
#include "run/phases/run_context.h"
#include "vernier/status.h"

namespace vernier {

/// The live side of a run. All must outlive it.
struct LiveSide {
  InferenceScheduler& runs;
  PythonFeeds python;
  PairErrorBounds& bounds;  ///< that runners are measured for
};

/// Opens `made.feeds` from the beginning. Before those of the first runner opens `made.savers` as
/// well, and has sizes found where none were given. One runner must be alive. Errors as
/// RunnerFeeds::InputsToFeed, FeedStream::Open, SavedProgress::Find, OutputSavers::Create and
/// SettleSizes; what was opened before them stays.
Status BeginFeeds(const RunContext& run, const LiveSide& side, LiveResults& made);

/// The plan's warm-ups of one runner, if it is alive, with the first of `made.feeds`, which are
/// opened anew after that. Neither counted nor timed. Errors as InferenceScheduler::Infer and
/// BeginFeeds.
Status WarmUp(const RunContext& run, const LiveSide& side, size_t index, LiveResults& made);

}  // namespace vernier
