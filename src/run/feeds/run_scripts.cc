#include "run/feeds/run_scripts.h"

#include <algorithm>

#include "run/feeds/calibration_feeds.h"
#include "run/feeds/token_sources.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

bool WantsFeeds(const RunPlan& plan) { return plan.inputs.script.given() && !plan.runners.empty(); }

bool WantsDraws(const RunPlan& plan) {
  return plan.inputs.torch_numbers && !plan.inputs.script.given() &&
         plan.inputs.load_paths.empty() && !plan.runners.empty();
}

// Sessions of decisions are numbered from here on.
constexpr uint64_t kDecisionSession = 1000;

}  // namespace

bool WantsDecisions(const RunPlan& plan) {
  return std::ranges::any_of(plan.decisions.decisions, [](const DecisionPlan& decision) {
    return decision.kind == DecisionKind::kScript;
  });
}

bool BoundsNearTies(const RunPlan& plan) {
  const DecisionOptions& options = plan.decisions;
  const bool wanted = options.max_clear_flips || (plan.blame && plan.blame->on_flips);
  return wanted && !options.near_tie && plan.execution.batch_feeds <= 1;
}

bool RunScripts::Wanted(const RunPlan& plan) {
  return WantsFeeds(plan) || WantsDraws(plan) || plan.compare_script.given() ||
         plan.postprocess_script.given() || ScriptOfTokens(plan.compare->tokens) ||
         WantsDecisions(plan);
}

Result<std::vector<std::unique_ptr<ScriptClient>>> OpenDecisions(
    const RunPlan& plan, const std::shared_ptr<Worker>& worker) {
  std::vector<std::unique_ptr<ScriptClient>> clients;
  for (const DecisionPlan& decision : plan.decisions.decisions) {
    std::unique_ptr<ScriptClient>& client = clients.emplace_back();
    if (decision.kind != DecisionKind::kScript) continue;
    VERNIER_ASSIGN_OR_RETURN(
        client, ScriptClient::Open(worker, kDecisionSession + clients.size(), ScriptRole::kDecision,
                                   {decision.script, decision.function}));
  }
  return clients;
}

Result<RunScripts> RunScripts::Open(const RunPlan& plan, const std::shared_ptr<Worker>& worker,
                                    Logger& logger) {
  const auto open = [&](const ScriptFunction& script, ScriptRole role) {
    return ScriptClient::Open(worker, static_cast<uint64_t>(role), role,
                              {script.path, script.function});
  };
  RunScripts scripts;
  if (WantsFeeds(plan)) {
    VERNIER_ASSIGN_OR_RETURN(auto loader, open(plan.inputs.script, ScriptRole::kFeeds));
    // Calibration goes through all feeds before the first is run.
    const bool calibrated =
        std::any_of(plan.runners.begin(), plan.runners.end(), AsksForCalibration);
    // Of the undivided run's first feed.
    const bool decides = plan.shard.wanted() && (plan.noise_floor || BoundsNearTies(plan));
    const bool again =
        plan.execution.sequential || plan.execution.warm_up > 0 || calibrated || decides;
    VERNIER_ASSIGN_OR_RETURN(
        scripts.feeds_,
        ScriptFeeds::Create(std::move(loader), again ? FeedReuse::kAgain : FeedReuse::kOnce));
  }
  if (WantsDraws(plan)) {
    const Strictness strictness = plan.lenient ? Strictness::kPolygraphy : Strictness::kStrict;
    VERNIER_ASSIGN_OR_RETURN(scripts.draws_, TorchDraws::Open(worker, strictness, logger));
  }
  if (plan.compare_script.given()) {
    VERNIER_ASSIGN_OR_RETURN(scripts.comparison_,
                             open(plan.compare_script, ScriptRole::kComparison));
  }
  if (plan.postprocess_script.given()) {
    VERNIER_ASSIGN_OR_RETURN(scripts.postprocessing_,
                             open(plan.postprocess_script, ScriptRole::kPostprocessing));
  }
  if (const auto tokens = ScriptOfTokens(plan.compare->tokens)) {
    VERNIER_ASSIGN_OR_RETURN(scripts.tokens_, open(*tokens, ScriptRole::kTokens));
  }
  if (WantsDecisions(plan)) {
    VERNIER_ASSIGN_OR_RETURN(scripts.decisions_, OpenDecisions(plan, worker));
  }
  return scripts;
}

std::vector<ScriptClient*> RunScripts::decisions() const {
  std::vector<ScriptClient*> clients;
  for (const auto& client : decisions_) clients.push_back(client.get());
  return clients;
}

}  // namespace vernier
