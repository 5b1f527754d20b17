// A sequence of tokens for a model that returns its caches and takes them again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/properties/properties.h"
#include "run/steps/state_pairs.h"
#include "vernier/tensor.h"

namespace vernier {

/// Consecutive tokens of the sequence.
struct TokenSpan {
  int64_t start = 0;
  int64_t count = 0;

  int64_t end() const { return start + count; }
};

/// Tokens around the sequence that the mask excludes.
struct TokenPadding {
  int64_t left = 0;
  int64_t right = 0;
  int64_t token = 0;  ///< what each of them is
};

/// An output that is fed back, as `--feed-back auto` pairs it.
struct CacheState {
  std::string output;
  std::string input;
  std::optional<size_t> axis;  ///< along which it grows by one element for each token
};

/// What an input is given, beside the caches.
enum class TokenRole : uint8_t {
  kTokens,     ///< (batch, tokens, ...): those of the span
  kMask,       ///< (batch, past + tokens): one value for real tokens, another for padding
  kPositions,  ///< (..., tokens): 0 for the first token of the sequence, then 1, 2, ...
};

class TokenSequence {
 public:
  /// Of the subject's inputs, eight tokens where sizes can be chosen. kInvalidArgument, with the
  /// reason, where the model has no caches that grow, where it is not known what one of its inputs
  /// has to be, and where fewer than two tokens are given.
  static Result<TokenSequence> Of(const Subject& subject);

  TokenSpan all() const { return {0, count_}; }
  /// Whether an input has this role.
  bool Has(TokenRole role) const;

  /// The name of a mask of floats, which is 1 for real tokens and 0 for padding although it may be
  /// added to something; empty: there is none.
  const std::string& float_mask() const { return float_mask_; }
  /// As what values of the mask were taken, in words that end a sentence; of what holds, empty
  /// where they mean what is usual. Empty: there is no mask.
  std::string TakenAs(bool holds) const;

  /// Caches that hold nothing; states that do not grow are zeros. Errors are those of memory.
  Result<TensorMap> EmptyCaches() const;

  /// The feed of these tokens, after caches that hold all before them.
  Result<TensorMap> Feed(TokenSpan span, const TensorMap& caches) const;

  /// The feed of all tokens with padding around them. Positions count from the first real token on;
  /// those before it are 0.
  Result<TensorMap> PaddedFeed(const TokenPadding& padding) const;

  /// The same of these tokens, behind caches that hold all before them: padding on the left is
  /// among the first tokens, and later in the caches.
  Result<TensorMap> PaddedFeed(TokenSpan span, const TokenPadding& padding,
                               const TensorMap& caches) const;

  /// The caches among these outputs, by the names of the inputs that take them.
  TensorMap CachesOf(const TensorMap& outputs) const;

  /// What the outputs of all tokens at once show about a span, whose own outputs are `found`: the
  /// caches with all before its end, and the rows of outputs that have one for each token. Other
  /// outputs and states that do not grow are what they are where the span ends at the last token;
  /// they are left out elsewhere, and outputs also where `found` has them in another shape.
  /// kInvalidArgument for types that cannot be split; kInternal for memory.
  Result<TensorMap> PartOf(const TensorMap& outputs, TokenSpan span, const TensorMap& found) const;

  /// The rows of the span alone, also of caches where `with_caches`.
  Result<TensorMap> RowsOf(const TensorMap& outputs, TokenSpan span, bool with_caches) const;

 private:
  struct Input {
    std::string name;
    TokenRole role;
  };

  /// kMalformed where an output has the axes of its input in another order.
  Status FindStates(const Sample& sample, std::span<const StatePair> pairs,
                    std::span<const TensorInfo> inputs);
  Status FindInputs(const Subject& subject, const Sample& sample);
  Result<TokenRole> RoleOf(const TensorInfo& input, const Tensor& sample) const;
  Status AddTokenDimension(const TensorInfo& input, std::optional<std::string>& symbol) const;
  Status CountTokens();
  void FindMaskMeaning(const Subject& subject);
  Result<bool> HidesPadding(const Subject& subject) const;
  const CacheState* StateOf(const std::string& name, std::string CacheState::*side) const;
  Result<Tensor> TensorFor(const Input& input, TokenSpan span, const TokenPadding& padding) const;

  // Whether other tokens in place of padding were found to change nothing.
  enum class Hides : uint8_t { kNotKnown, kYes, kNo };

  std::vector<CacheState> states_;
  std::vector<Input> inputs_;
  std::vector<std::string> mask_outputs_;  // fed back to a mask
  std::vector<std::string> row_outputs_;   // with a row for each token, along axis 1
  int64_t sample_tokens_ = 0;              // by which the caches grew in the sample
  TensorMap base_;                         // tokens, and the shapes of all inputs
  int64_t count_ = 0;
  std::string mask_, float_mask_;  // names; empty: there is none
  int64_t real_ = 1;               // what a mask is for real tokens, which padding is not
  Hides hides_ = Hides::kNotKnown;
};

}  // namespace vernier
