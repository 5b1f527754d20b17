// What the outputs of an iteration decide.
#include <utility>
#include <vector>

#include "run/comparison/comparison_run.h"
#include "run/parts/kept_labels.h"

namespace vernier {

// Decisions are about what runners gave, so that has to stay where it is post-processed. Empty: it
// is not.
IterationOutputs ComparisonRun::OutputsToDecide(const IterationOutputs& outputs) const {
  const PerOutput<TopK>& top = plan_->postprocess;
  const bool processed =
      parts_.scripts.postprocessing != nullptr || top.fallback || !top.entries.empty();
  const bool wanted = processed && !plan_->decisions.decisions.empty();
  return wanted ? outputs : IterationOutputs();
}

Result<std::vector<DecisionRow>> ComparisonRun::DecidePair(Pair& pair, int64_t iteration,
                                                           const IterationOutputs& outputs,
                                                           const IterationComparison* comparison) {
  if (plan_->decisions.decisions.empty()) return std::vector<DecisionRow>();
  VERNIER_ASSIGN_OR_RETURN(
      MatchedSides sides,
      pair.matching.Match(*outputs[pair.first], *outputs[pair.second], detail_.device));
  step_sides_.FitWholeSequences(pair, sides);
  step_sides_.LeaveOutStates(pair, sides);
  const int64_t step = parts_.steps == nullptr ? 0 : parts_.steps->timeline().Of(iteration).step;
  const auto bounds = [&]() -> const ErrorBounds& {
    return bounds_.ties->For(pair.first, pair.second, sides.a().outputs, sides.b().outputs,
                             sides.RenamedPairs());
  };
  const bool bounded = bounds_.ties != nullptr && bounds_.ties->KnowsGraph(pair.first, pair.second);
  const PairErrorBounds* const of_pair =
      bounds_.elements != nullptr ? bounds_.elements : bounds_.ties;
  DecidedSides given{sides, comparison, detail_.device, parts_.scripts.decisions, {}};
  if (bounded) given.bounds = bounds;
  if (of_pair != nullptr) given.firm = of_pair->AreFirm(pair.first, pair.second);
  VERNIER_ASSIGN_OR_RETURN(std::vector<ShardDecided> decided,
                           pair.decisions.Decide(iteration, given));
  if (parts_.shard != nullptr) {
    if (parts_.labels != nullptr) {
      label_keeper_.Keep(*parts_.labels, plan_->decisions, iteration, sides, decided);
    }
    KeepExtras(decided);
    parts_.shard->KeepDecisions(decided);
    if (parts_.labels != nullptr) {
      LabelKeeper::LabelRows(*parts_.labels, plan_->decisions, iteration, sides, decided);
    }
  }
  return pair.decisions.Fold(iteration, step, std::move(decided), &sides);
}

// Feeds may be read ahead: the image is the one of this iteration, not the last. All steps of a
// sequence are made from one.
void ComparisonRun::NoteImage(int64_t iteration, int64_t place, const ImageFeeds* images) const {
  if (images == nullptr) return;
  const int64_t feed =
      parts_.steps == nullptr ? place : parts_.steps->timeline().Of(place).sequence;
  const auto at = static_cast<size_t>(feed);
  if (at >= images->names().size()) return;  // then the sample has no label, which is said
  FedFile file = images->FileOf(feed);
  if (parts_.labels != nullptr) {
    parts_.labels->NoteFile(iteration, file, parts_.steps != nullptr);
    parts_.labels->NoteImage(iteration, {file.name, images->sizes()[at]}, images->recipe());
  }
  if (parts_.shard != nullptr) {
    parts_.shard->NoteImage(
        *images, {file.name, parts_.labels == nullptr ? std::vector<ShardPlacement>()
                                                      : parts_.labels->PlacementsOf(iteration)});
  }
  if (parts_.rows != nullptr && parts_.steps == nullptr)
    parts_.rows->NoteFile(iteration, std::move(file));
}

}  // namespace vernier
