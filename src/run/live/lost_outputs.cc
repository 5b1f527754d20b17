#include "run/live/lost_outputs.h"

#include <set>
#include <string>

namespace vernier {

// No side hands them out, and that the rest agrees says nothing of them.
void NoteLostOutputs(const LiveRuns& live, std::string_view what, RunOutcome& outcome) {
  if (live.any_marked()) return;
  std::set<std::string> known;
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i].lost().empty()) continue;
    for (PairRecord& pair : outcome.record.pairs) {
      pair.incomplete |= pair.first == live[i].name() || pair.second == live[i].name();
    }
    for (const SkippedOutput& output : live[i].lost()) {
      if (!known.insert(output.name).second) continue;
      outcome.faults.incomplete = true;
      outcome.record.faults.push_back("output '" + output.name + "' was not " + std::string(what) +
                                      ": it is " + output.why + " (--lenient accepts that)");
    }
  }
}

}  // namespace vernier
