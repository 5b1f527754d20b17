#include "run/engine/shared_timings.h"

#include <string_view>
#include <utility>

#include "run/runner/engine_use.h"
#include "run/runner/resolve_runner.h"

namespace vernier {
namespace {

constexpr std::string_view kCommandTimings = "command_timings";

bool KeepsTimings(const RunnerPlan& runner) {
  return BuildsEngines(runner.backend) && runner.place != RunnerPlace::kPython &&
         !HasOption(runner, "save_tactics") && !HasOption(runner, "load_tactics");
}

}  // namespace

std::optional<ScratchFolder> ShareTimings(std::span<RunnerPlan> runners) {
  std::optional<ScratchFolder> folder;
  for (RunnerPlan& runner : runners) {
    if (!KeepsTimings(runner) || HasOption(runner, kCommandTimings)) continue;
    if (!HasOption(runner, "keep_timings")) {
      runner.session_options.emplace_back("keep_timings", "1");
    }
    if (HasOption(runner, "timing_cache_dir")) continue;
    if (!folder) {
      Result<ScratchFolder> made = ScratchFolder::Create();
      if (!made.ok()) continue;
      folder = *std::move(made);
    }
    runner.session_options.emplace_back(kCommandTimings, folder->path() + "/timings");
  }
  return folder;
}

}  // namespace vernier
