#include "session/plan/plan_batches.h"

#include <string>
#include <string_view>
#include <vector>

#include "run/feeds/image_feeds.h"

namespace vernier {
namespace {

struct BatchConflict {
  bool given;
  std::string_view flag;
  std::string_view why;
};

// Images that cannot be read are left out, and those behind them move up: where a shard begins,
// that is not known.
Status CheckBatchedShards(const RunPlan& plan) {
  const Result<std::vector<std::string>> images = FindImages(plan.inputs);
  if (!images.ok() || images->empty()) return {};
  return InvalidArgument(
      "--batch-feeds and --shard cannot go with images, of which some may have to be left out: "
      "write them as tensors with --save-inputs first");
}

}  // namespace

Status CheckBatchFeeds(const RunPlan& plan) {
  const ExecutionPlan& execution = plan.execution;
  const int64_t feeds = execution.batch_feeds;
  if (feeds < 1 || feeds > kMostBatchFeeds) {
    return InvalidArgument("--batch-feeds: expected a number from 1 to " +
                           std::to_string(kMostBatchFeeds) + ", got " + std::to_string(feeds));
  }
  if (feeds == 1) return {};
  const BatchConflict conflicts[] = {
      {plan.runners.empty(), "saved outputs alone", "nothing is inferred"},
      {plan.steps.wanted(), "--steps, --feed-back or --decode",
       "a state goes from each iteration to the next"},
      {plan.noise_floor, "--noise-floor", "noise is measured between inferences of single feeds"},
      {execution.sequential, "--sequential-runners",
       "run each runner by itself with --save-outputs, and compare what they saved"},
      {execution.in_process, "--in-process", "every runner has a process of its own"},
      {execution.parallel, "--parallel",
       "runners infer one after another, while outputs are compared; --workers-per-runner lets "
       "several inferences run at once"}};
  for (const auto& [given, flag, why] : conflicts) {
    if (!given) continue;
    return InvalidArgument("--batch-feeds cannot go with " + std::string(flag) + ": " +
                           std::string(why));
  }
  return plan.shard.wanted() ? CheckBatchedShards(plan) : Status();
}

}  // namespace vernier
