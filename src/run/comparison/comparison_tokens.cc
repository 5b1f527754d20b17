// The tokens that runners chose (--decode): up to which step they are compared, and what it means
// for the end of a run that they part.
#include <algorithm>
#include <optional>
#include <string>

#include "run/comparison/comparison_run.h"
#include "util/counted.h"
#include "util/number_text.h"

namespace vernier {
namespace {

std::string DescribeBeyond(const DivergenceRecord& divergence) {
  return "step " + std::to_string(divergence.step) + " of sequence " +
         std::to_string(divergence.sequence) + ", prompt " + std::to_string(divergence.prompt) +
         ": token " + std::to_string(divergence.first_token) + " against " +
         std::to_string(divergence.second_token);
}

}  // namespace

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
    pair.tokens.Note(iteration, position, first->logits,
                     {Find(outputs[pair.first]->outputs, first->logits),
                      Find(outputs[pair.second]->outputs, second->logits),
                      has_fed ? Find(outputs.front()->outputs, fed->logits) : nullptr});
  }
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
  pair.tokens.Judge(iteration, logits != comparison.outputs.end() && logits->passed());
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
  if (record.decode->not_judged > 0) {
    run.notes.push_back(pair.label() + ": " + Counted(record.decode->not_judged, "divergence") +
                        " behind that of another prompt of the batch could not be judged: feed the "
                        "prompts one by one");
  }
  const auto beyond =
      std::ranges::find(record.decode->divergences, "beyond tolerance", &DivergenceRecord::kind);
  if (record.decode->beyond_tolerance == 0) return;
  const std::string where =
      beyond == record.decode->divergences.end() ? std::string() : ": " + DescribeBeyond(*beyond);
  const std::string sentence =
      pair.label() + ": the tokens part where the logits are out of tolerance" + where;
  if (!JudgesElements()) {
    run.notes.push_back(sentence + ": reported only (--judge decisions)");
    return;
  }
  faults.mismatch = true;
  run.rejections.push_back(sentence);
}

}  // namespace vernier
