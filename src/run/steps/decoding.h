// The tokens that runners choose from step to step (--decode), and those that they are fed with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/steps/decode_words.h"
#include "run/steps/given_tokens.h"
#include "run/steps/step_timeline.h"
#include "run/steps/step_words.h"
#include "util/log/log.h"
#include "vernier/input_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Runners are known by their index.
class Decoding {
 public:
  /// Errors as ParseDecodeWords. `plan` must outlive it.
  static Result<Decoding> Create(const StepPlan& plan, std::span<const std::string> runners);

  /// Of outputs that were saved: by what their runners chose tokens, where it is known.
  static Decoding OfSaved(const StepPlan& plan, std::vector<std::optional<TokenPair>> pairs);

  /// All runners are fed with these tokens behind their prompts, whatever they choose. Before the
  /// first is paired. kMalformed where the plan has more steps than there are tokens for.
  Status Give(GivenTokens tokens);
  /// Null where runners are fed with what is chosen.
  const GivenTokens* given() const { return given_ ? &*given_ : nullptr; }

  /// Of sequences whose prompts have begun: a sentence about the rows of given tokens that none of
  /// them takes. Empty: all are taken, or none are given.
  std::string DescribeUnusedRows() const;

  /// Of --mask: an input that takes no tokens, whatever it looks like, or "none": no input says by
  /// 0 what is padding.
  void NameMask(const std::string& input);

  /// Once a runner is open: finds its pair of logits and tokens, and logs it. Errors as
  /// FindTokenPair and GivenTokens::CheckVocabulary; kInvalidArgument, with both sizes, where its
  /// vocabulary is another than that of a runner before it, and where the token of --decode-stop is
  /// none of it.
  Status Pair(size_t runner, const RunnerSides& sides, std::span<const StatePair> states,
              std::vector<std::string> driven, Logger& logger);

  /// The input that takes the tokens of a runner, and the output that chooses them; null: it was
  /// not paired.
  const TokenPair* PairOf(size_t runner) const;

  /// Step 0 of a sequence, with the feed that is made for all: nothing has ended. kMalformed,
  /// naming sequence and place, for prompts that are no tokens or whose last position a mask
  /// excludes, and inputs of which nothing says what they are for the tokens behind the prompt
  /// (`driven` are those of which something does).
  Status Begin(const StepPosition& position, const TensorMap& feed,
               std::span<const std::string> driven);

  /// The same: kInvalidArgument where --advance makes a mask longer by 0, which excludes each token
  /// that is decoded, or by what is no mark.
  Status CheckAppends(const AdvanceWord& advance, const TensorMap& feed) const;

  /// The tokens that a runner has chosen by these outputs, or those that are given, as it takes
  /// them; 0 where one would be chosen by NaN. nullopt behind the last that is given.
  /// kInvalidArgument where there are no such logits, kMalformed where they have no last position,
  /// and as GivenTokens.
  Result<std::optional<Tensor>> Choose(size_t runner, const std::string& name,
                                       const StepPosition& position, const TensorMap& outputs);
  /// A sentence for each runner whose logits chose no token, with the place of the first NaN.
  std::vector<std::string> DescribeNans(std::span<const std::string> runners) const;

 private:
  struct Runner {
    std::optional<TokenPair> pair;
    std::vector<TensorInfo> inputs;  // as far as it says
    std::vector<bool> ended;         // by row of the batch
    int64_t nans = 0;                // tokens that NaN did not choose
    std::string first_nan;           // the place of the first
    std::optional<Tensor> prompt;    // until the first logits show how large the vocabulary is
  };
  explicit Decoding(const StepPlan& plan, size_t runners) : plan_(&plan), runners_(runners) {}
  Status CheckStop(int64_t vocabulary, const std::string& logits, const std::string& runner) const;
  Status CheckPrompt(const TokenPair& pair, const StepPosition& position,
                     const Tensor& prompt) const;
  Status CheckPadding(const Runner& runner, const StepPosition& position,
                      const TensorMap& feed) const;

  Result<std::optional<Tensor>> TakeGiven(size_t runner, const std::string& name,
                                          const StepPosition& position, const Tensor& logits,
                                          size_t batch) const;

  const StepPlan* plan_;
  std::vector<DecodeWord> words_;
  std::optional<GivenTokens> given_;
  std::vector<std::string> masks_ = {"attention_mask"};
  bool any_mask_ = true;
  std::vector<Runner> runners_;
  size_t rank_ = 2;      // of prompts
  int64_t batch_ = 0;    // of the last sequence
  int64_t prompts_ = 0;  // of all sequences so far
  int64_t begun_ = 0;    // sequences that have
};

}  // namespace vernier
