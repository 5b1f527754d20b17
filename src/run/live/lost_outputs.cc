#include "run/live/lost_outputs.h"

#include <set>
#include <string>

namespace vernier {
namespace {

// What was asked for and cannot be done to them; empty: nothing.
std::string NotDone(const RunPlan& plan, const RunOutcome& outcome) {
  if (!outcome.record.pairs.empty()) return "compared";
  if (plan.validate) return "validated";
  return plan.save.outputs.empty() ? "" : "saved";
}

}  // namespace

std::vector<LostOutputs> LostOutputsOf(const InferenceScheduler& live) {
  std::vector<LostOutputs> lost;
  for (size_t i = 0; i < live.size() && !live.any_marked(); ++i) {
    lost.push_back({live[i].name(), live[i].skipped().lost()});
  }
  return lost;
}

// No side hands them out, and that the rest agrees says nothing of them.
void NoteLostOutputs(const RunPlan& plan, std::span<const LostOutputs> lost, RunOutcome& outcome) {
  const std::string what = NotDone(plan, outcome);
  if (what.empty()) return;
  std::set<std::string> known;
  for (const auto& [runner, outputs] : lost) {
    if (outputs.empty()) continue;
    for (PairRecord& pair : outcome.record.pairs) {
      pair.incomplete |= pair.first == runner || pair.second == runner;
    }
    (what == "saved" ? outcome.faults.unsaved : outcome.faults.incomplete) = true;
    for (const SkippedOutput& output : outputs) {
      if (!known.insert(output.name).second) continue;
      outcome.record.faults.push_back("output '" + output.name + "' was not " + what + ": it is " +
                                      output.why +
                                      (plan.shard.wanted() ? "" : " (--lenient accepts that)"));
    }
  }
}

}  // namespace vernier
