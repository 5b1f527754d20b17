#include "blame/sides/search_sides.h"

#include <deque>
#include <utility>
#include <vector>

namespace vernier {

Status SearchContext::CheckInterrupted() const {
  return interrupted.load() == 0 ? Status() : Cancelled("interrupted");
}

const std::string& SearchSides::ReferenceName() const {
  return reference ? reference->plan().name : saved.runs()[places.saved].name;
}

void SearchSides::Start() {
  if (reference) reference->Start();
  candidate.Start();
  alone.Start();
}

void SearchSides::End() {
  if (reference) reference->End();
  candidate.End();
  alone.End();
}

Result<SearchSides> OpenSides(const BlamePlan& plan, const SearchContext& context) {
  VERNIER_TRY(CheckSides(plan.run, plan.reference));
  VERNIER_ASSIGN_OR_RETURN(SavedRuns saved, SavedRuns::Open(plan.run, LoadRule::kOutputs));
  std::vector<std::string> names;
  for (const SavedRuns::Run& run : saved.runs()) names.push_back(run.name);
  std::deque<ProbeSide> runners;
  for (const RunnerPlan& runner : plan.run.runners) {
    runners.emplace_back(runner, "", context.pool, context.quiet, context.clock);
  }
  VERNIER_ASSIGN_OR_RETURN(const Sides places, ChooseSides(plan.run, names, plan.reference, [&] {
                             return ReferenceRanks(runners);
                           }));
  auto conversions = std::make_shared<ModelConversions>(context.pool, context.logger);
  std::optional<ProbeSide> reference;
  if (places.reference && IsForeign(plan.run.runners[*places.reference])) {
    const RunnerPlan& given = plan.run.runners[*places.reference];
    VERNIER_ASSIGN_OR_RETURN(
        const RunnerPlan opened,
        WithInnerTensors(given, *conversions).Annotate("'" + given.name + "'"));
    reference.emplace(opened, "", context.pool, context.quiet, context.clock);
  } else if (places.reference) {
    reference.emplace(std::move(runners[*places.reference]));
  }
  return SearchSides{places,
                     std::move(saved),
                     std::move(reference),
                     std::move(runners[places.candidate]),
                     ProbeSide(plan.run.runners[places.candidate], "layers alone", context.pool,
                               context.quiet, context.clock),
                     std::move(conversions)};
}

Result<SearchModels> ReadModels(const SearchSides& sides) {
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const OnnxModel> model, sides.candidate.ReadModel());
  VERNIER_ASSIGN_OR_RETURN(BlameGraph graph, BlameGraph::Make(model));
  if (!sides.reference || sides.HasForeignReference()) {
    return SearchModels{std::move(graph), nullptr};
  }
  const bool same = sides.reference->plan().model.path == sides.candidate.plan().model.path;
  if (!same) {
    VERNIER_ASSIGN_OR_RETURN(model, sides.reference->ReadModel());
  }
  return SearchModels{std::move(graph), std::move(model)};
}

}  // namespace vernier
