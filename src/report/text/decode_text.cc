#include "report/text/decode_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/text/decision_text.h"
#include "report/text/step_text.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::string TokenOf(int64_t token) { return token < 0 ? "none (NaN)" : std::to_string(token); }

// What the near tie, or the clear difference, is seen by.
std::string MarginsInWords(const PairRecord& pair, const DivergenceRecord& divergence) {
  if (std::isnan(divergence.first_margin) || std::isnan(divergence.second_margin)) return "";
  return ", apart by " + FormatG(divergence.first_margin, 3) + " in " + pair.first + " and " +
         FormatG(divergence.second_margin, 3) + " in " + pair.second;
}

// The logits of the pair may fail by a mean, or at another step.
std::string KindInWords(const PairRecord& pair, const DivergenceRecord& divergence) {
  if (divergence.kind == "near tie") {
    const auto logits = std::ranges::find(pair.outputs, pair.decode->logits, &OutputRecord::name);
    const bool within = logits != pair.outputs.end() && logits->passed == logits->compared &&
                        (!logits->logits_total || !logits->logits ||
                         logits->logits_total->kl_mean <= logits->logits->kl_threshold);
    return std::string(": a near tie") + (within ? ", the logits are within their tolerance" : "");
  }
  if (divergence.kind == "beyond tolerance") return ": the logits are out of tolerance";
  if (divergence.kind == "not compared") return ": the logits were not compared";
  if (divergence.kind == "other vocabulary") return ": the vocabularies differ";
  return ": not judged";
}

// Of several that were judged the first that counts.
const DivergenceRecord* ShownDivergence(const DecodeRecord& decode) {
  const std::vector<DivergenceRecord>& all = decode.divergences;
  const auto counts = std::ranges::find_if(all, [](const DivergenceRecord& divergence) {
    return divergence.kind == "beyond tolerance" || divergence.kind == "not compared" ||
           divergence.kind == "other vocabulary";
  });
  if (counts != all.end()) return &*counts;
  return all.empty() ? nullptr : &all.front();
}

// Where there are several kinds of them.
std::string KindsInWords(const DecodeRecord& decode) {
  const int64_t all = decode.near_ties + decode.beyond_tolerance + decode.not_judged;
  if (all < 2) return "";
  std::string text = " (" + Counted(decode.near_ties, "near tie") + ", " +
                     std::to_string(decode.beyond_tolerance) + " out of tolerance";
  if (decode.not_judged > 0) text += ", " + std::to_string(decode.not_judged) + " not judged";
  return text + ")";
}

std::string LeastInWords(const DecodeRecord& decode) {
  if (!decode.min_agreement) return "";
  return std::string(decode.agrees_too_little() ? ", less than " : ", at least ") +
         FormatG(100 * *decode.min_agreement, 6) + " % asked for";
}

std::string AfterEndInWords(const DecodeRecord& decode) {
  std::string text;
  if (decode.rows_after_end > 0) {
    text = "; " + Counted(decode.rows_after_end, "row") + " of prompts after their end " +
           Verb(decode.rows_after_end, "was", "were") + " left out of the comparisons";
  }
  if (decode.steps_after_end == 0) return text;
  return text + "; " + Counted(decode.steps_after_end, "step") + " after the end of all prompts " +
         Verb(decode.steps_after_end, "was", "were") + " not compared";
}

}  // namespace

std::string FormatDecode(const PairRecord& pair) {
  if (!pair.decode) return "";
  const DecodeRecord& decode = *pair.decode;
  if (decode.tokens == 0) return "no token was compared";
  const std::string fed = decode.forced ? ", both fed with the same tokens" : "";
  if (decode.diverged == 0) {
    const bool one = decode.tokens == 1;
    return (one ? "the only token" : "all " + Counted(decode.tokens, "token")) + " of " +
           Counted(decode.prompts, "prompt") + (one ? " agrees" : " agree") + fed +
           AfterEndInWords(decode);
  }
  const double share =
      100 * static_cast<double>(decode.agreeing) / static_cast<double>(decode.tokens);
  std::string text = CountedOf(decode.agreeing, decode.tokens, "token") + " of " +
                     Counted(decode.prompts, "prompt") + " agree (" + FormatG(share, 3) + " %" +
                     LeastInWords(decode) + ")" + fed + "; " + Counted(decode.diverged, "prompt") +
                     Verb(decode.diverged, " diverges", " diverge") + KindsInWords(decode) +
                     ", after a median of " +
                     Counted(FormatG(decode.until_median, 6), "agreeing token") +
                     " over all prompts, at the least " + std::to_string(decode.until_least);
  if (const DivergenceRecord* const shown = ShownDivergence(decode)) {
    text += "; at step " + std::to_string(shown->step) + " of sequence " +
            std::to_string(shown->sequence) + ", prompt " + std::to_string(shown->prompt) +
            ": token " + TokenOf(shown->first_token) + " against " + TokenOf(shown->second_token) +
            MarginsInWords(pair, *shown) + KindInWords(pair, *shown);
  }
  if (decode.steps_after > 0) {
    text += "; " + Counted(decode.steps_after, "step") +
            " after a divergence, with other histories, " +
            Verb(decode.steps_after, "was", "were") + " not compared";
  }
  return text + AfterEndInWords(decode);
}

std::string FormatStepsAndTokens(const PairRecord& pair) {
  const std::string steps = FormatSteps(pair), tokens = FormatDecode(pair);
  return steps + (steps.empty() || tokens.empty() ? "" : "; tokens: ") + tokens;
}

bool FailsTokens(const PairRecord& pair) {
  if (!pair.decode) return false;
  const bool beyond = pair.decode->beyond_tolerance > 0 && !JudgedByDecisions(pair);
  return beyond || pair.decode->agrees_too_little();
}

}  // namespace vernier
