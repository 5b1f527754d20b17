// The Python functions that take part in a run: where feeds come from, what changes outputs, what
// compares them.
#pragma once

#include <memory>
#include <vector>

#include "backend/worker/script_client.h"
#include "run/feeds/script_feeds.h"
#include "run/feeds/torch_draws.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Is one of the plan's decisions a script's?
bool WantsDecisions(const RunPlan& plan);

/// Whether error bounds distinguish near ties although they judge no output: for a gate of clear
/// flips, or the flips that blame searches, without a limit of their own. A shard takes them from
/// the first feed of the undivided run, which inferences of several feeds do not have by itself.
bool BoundsNearTies(const RunPlan& plan);

/// Imports the scripts of decisions, in the plan's order; null where one is not a script's. As
/// ScriptClient::Open.
Result<std::vector<std::unique_ptr<ScriptClient>>> OpenDecisions(
    const RunPlan& plan, const std::shared_ptr<Worker>& worker);

class RunScripts {
 public:
  /// Does the plan name any script that this run will call?
  static bool Wanted(const RunPlan& plan);

  /// Imports them all, so that one that cannot be imported ends the run before anything is
  /// computed. As ScriptClient::Open, ScriptFeeds::Create and
  /// TorchDraws::Open.
  static Result<RunScripts> Open(const RunPlan& plan, const std::shared_ptr<Worker>& worker,
                                 Logger& logger);

  /// Null where there is none.
  ScriptFeeds* feeds() const { return feeds_.get(); }
  FeedDrawer* draws() const { return draws_.get(); }
  ScriptClient* comparison() const { return comparison_.get(); }
  ScriptClient* postprocessing() const { return postprocessing_.get(); }
  /// Of --tokens.
  ScriptClient* tokens() const { return tokens_.get(); }
  /// In the order of the plan's decisions; null where one is not a script's. Empty: none is.
  std::vector<ScriptClient*> decisions() const;

 private:
  std::unique_ptr<ScriptFeeds> feeds_;
  std::unique_ptr<TorchDraws> draws_;
  std::unique_ptr<ScriptClient> comparison_;
  std::unique_ptr<ScriptClient> postprocessing_;
  std::unique_ptr<ScriptClient> tokens_;
  std::vector<std::unique_ptr<ScriptClient>> decisions_;
};

}  // namespace vernier
