#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "util/text/split_text.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

constexpr NumberRule kWorkerCount = {
    .expected = "a number from 1 to 64", .least = 1, .most = kMostWorkersPerRunner};

constexpr NumberRule kFeedCount = {
    .expected = "a number from 1 to 65536", .least = 1, .most = kMostBatchFeeds};

Status SetDevices(const OptionInput& input, ExecutionPlan& execution) {
  execution.devices = SplitAt(TextOf(input), ',');
  if (!execution.devices.empty()) return {};
  return InvalidArgument("--devices: expected cuda:0,cuda:1,... or all, got ''");
}

OptionWords DeviceWords(const OptionRow& /*row*/, const ExecutionPlan& execution) {
  if (execution.devices.empty()) return {};
  return {{Joined(execution.devices, ",")}};
}

constexpr OptionRow kReplicas[] = {
    {.flags = {"--workers-per-runner"},
     .dest = "workers_per_runner",
     .sets = Sets<&ExecutionPlan::workers_per_runner>(kWorkerCount),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "1",
     .metavar = "N",
     .help = "Open every runner in N workers, which infer N iterations at the same time. Results"
             " are compared and saved in order. Each worker uses 1/N of the processors, unless"
             " options or --env set the threads; with the same number of threads, one worker saves"
             " the same data, except for times.",
     .origin = Origin::kOurs,
     .spelled_out = true},
    {.flags = {"--devices"},
     .dest = "devices",
     .sets = SetBy<&SetDevices, &DeviceWords>(),
     .arity = Arity::kOne,
     .metavar = "LIST",
     .help = "Open every runner once on each of these GPUs: cuda:0,cuda:1,... or all. Iterations go"
             " to them in turn; with --workers-per-runner N each GPU has N workers of a runner."
             " Each worker sees only its own GPU. A runner's own options decide whether it computes"
             " on a GPU.",
     .origin = Origin::kOurs,
     .spelled_out = true},
    {.flags = {"--batch-feeds"},
     .dest = "batch_feeds",
     .sets = Sets<&ExecutionPlan::batch_feeds>(kFeedCount),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "1",
     .metavar = "N",
     .help = "Infer N consecutive feeds at once, concatenated along the first dimension of the"
             " inputs, which must be dynamic. Outputs are split by rows, and compared and saved as"
             " single iterations; each counts 1/N of the time. The last inference may have fewer"
             " feeds. Results may differ from those of single feeds in their last bits. To run"
             " many models, see `vernier batch`.",
     .origin = Origin::kOurs,
     .spelled_out = true},
};

}  // namespace

OptionGroup ReplicaGroup() {
  return {"Workers", "the processes that the frameworks run in", kReplicas};
}

}  // namespace vernier
