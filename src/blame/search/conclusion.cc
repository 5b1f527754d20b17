#include "blame/search/conclusion.h"

#include <iterator>
#include <utility>
#include <vector>

#include "blame/judge/differing_weights.h"
#include "blame/judge/marked_alone.h"
#include "blame/judge/verdicts.h"
#include "blame/judge/within_bounds.h"
#include "blame/search/branch_search.h"
#include "blame/search/foreign_search.h"
#include "blame/search/output_condition.h"
#include "blame/search/unseen_outputs.h"
#include "model/rounding/error_model.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// The run before failed its tolerance, and no layer is to blame for it.
bool IsUnexplained(const BlamePlan& plan, const BlameRecord& record) {
  return !plan.failed.empty() && record.culprits.empty() && record.error.empty();
}

// Returns what is known of the bodies of layers within their bounds, for a sentence.
std::string SearchBodies(const SearchSubject& subject, const ReferenceSource& source,
                         BlameRecord& record) {
  const SearchContext& context = subject.context;
  Result<BlameGraph> reference = BlameGraph::Make(subject.models.reference);
  if (!reference.ok() || context.interrupted.load() != 0) return {};
  // Bodies are searched with workers of their own.
  subject.sides.End();
  const Investigate investigate = [&](const BlamePlan& plan) {
    return ExecuteBlame(plan, context.quiet, context.interrupted).record;
  };
  const InferOnce infer = [&](const RunnerPlan& plan, const std::vector<std::string>& outputs,
                              const TensorMap& feed) {
    return ProbeSide(plan, "a body", context.pool, context.quiet, context.clock)
        .RunOnce(outputs, feed);
  };
  const BodySearchInput input{subject, *reference, source, investigate, infer};
  SearchBranches(input, record);
  if (IsUnexplained(subject.plan, record)) return SearchBodiesWithinBounds(input, record);
  if (record.culprits.empty() && record.error.empty()) SearchBodiesThatAgree(input, record);
  return {};
}

// What the layers do not show of the outputs. Silence must not read as a pass.
void JudgeOutputs(const SearchSubject& subject, std::vector<BlameCulprit> constants,
                  BlameOutcome& outcome) {
  BlameRecord& record = outcome.record;
  if (!record.error.empty()) return;
  UnprobedOutputs& outputs = subject.unprobed.outputs;
  NoteRetypedOutputs(outputs, record);
  std::move(constants.begin(), constants.end(), std::back_inserter(record.culprits));
  if (!record.culprits.empty()) return;
  const bool all = subject.sides.reference && !subject.plan.run.lenient;
  std::string why = WhyNotAllOutputs(outputs, all, record);
  // A run that failed has said it.
  if (why.empty() && subject.plan.failed.empty()) {
    why = WhyNotOnlyTensors(subject.plan.run, subject.unprobed);
  }
  if (!why.empty()) GiveUp(std::move(why), subject.context.logger, outcome);
}

}  // namespace

void GiveUp(std::string why, Logger& logger, BlameOutcome& outcome) {
  outcome.faults.incomplete = true;
  logger.Error(why);
  outcome.record.error = std::move(why);
}

void Conclude(const SearchSubject& subject, const ReferenceSource& source, BlameOutcome& outcome) {
  BlameRecord& record = outcome.record;
  const BlameGraph& graph = subject.graph();
  record.fused_away = graph.InOrder(subject.unprobed.fused_away);
  for (const BlameLayerRecord& layer : record.layers) {
    record.compared += static_cast<int64_t>(layer.outputs.size());
  }
  std::vector<BlameCulprit> constants =
      DifferingConstants(subject.models, subject.unprobed.outputs);
  if (CoverageOf(record).elements == 0 && record.error.empty() && constants.empty()) {
    GiveUp(WhyNoVerdict(record), subject.context.logger, outcome);
  }
  const auto weights = FindDifferingWeights(subject.sides, subject.models, record);
  MarkCulprits(graph.OutputNames(), record, weights);
  if (!record.culprits.empty()) {
    NoteMarkedAlone(graph.OutputNames(), subject.unprobed.outputs.Errors(), weights, record);
  }
  std::string bodies;
  if (subject.models.reference != nullptr) {
    bodies = SearchBodies(subject, source, record);
  } else if (subject.sides.reference) {
    NameForeignTensors(record);
    bodies = SayThatBodiesAreNotSearched("a reference in another format", record);
  } else {
    DoubtInputs([&](std::string_view name) { return graph.IsInput(name); }, record);
    bodies = SayThatBodiesAreNotSearched("saved outputs", record);
  }
  JudgeOutputs(subject, std::move(constants), outcome);
  if (record.culprits.empty()) {
    std::string note = DescribeCondition(record, HasQuantisers(graph.model()));
    if (note.empty()) note = DescribeDoubt(record, weights);
    if (!note.empty()) record.notes.push_back(std::move(note));
  }
  if (IsUnexplained(subject.plan, record)) {
    const bool by_bounds = subject.plan.run.compare->tolerance.fallback == ToleranceRule::kAuto ||
                           OutputsExceedBounds(subject.unprobed.outputs, record);
    const std::string unseen = WhyNotOnlyTensors(subject.plan.run, subject.unprobed);
    record.within_bounds = DescribeWithinBounds(
        {subject.plan.failed, subject.plan.failed_by, by_bounds}, bodies, unseen, record);
  }
  if (!record.culprits.empty()) outcome.faults.mismatch = true;
}

}  // namespace vernier
