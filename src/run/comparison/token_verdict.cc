// What it means for the end of a run that tokens diverge (--decode).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "run/comparison/pair_verdict.h"
#include "run/steps/greedy_tokens.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

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

void JudgeAgreement(const VerdictScope& scope, const ComparedPair& pair, PairRecord& record) {
  const std::optional<double>& least = scope.plan.steps.min_token_agreement;
  if (!least) return;
  const std::string gate = "--min-token-agreement " + FormatG(*least, 6);
  if (!record.decode || record.decode->tokens == 0) {
    return scope.NotDone(pair.label() + ": " + gate + ": no token was compared");
  }
  record.decode->min_agreement = least;
  if (!record.decode->agrees_too_little()) return;
  scope.Reject(pair.label() + ": only " +
               CountedOf(record.decode->agreeing, record.decode->tokens, "token") + " agree (" +
               gate + ")");
}

// Less was compared than was asked for where such a divergence is no near tie by its margins.
void JudgeNotJudged(const VerdictScope& scope, const ComparedPair& pair,
                    const DecodeRecord& decode) {
  if (decode.not_judged == 0) return;
  const std::string sentence = pair.label() + ": " + Counted(decode.not_judged, "divergence") +
                               " after that of another prompt of the batch could not be judged: "
                               "feed the prompts one by one";
  const int64_t clear = pair.tokens.clear_not_judged();
  if (clear == 0 || !scope.judges_elements()) return scope.run.notes.push_back(sentence);
  scope.NotDone(sentence + "; " + Counted(clear, "of them is", "of them are") +
                " no near tie by the margins");
}

void JudgeBeyondTolerance(const VerdictScope& scope, const ComparedPair& pair,
                          const DecodeRecord& decode) {
  if (decode.beyond_tolerance == 0) return;
  const auto beyond =
      std::ranges::find_if(decode.divergences, [](const DivergenceRecord& divergence) {
        return divergence.kind == "beyond tolerance" || divergence.kind == "not compared" ||
               divergence.kind == "other vocabulary";
      });
  const bool found = beyond != decode.divergences.end();
  const std::string kind = found ? beyond->kind : "";
  const std::string why = kind == "not compared"       ? ", and the logits were not compared"
                          : kind == "other vocabulary" ? " where the vocabularies differ"
                                                       : " where the logits are out of tolerance";
  std::string sentence = pair.label() + ": the tokens diverge" + why +
                         (found ? ": " + DescribeBeyond(*beyond) : std::string());
  if (scope.judges_elements()) return scope.Reject(std::move(sentence));
  scope.run.notes.push_back(sentence + ": reported only (--judge decisions)");
}

// Caches that are wrong show at the second step at the earliest.
void JudgeOnlyFirstSteps(const VerdictScope& scope, const ComparedPair& pair,
                         const DecodeRecord& decode) {
  const RunPlan& plan = scope.plan;
  const bool goes_on = !plan.steps.feed_back.empty() || !plan.steps.advances.empty();
  const bool left_out = decode.steps_after > 0 || decode.steps_after_end > 0;
  if (!goes_on || !left_out || !pair.tokens.saw_only_first_steps()) return;
  const bool ended = decode.forced && decode.steps_after_end > 0;
  std::string sentence =
      pair.label() +
      ": --decode: every prompt ends or diverges at its first token, so no step to which anything "
      "was fed back was compared: " +
      (ended ? "take other prompts, or leave out --decode-stop"
             : "add --state reference or --tokens to compare the steps after it");
  if (plan.lenient && !plan.strict) return scope.run.notes.push_back(std::move(sentence));
  scope.NotDone(std::move(sentence));
}

}  // namespace

void JudgeTokens(const VerdictScope& scope, const ComparedPair& pair, PairRecord& record) {
  record.decode = pair.tokens.Record();
  JudgeAgreement(scope, pair, record);
  if (!record.decode) return;
  if (pair.tokens.missed() > 0) {
    scope.NotDone(pair.label() + ": --decode: the tokens of " +
                  Counted(pair.tokens.missed(), "step") +
                  " could not be compared: " + pair.tokens.why_missed());
  }
  JudgeOnlyFirstSteps(scope, pair, *record.decode);
  JudgeNotJudged(scope, pair, *record.decode);
  JudgeBeyondTolerance(scope, pair, *record.decode);
}

}  // namespace vernier
