// Of steps: whether its history explains what the second side of a pair gives (--state cross).
#include <algorithm>
#include <iterator>
#include <utility>

#include "compare/shared_non_finite.h"
#include "run/comparison/comparison_run.h"
#include "run/figures/output_row.h"

namespace vernier {

// The second side against what the first makes of its state.
Status ComparisonRun::AddCrossed(Pair& pair, int64_t iteration, const IterationOutputs& outputs,
                                 const IterationComparison& comparison) {
  const StepPosition position = parts_.steps->timeline().Of(iteration);
  const auto add = [&](const IterationComparison& crossed) {
    std::vector<OutputRow> rows;
    std::ranges::transform(crossed.outputs, std::back_inserter(rows), MakeOutputRow);
    for (size_t i = 0; i < rows.size(); ++i) {
      // NaN and infinities that both make of one state fail by its own states; this step is not to
      // blame.
      const bool failed = rows[i].verdict == "failed";
      if (failed && FailsAlike(crossed.outputs[i])) rows[i].verdict = "passed";
    }
    pair.crossed.Add(position, crossed, rows);
  };
  if (position.step == 0) {  // both have the first state
    add(comparison);
    return {};
  }
  const IterationResult& second = *outputs[pair.second];
  IterationResult first = *outputs[pair.first];
  VERNIER_ASSIGN_OR_RETURN(const MatchedSides plain,
                           pair.matching.Match(first, second, detail_.device));
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> made,
                           crossing_->Infer(pair.first, pair.second, plain, iteration));
  if (!made) return {};
  first.outputs = *std::move(made);
  VERNIER_TRY(PostprocessOne(iteration, first));
  VERNIER_ASSIGN_OR_RETURN(MatchedSides sides, pair.matching.Match(first, second, detail_.device));
  // States, too: a state of this step that is wrong shows in no later step of this kind.
  const std::vector<std::string> no_logits = step_sides_.TakeNoLogits(pair, sides);
  VERNIER_ASSIGN_OR_RETURN(IterationComparison crossed,
                           CompareMatched(pair, iteration, outputs, sides));
  step_sides_.DropNoLogits(pair, no_logits, crossed);
  add(crossed);
  return {};
}

}  // namespace vernier
