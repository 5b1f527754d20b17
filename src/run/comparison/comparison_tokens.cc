// The tokens that runners chose (--decode): up to which step they are compared, and what it means
// for the end of a run that they part.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "compare/metric_table.h"
#include "run/comparison/comparison_run.h"
#include "run/steps/greedy_tokens.h"
#include "util/counted.h"
#include "util/number_text.h"

namespace vernier {
namespace {

std::string TokenInWords(int64_t token) {
  return token == kNoChoice ? "none (NaN)" : std::to_string(token);
}

std::string DescribeBeyond(const DivergenceRecord& divergence) {
  return "step " + std::to_string(divergence.step) + " of sequence " +
         std::to_string(divergence.sequence) + ", prompt " + std::to_string(divergence.prompt) +
         ": token " + TokenInWords(divergence.first_token) + " against " +
         TokenInWords(divergence.second_token);
}

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

PairTokens ComparisonRun::MakeTokens() const {
  const bool given = steps_ != nullptr && steps_->given_tokens() != nullptr;
  return PairTokens(plan_->steps, given, scripts_.comparison != nullptr);
}

// Before post-processing, which may leave no logits.
void ComparisonRun::NoteTokens(int64_t iteration, const IterationOutputs& outputs,
                               const FeedMarks& feeds) {
  const Decoding* const decoding = steps_ == nullptr ? nullptr : steps_->decoding();
  if (decoding == nullptr) return;
  const StepPosition position = steps_->timeline().Of(iteration);
  for (Pair& pair : pairs_) {
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

// The pairs of outputs that have a row for each prompt.
std::vector<OutputPair> ComparisonRun::OutputsOfPrompts(const Pair& pair, int64_t batch,
                                                        const MatchedSides& sides) {
  const Decoding& decoding = *steps_->decoding();
  const TokenPair* first = decoding.PairOf(pair.first);
  const TokenPair* second = decoding.PairOf(pair.second);
  if (first == nullptr) first = second;
  if (second == nullptr) second = first;
  std::vector<OutputPair> found;
  for (const OutputPair& met : sides.pairing.pairs) {
    const auto& [a_name, a] = sides.a().outputs[met.a];
    const auto& [b_name, b] = sides.b().outputs[met.b];
    if (!PromptRows::Fit(a, b, batch)) continue;
    const bool logits = a_name == first->logits || b_name == second->logits;
    // What a script has made is called as it likes.
    const bool named = scripts_.postprocessing == nullptr &&
                       prompt_axes_.HaveRows({pair.first, first->tokens, a_name},
                                             {pair.second, second->tokens, b_name});
    if (logits || named) found.push_back(met);
  }
  return found;
}

// Without the rows of prompts that have ended: means and shares are those of the others.
Result<IterationComparison> ComparisonRun::CompareMatched(const Pair& pair, int64_t iteration,
                                                          const IterationOutputs& outputs,
                                                          const MatchedSides& sides) {
  const std::vector<int64_t>* const going_on = pair.tokens.GoingOnAt(iteration);
  if (going_on == nullptr) return CompareTaken(pair, iteration, outputs, sides);
  const auto batch = static_cast<int64_t>(pair.tokens.At(iteration)->first.size());
  MatchedSides of_prompts = sides, others = sides;
  of_prompts.pairing.pairs = OutputsOfPrompts(pair, batch, sides);
  std::erase_if(others.pairing.pairs, [&](const OutputPair& met) {
    return std::ranges::find(of_prompts.pairing.pairs, met.a, &OutputPair::a) !=
           of_prompts.pairing.pairs.end();
  });
  VERNIER_ASSIGN_OR_RETURN(
      const PromptRows rows,
      PromptRows::Take({batch, *going_on}, of_prompts, detail_.positions, detail_.device));
  const FedPositions* const whole = std::exchange(detail_.positions, rows.positions());
  Result<IterationComparison> comparison = CompareTaken(pair, iteration, outputs, rows.sides());
  detail_.positions = whole;
  if (!comparison.ok()) return comparison;
  rows.Restore(sides, *comparison);
  comparison->pairing = sides.pairing;
  if (others.pairing.pairs.empty()) return comparison;
  VERNIER_ASSIGN_OR_RETURN(IterationComparison more,
                           CompareTaken(pair, iteration, outputs, others));
  std::ranges::move(more.outputs, std::back_inserter(comparison->outputs));
  std::ranges::move(more.statistics, std::back_inserter(comparison->statistics));
  std::ranges::move(more.not_logits, std::back_inserter(comparison->not_logits));
  std::ranges::move(more.without_verdict, std::back_inserter(comparison->without_verdict));
  return comparison;
}

// With another history, or once all prompts have ended, a difference is no fault of the step.
Result<bool> ComparisonRun::LeaveOutStep(Pair& pair, int64_t iteration) {
  if (steps_ == nullptr || steps_->decoding() == nullptr) return false;
  const StepPosition position = steps_->timeline().Of(iteration);
  const bool after = pair.tokens.IsAfterDivergence(position) || pair.tokens.IsAfterEnd(position);
  if (!after) return false;
  pair.tokens.LeaveOut(iteration, position);
  VERNIER_TRY(KeepRow(pair, iteration, position.step, {}, {}));
  return true;
}

void ComparisonRun::JudgeStepTokens(Pair& pair, int64_t iteration,
                                    const IterationComparison& comparison) {
  const Decoding* const decoding = steps_ == nullptr ? nullptr : steps_->decoding();
  if (decoding == nullptr) return;
  const TokenPair* first = decoding->PairOf(pair.first);
  if (first == nullptr) first = decoding->PairOf(pair.second);
  if (first == nullptr) return;
  const auto logits =
      std::ranges::find(comparison.outputs, first->logits, &OutputComparison::a_name);
  if (logits == comparison.outputs.end()) return pair.tokens.Judge(iteration, std::nullopt);
  pair.tokens.Judge(iteration, {{logits->passed(), JudgesClasses(*logits)}});
}

void ComparisonRun::JudgeAgreement(const Pair& pair, PairRecord& record, RunFaults& faults,
                                   RunRecord& run) const {
  const std::optional<double>& least = plan_->steps.min_token_agreement;
  if (!least) return;
  const std::string gate = "--min-token-agreement " + FormatG(*least, 6);
  if (!record.decode || record.decode->tokens == 0) {
    faults.incomplete = true;
    run.faults.push_back(pair.label() + ": " + gate + ": no token was compared");
    return;
  }
  record.decode->min_agreement = least;
  if (!record.decode->agrees_too_little()) return;
  faults.mismatch = true;
  run.rejections.push_back(pair.label() + ": only " +
                           CountedOf(record.decode->agreeing, record.decode->tokens, "token") +
                           " agree (" + gate + ")");
}

// Less was compared than was asked for where such a divergence is no near tie by its margins.
void ComparisonRun::JudgeNotJudged(const Pair& pair, const DecodeRecord& decode, RunFaults& faults,
                                   RunRecord& run) const {
  if (decode.not_judged == 0) return;
  const std::string sentence = pair.label() + ": " + Counted(decode.not_judged, "divergence") +
                               " after that of another prompt of the batch could not be judged: "
                               "feed the prompts one by one";
  const int64_t clear = pair.tokens.clear_not_judged();
  if (clear == 0 || !JudgesElements()) {
    run.notes.push_back(sentence);
    return;
  }
  faults.incomplete = true;
  run.faults.push_back(sentence + "; " + Counted(clear, "of them is", "of them are") +
                       " no near tie by the margins");
}

void ComparisonRun::JudgeTokens(const Pair& pair, PairRecord& record, RunFaults& faults,
                                RunRecord& run) const {
  record.decode = pair.tokens.Record();
  JudgeAgreement(pair, record, faults, run);
  if (!record.decode) return;
  if (pair.tokens.missed() > 0) {
    faults.incomplete = true;
    run.faults.push_back(pair.label() + ": --decode: the tokens of " +
                         Counted(pair.tokens.missed(), "step") +
                         " could not be compared: " + pair.tokens.why_missed());
  }
  JudgeNotJudged(pair, *record.decode, faults, run);
  const auto beyond =
      std::ranges::find_if(record.decode->divergences, [](const DivergenceRecord& divergence) {
        return divergence.kind == "beyond tolerance" || divergence.kind == "not compared";
      });
  if (record.decode->beyond_tolerance == 0) return;
  const bool found = beyond != record.decode->divergences.end();
  const std::string why = found && beyond->kind == "not compared"
                              ? ", and the logits were not compared"
                              : " where the logits are out of tolerance";
  const std::string sentence = pair.label() + ": the tokens part" + why +
                               (found ? ": " + DescribeBeyond(*beyond) : std::string());
  if (!JudgesElements()) {
    run.notes.push_back(sentence + ": reported only (--judge decisions)");
    return;
  }
  faults.mismatch = true;
  run.rejections.push_back(sentence);
}

}  // namespace vernier
