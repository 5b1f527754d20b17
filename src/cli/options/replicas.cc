#include "cli/option_values.h"
#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr NumberRule kWorkerCount = {
    .expected = "a number from 1 to 64", .least = 1, .most = kMostWorkersPerRunner};

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
};

}  // namespace

OptionGroup ReplicaGroup() {
  return {"Workers", "the processes that the frameworks run in", kReplicas};
}

}  // namespace vernier
