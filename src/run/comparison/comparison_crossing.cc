// Of steps: whether its history explains what the second side of a pair gives (--state cross): the
// first infers the step once more, with the second's state.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/functions/shared_non_finite.h"
#include "run/comparison/comparison_run.h"
#include "run/figures/output_row.h"
#include "run/live/side_inference.h"

namespace vernier {
namespace {

// A runner that has another state than its own for this step, as long as this is there.
class LentState {
 public:
  LentState(StepStates& steps, size_t runner, TensorMap state)
      : steps_(steps), runner_(runner), own_(steps.ExchangeState(runner, std::move(state))) {}
  ~LentState() { steps_.ExchangeState(runner_, std::move(own_)); }
  LentState(const LentState&) = delete;
  LentState& operator=(const LentState&) = delete;

 private:
  StepStates& steps_;
  const size_t runner_;
  TensorMap own_;
};

// What the pair's first stream gives for the feed of this iteration with the state of its second;
// `sides` are the outputs of both. nullopt where either is no runner that is still there, and where
// the state of the iteration is gone. kInvalidArgument for a state of the first that no state of
// the second is compared with; other errors as InferAside(). `lent`: that state, which it then has.
Result<std::optional<TensorMap>> InferCrossed(InferenceScheduler& live, const ComparedPair& of,
                                              const MatchedSides& sides, int64_t iteration,
                                              std::optional<LentState>& lent) {
  StepStates& steps = *live.steps();
  const auto is_there = [&](size_t stream) { return stream < live.size() && live[stream].alive(); };
  if (!is_there(of.first) || !is_there(of.second) || !steps.AtHand(iteration)) {
    return std::optional<TensorMap>();
  }
  std::vector<std::pair<std::string, std::string>> met;
  for (const OutputPair& pair : sides.pairing.pairs) {
    met.emplace_back(sides.a().outputs[pair.a].name, sides.b().outputs[pair.b].name);
  }
  std::string note;
  VERNIER_ASSIGN_OR_RETURN(TensorMap state, steps.StateFor(of.first, of.second, met, note));
  if (!note.empty()) live.reports().NoteOnce(note);
  lent.emplace(steps, of.first, std::move(state));
  Result<TensorMap> made = InferAside(live, of.first, steps.feed(), iteration);
  if (!made.ok()) {
    // A runner that has failed has it in its record.
    const bool cancelled = made.status().code() == StatusCode::kCancelled;
    if (!live[of.first].alive() && !cancelled) return std::optional<TensorMap>();
    // The second's state is none for the first: an id that its table has no row for.
    if (made.status().code() == StatusCode::kBackend) {
      live.reports().NoteOnce("--state cross: " + live[of.first].name() + " " +
                              made.status().message() + "; that step is not crossed");
      return std::optional<TensorMap>();
    }
    return made.status();
  }
  return std::optional<TensorMap>(*std::move(made));
}

}  // namespace

// Both sides have one state, so rounding moves it as it moves inputs.
Result<IterationComparison> ComparisonRun::CompareCrossed(const Pair& pair,
                                                          const ComparedStep& step,
                                                          const MatchedSides& sides) {
  if (bounds_.recheck && !bounds_.of_crossed) {
    bounds_.of_crossed =
        std::make_unique<BoundRecheck>(*crossing_, *bounds_.elements, BoundRecheck::State::kMoves);
  }
  std::swap(bounds_.recheck, bounds_.of_crossed);
  Result<IterationComparison> crossed = CompareMatched(pair, step, sides);
  std::swap(bounds_.recheck, bounds_.of_crossed);
  return crossed;
}

// The second side against what the first makes of its state.
Status ComparisonRun::AddCrossed(Pair& pair, const ComparedStep& step,
                                 const IterationComparison& comparison) {
  const StepPosition position = parts_.steps->timeline().Of(step.iteration);
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
  const IterationResult& second = *step.outputs[pair.second];
  IterationOutputs outputs = step.outputs;
  IterationResult& first = *outputs[pair.first];
  VERNIER_ASSIGN_OR_RETURN(const MatchedSides plain,
                           pair.matching.Match(first, second, detail_.device));
  std::optional<LentState> lent;
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> made,
                           InferCrossed(*crossing_, pair, plain, step.iteration, lent));
  if (!made) return {};
  first.outputs = *std::move(made);
  VERNIER_TRY(PostprocessOne(step.iteration, first));
  VERNIER_ASSIGN_OR_RETURN(MatchedSides sides, pair.matching.Match(first, second, detail_.device));
  // States, too: a state of this step that is wrong shows in no later step of this kind.
  const std::vector<std::string> no_logits = step_sides_.TakeNoLogits(pair, sides);
  VERNIER_ASSIGN_OR_RETURN(IterationComparison crossed,
                           CompareCrossed(pair, {step.iteration, outputs, step.detail}, sides));
  step_sides_.DropNoLogits(pair, no_logits, crossed);
  add(crossed);
  return {};
}

}  // namespace vernier
