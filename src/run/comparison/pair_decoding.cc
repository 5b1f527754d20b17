#include "run/comparison/pair_decoding.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "compare/functions/metric_table.h"
#include "run/figures/logits_total_gate.h"
#include "run/steps/greedy_tokens.h"

namespace vernier {
namespace {

// Does what passed say something of each class, or of the largest? Metrics of the whole do not.
bool JudgesClasses(const OutputComparison& output) {
  return std::ranges::any_of(output.functions, [](const FunctionResult& result) {
    if (result.function == CompareFunction::kLogits) return true;
    const MetricRow* const metric = FindMetric(result.function);
    if (metric != nullptr) return metric->needs == MetricNeeds::kUlp;  // of the worst element
    const auto* const simple = std::get_if<SimpleResult>(&result.data);
    if (simple == nullptr) return result.function == CompareFunction::kScript;
    return simple->bound || std::ranges::any_of(simple->required, [](const auto& required) {
             return required.stat == ErrorStat::kElemwise || required.stat == ErrorStat::kMax;
           });
  });
}

// Do nothing but the means of --compare logits fail, of values that are numbers?
bool FailsByMeans(const OutputComparison& output) {
  const auto* const logits = output.FindData<LogitsResult>(CompareFunction::kLogits);
  if (logits == nullptr || !OnlyLogitsFail(output)) return false;
  return logits->measures.nan + logits->measures.infinite + logits->measures.torn == 0;
}

// The tokens that all prompts of a step are fed with behind it; nullopt: none are given.
std::optional<std::vector<int64_t>> GivenBehind(const Decoding& decoding,
                                                const StepPosition& position,
                                                const Tensor* logits) {
  if (decoding.given() == nullptr || logits == nullptr || logits->dims().empty()) {
    return std::nullopt;
  }
  const int64_t batch = logits->dims().front();
  auto behind = decoding.given()->Behind(position, batch);
  if (behind.ok() && *behind) return **std::move(behind);
  return std::vector<int64_t>(static_cast<size_t>(batch), kNoChoice);
}

}  // namespace

PairTokens MakePairTokens(const RunPlan& plan, const StepStates* steps, bool by_script) {
  const bool given = steps != nullptr && steps->given_tokens() != nullptr;
  return PairTokens(plan.steps, given, by_script);
}

void NoteTokens(const StepStates& steps, int64_t iteration, const IterationOutputs& outputs,
                const FeedMarks& feeds, std::vector<ComparedPair>& pairs) {
  const Decoding* const decoding = steps.decoding();
  if (decoding == nullptr) return;
  const StepPosition position = steps.timeline().Of(iteration);
  for (ComparedPair& pair : pairs) {
    if (!outputs[pair.first] || !outputs[pair.second]) continue;
    const bool after = pair.tokens.IsAfterDivergence(position) || pair.tokens.IsAfterEnd(position);
    if (!after && pair.HasOtherInputs(feeds)) continue;
    // A side that was loaded has the names of the other.
    const TokenPair* first = decoding->PairOf(pair.first);
    const TokenPair* second = decoding->PairOf(pair.second);
    if (first == nullptr) first = second;
    if (second == nullptr) second = first;
    if (first == nullptr) continue;
    // With --state reference, all are fed with the tokens of the first runner, in each pair.
    const TokenPair* const fed = decoding->PairOf(0);
    const bool has_fed = fed != nullptr && outputs.front();
    pair.tokens.Note(
        iteration, position, first->logits,
        {Find(outputs[pair.first]->outputs, first->logits),
         Find(outputs[pair.second]->outputs, second->logits),
         has_fed ? Find(outputs.front()->outputs, fed->logits) : nullptr,
         GivenBehind(*decoding, position, Find(outputs[pair.first]->outputs, first->logits))});
  }
}

void JudgeStepTokens(const StepStates& steps, int64_t iteration,
                     const IterationComparison& comparison, ComparedPair& pair) {
  const Decoding* const decoding = steps.decoding();
  if (decoding == nullptr) return;
  const TokenPair* first = decoding->PairOf(pair.first);
  if (first == nullptr) first = decoding->PairOf(pair.second);
  if (first == nullptr) return;
  const auto logits =
      std::ranges::find(comparison.outputs, first->logits, &OutputComparison::a_name);
  if (logits == comparison.outputs.end()) return pair.tokens.Judge(iteration, std::nullopt);
  // What a mean over the classes or positions of one step says is no matter of two tokens.
  const bool by_means = !logits->passed() && FailsByMeans(*logits);
  pair.tokens.Judge(iteration,
                    {{logits->passed() || by_means, !by_means && JudgesClasses(*logits)}});
}

}  // namespace vernier
