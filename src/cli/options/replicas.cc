#include "cli/option_values.h"
#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr NumberRule kWorkerCount = {
    .expected = "a number from 1 to 64", .least = 1, .most = kMostWorkersPerRunner};

constexpr NumberRule kFeedCount = {
    .expected = "a number from 1 to 65536", .least = 1, .most = kMostBatchFeeds};

constexpr OptionRow kReplicas[] = {
    {.flags = {"--workers-per-runner"},
     .dest = "workers_per_runner",
     .sets = Sets<&ExecutionPlan::workers_per_runner>(kWorkerCount),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "1",
     .metavar = "N",
     .help = "Open every runner in N workers, so that N iterations are inferred at the same time."
             " Results are compared and saved in order. Each worker computes with an Nth of the"
             " processors, unless options or --env name the threads; with the same threads all"
             " that is saved is the same as with one worker, but for times.",
     .origin = Origin::kOurs,
     .spelled_out = true},
    {.flags = {"--batch-feeds"},
     .dest = "batch_feeds",
     .sets = Sets<&ExecutionPlan::batch_feeds>(kFeedCount),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "1",
     .metavar = "N",
     .help = "Infer N consecutive feeds at once, put together along the first dimension of the"
             " inputs, which must be free. Outputs are divided by rows, and compared and saved as"
             " single iterations; each has an Nth of the time. The last inference may have fewer"
             " feeds. Runtimes may compute other bits than with single feeds. `vernier batch` runs"
             " many models.",
     .origin = Origin::kOurs,
     .spelled_out = true},
};

}  // namespace

OptionGroup ReplicaGroup() {
  return {"Workers", "the processes that the frameworks run in", kReplicas};
}

}  // namespace vernier
