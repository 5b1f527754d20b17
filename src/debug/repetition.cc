#include "debug/repetition.h"

#include <string>

#include "backend/worker/worker.h"
#include "debug/engine_precisions.h"
#include "run/engine/engine_build.h"

namespace vernier {

Status Repeat(const DebugTrial& trial, const RepeatUntil& until, DebugSession& session,
              Logger& log) {
  if (!session.sorts_artifacts()) {
    log.Warning(
        "`--artifacts` was not specified; No artifacts will be stored during this run! Is this "
        "what you intended?");
  }
  for (bool done = false; !done;) {
    VERNIER_ASSIGN_OR_RETURN(const bool passed, session.Passes(trial));
    done = until.Reached(session.iterations(), passed);
  }
  session.Finish();
  return {};
}

Status RepeatBuild(RunPlan build, const RepeatUntil& until, DebugSession& session, Logger& log) {
  KeepBuilder(build.runners.front());
  KeptWorkers workers;
  Embedder kept;
  kept.kept_workers = &workers;
  const auto make = [&](const std::string& path) -> Status {
    SetEngineFile(build.runners.front(), path);
    return BuildEngineFile(build, session.check().interrupted(), log, &kept).status();
  };
  return Repeat({.make = make, .may_fail = true}, until, session, log);
}

}  // namespace vernier
