#include "session/plan/plan_shard.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "run/live/pair_error_bounds.h"
#include "run/runner/engine_use.h"
#include "session/plan/step_flag.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

struct ShardConflict {
  bool given;
  std::string_view flag;
  std::string_view why;
};

// Each shard would build one of its own, which need not compute the same.
const RunnerPlan* FindBuilt(const RunPlan& plan) {
  const auto built = std::ranges::find_if(plan.runners, BuildsEngine);
  return built == plan.runners.end() ? nullptr : &*built;
}

// A bound that a run finds on its way cannot be the same in every shard, but one that is measured
// on iteration 0 can.
std::string_view WhatToDoForAuto(const RunPlan& plan) {
  if (plan.runners.empty()) {
    return "decisions depend on earlier iterations, and of saved outputs nothing can be "
           "measured again: leave out --shard, or give tolerances (--atol, --rtol)";
  }
  if (plan.execution.batch_feeds > 1) {
    return "decisions depend on earlier iterations; add --noise-floor, which decides on "
           "iteration 0, and leave out --batch-feeds, which it cannot go with";
  }
  return "decisions depend on earlier iterations; add --noise-floor, which decides on "
         "iteration 0";
}

Status CheckWhole(const RunPlan& plan) {
  const SavePlan& save = plan.save;
  const PicturePlan& pictures = plan.pictures;
  constexpr std::string_view kEarlier = "decisions depend on earlier iterations";
  constexpr std::string_view kWhole = "it needs all iterations in one place";
  constexpr std::string_view kSteps =
      "a state goes from each iteration to the next; start a run of its own for some of the "
      "sequences on each machine, with their inputs (--load-inputs), or drawn with another --seed";
  const bool pictured = !pictures.heatmaps.empty() || !pictures.error_plots.empty() ||
                        pictures.show_heatmaps || pictures.show_error_plots;
  const ShardConflict conflicts[] = {
      {plan.lenient, "--lenient", "merging is strict about what is missing"},
      {plan.steps.wanted(), FlagOf(plan.steps), kSteps},
      {PairErrorBounds(plan.compare).wanted() && !plan.noise_floor, "--tolerance auto",
       WhatToDoForAuto(plan)},
      {plan.compare->fail_fast && !plan.decisions.save_flips.empty(),
       "--save-flips and --fail-fast",
       "a shard may keep flips of iterations that the whole run would not reach"},
      {plan.validate, "--validate", "it ends a run at the first output that is not finite"},
      {plan.postprocess.fallback || !plan.postprocess.entries.empty(), "--postprocess", kEarlier},
      {plan.postprocess_script.given(), "--postprocess-func-script", kWhole},
      {plan.compare_script.given(), "--compare-func-script", kWhole},
      {plan.execution.sequential, "--sequential-runners", "give --shard instead"},
      {!save.accuracy.empty(), "--save-accuracy-results", kWhole},
      {!save.input_blobs.empty(), "--save-input-blob", kWhole},
      {pictured, "pictures", kWhole},
      {plan.blame.has_value(), "--blame",
       "findings of blame cannot be merged: blame an iteration that failed, once the parts are"
       " merged"}};
  for (const auto& [given, flag, why] : conflicts) {
    if (!given) continue;
    return InvalidArgument("--shard cannot go with " + std::string(flag) + ": " + std::string(why));
  }
  return {};
}

}  // namespace

Status CheckShard(const RunPlan& plan) {
  const ShardPlan& shard = plan.shard;
  if (shard.number == 0) return {};
  if (shard.number < 1 || shard.number > shard.count || shard.count > kMostShards) {
    return InvalidArgument("--shard: expected K/N with 1 <= K <= N, got '" +
                           std::to_string(shard.number) + "/" + std::to_string(shard.count) + "'");
  }
  if (plan.save.record.empty()) {
    return InvalidArgument(
        "--shard: there would be no part for `vernier merge`: name it with --save-record");
  }
  VERNIER_TRY(CheckWhole(plan));
  const RunnerPlan* built = FindBuilt(plan);
  if (built == nullptr) return {};
  return InvalidArgument("--shard: runner '" + built->name + "' would build an engine in every " +
                         "shard: make it first with `vernier run " + built->model.path +
                         " --trt --save-engine FILE`, and give FILE with --model-type engine");
}

}  // namespace vernier
