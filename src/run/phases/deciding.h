// Of a shard: what is decided once for all iterations, on the first ones of the undivided run.
#pragma once

#include "run/live/feed_inference.h"
#include "run/phases/feeding.h"
#include "run/phases/inferring.h"
#include "run/phases/run_context.h"
#include "run/phases/sides.h"
#include "vernier/status.h"

namespace vernier {

/// Before a shard's own iterations: infers iteration 0 of the undivided run where noise is measured
/// or outputs may have to be paired by their values, and of the latter as many as are looked at.
/// They are neither compared nor recorded. Does nothing where nothing is to be decided, as far as
/// the names of outputs are known before there are any, and for a generator, which would be gone
/// through twice: CheckShard() refuses what is then paired by values. Errors as
/// FeedInference::InferToDecide, FeedStream::Next, SavedStreams::Append and
/// ComparisonRun::LookAhead.
Status DecideOnWhole(const RunContext& run, const LiveSide& side, const Comparing& comparing,
                     const FeedStream& own, FeedInference& inference);

/// The same where all sides are saved outputs. kCancelled once a signal has come.
Status DecideOnSaved(const RunContext& run, const Comparing& comparing);

}  // namespace vernier
