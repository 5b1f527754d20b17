// The feeds of a plan, with the scripts that they may come from.
#pragma once

#include <memory>
#include <span>

#include "run/feeds/feed_stream.h"
#include "run/feeds/run_scripts.h"
#include "run/workers/worker_pool.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

struct PlanFeeds {
  RunScripts scripts;  ///< outlives what reads from it
  std::unique_ptr<FeedStream> stream;
};

/// `inputs` are those of the runner that random feeds are made for; scripts run in a worker of
/// `pool`. Errors of RunScripts::Open and FeedStream::Open.
Result<PlanFeeds> OpenFeeds(const RunPlan& plan, std::span<const TensorInfo> inputs,
                            WorkerPool& pool, Logger& logger);

/// The first of them; no other is made or read. kMalformed where there is none, else errors of
/// OpenFeeds and FeedStream::Next.
Result<TensorMap> OpenFirstFeed(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                WorkerPool& pool, Logger& logger);

}  // namespace vernier
