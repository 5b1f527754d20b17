// The words of --decode, and what they mean for a runner.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/steps/state_pairs.h"
#include "vernier/dtype.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// `greedy`, `greedy:LOGITS=TOKENS` or `greedy:RUNNER:LOGITS=TOKENS`.
struct DecodeWord {
  std::string word;    ///< as it was given
  std::string label;   ///< of a runner; empty: of all without a word of their own
  std::string logits;  ///< empty, as `tokens`: found
  std::string tokens;
};

/// `runners` are the names that labels may be of (IsCalled). kInvalidArgument, naming the word, for
/// what is no such word, and for two words about one runner, or about all.
Result<std::vector<DecodeWord>> ParseDecodeWords(std::span<const std::string> words,
                                                 std::span<const std::string> runners);

/// The output of a runner that chooses its tokens, and the input that takes them.
struct TokenPair {
  std::string logits;
  std::string tokens;
  DType dtype = DType::kInt64;             ///< of the input
  std::optional<int64_t> vocabulary = {};  ///< classes of the logits, where they are declared
};

/// What decodes `runner`. Without names: the only floating output of rank 3 that is not fed back,
/// or of several the one called "logits"; the integer input called "decoder_input_ids", else
/// "input_ids", else the only one that is neither in `driven` nor fed back. `states` are the
/// runner's pairs. kInvalidArgument, with the words to type, where there is none or several, or
/// where a named one is not there or cannot be it.
Result<TokenPair> FindTokenPair(std::span<const DecodeWord> words, const RunnerSides& runner,
                                std::span<const StatePair> states,
                                std::span<const std::string> driven);

inline constexpr std::string_view kDecodeFlag = "--decode";

}  // namespace vernier
