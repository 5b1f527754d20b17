// The tokens that two runners chose by themselves, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vernier {

/// A token that differs between the sides of a pair.
struct DivergenceRecord {
  int64_t sequence = 0;
  int64_t prompt = 0;       ///< row of the batch
  int64_t step = 0;         ///< whose logits chose the token, from 0
  int64_t first_token = 0;  ///< -1: none, the logits hold NaN
  int64_t second_token = 0;
  /// By how much each side's logit of its own token is above that of the other side's token; NaN
  /// where one is none.
  double first_margin = 0;
  double second_margin = 0;
  /// "near tie": the logits of that step are within their tolerance. "beyond tolerance": they are
  /// not, or were not compared. "not judged": the step was not compared, since another prompt of
  /// the batch had diverged before.
  std::string kind = {};
};

/// The tokens that were compared at a step, of all prompts.
struct AgreementPoint {
  int64_t step = 0;  ///< or the first of those that the point stands for
  int64_t tokens = 0;
  int64_t agreeing = 0;  ///< of them; behind a divergence too
};

/// The tokens of a pair over all steps. A prompt is a row of the batch of a sequence. After the end
/// of a prompt (--decode-stop) no token counts.
struct DecodeRecord {
  std::string logits;   ///< the first side's output
  bool forced = false;  ///< all were fed with the first runner's tokens
  int64_t prompts = 0;
  int64_t tokens = 0;    ///< compared, of all prompts
  int64_t agreeing = 0;  ///< of them; behind a divergence too
  int64_t diverged = 0;  ///< prompts with a token that differs
  /// Agreeing tokens before the first that differs, or all of a prompt without one: over prompts.
  double until_median = 0;
  int64_t until_least = 0;
  int64_t steps_after = 0;      ///< iterations behind a divergence, which were not compared
  int64_t steps_after_end = 0;  ///< iterations behind the end of all prompts, neither
  /// Rows of outputs that comparisons left out, of prompts that had ended while others continued:
  /// one for each prompt and iteration.
  int64_t rows_after_end = 0;
  /// Of the first divergence of each prompt; with forced tokens of every token that differs.
  int64_t near_ties = 0;
  int64_t beyond_tolerance = 0;
  int64_t not_judged = 0;
  std::vector<DivergenceRecord> divergences = {};  ///< the first 100 of these
  std::vector<AgreementPoint> agreement = {};      ///< by step, at most 1,000 points
  int64_t steps_per_point = 1;                     ///< of `agreement`
  std::optional<double> min_agreement = {};        ///< --min-token-agreement; nullopt: no gate

  /// Is the fraction of agreeing tokens below the gate? False if no token was compared.
  bool agrees_too_little() const {
    return min_agreement && tokens > 0 &&
           static_cast<double>(agreeing) / static_cast<double>(tokens) < *min_agreement;
  }
};

}  // namespace vernier
