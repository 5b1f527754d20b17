// Which tokens and masks the iterations of a run were fed: what --compare logits judges by, and
// positions that no comparison looks at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compare/functions/comparison.h"
#include "compare/positions/fed_positions.h"
#include "run/comparison/mask_axes.h"
#include "run/steps/step_sequence.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The usual name of a mask, if the user names none.
inline constexpr const char* kUsualMask = "attention_mask";
/// That of a decoder's positions, beside the one of an encoder.
inline constexpr const char* kDecoderMask = "decoder_attention_mask";
/// Instead of a mask's name: all positions are compared.
inline constexpr std::string_view kNoMask = "none";

/// The tokens of a feed or, where `usual` is one of the two above, its mask: the input `asked`, or
/// without a name the one that is usually called so. Null: the feed has none, or what it has is not
/// of positions. Of an input that was named kInvalidArgument where there is none, kMalformed where
/// it cannot be tokens or a mask.
Result<const NamedTensor*> FindPositions(const std::string& asked, std::string_view usual,
                                         const TensorMap& feed);

/// Are positions that a mask excludes left out of comparisons? Masks that were drawn at random do
/// not count, unless the user names one; Polygraphy compares all.
bool MayLeaveOutPositions(const RunPlan& plan);

/// Which rows of a file of tokens iterations, or sequences of steps, have taken, one after another.
class TakenRows {
 public:
  /// Those of the sequences before this one, which is the same as the last time or a later one.
  int64_t Before(int64_t sequence);
  /// Outputs of that sequence took so many; the largest counts.
  void Take(int64_t rows);
  int64_t most() const { return most_; }

 private:
  int64_t sequence_ = 0, before_ = 0, last_ = 0, most_ = 0;
  bool taken_ = false;  // by this sequence
};

/// Where the steps of a sequence begin in a file of tokens: each behind those before it, which may
/// have more columns, as a prompt has.
class StepStarts {
 public:
  using Start = PositionValues::Place::Start;
  /// By outputs, for a step that is the same as the last time or a later one, or of another
  /// sequence.
  const std::map<std::string, Start>& At(const StepPosition& position);
  /// An output of that step took so many columns; what it took first counts.
  void Take(const std::string& output, int64_t columns);

 private:
  StepPosition position_;
  std::map<std::string, Start> starts_, next_;
};

/// Of a shard: kMalformed where tokens of a file were taken from rows that are not its turn.
Status CheckRowsTaken(int64_t iteration, const IterationComparison& comparison, TakenRows& rows);

/// Feeds are noted as they are made, and kept until their iterations were compared.
class PositionFeeds {
 public:
  /// `plan` must outlive it. kInvalidArgument for the name of an input where nothing is fed.
  static Result<PositionFeeds> Create(const RunPlan& plan);

  /// The tokens of a file or a script, in the place of those of an input. kMalformed for what is no
  /// integer for each position.
  Status Give(Tensor tokens);

  /// The feed of an iteration; `steps` (may be null) gave it. One that was noted before changes
  /// nothing. kInvalidArgument for an input that was named and is none, kMalformed for one that
  /// cannot be tokens or a mask.
  Status Note(int64_t iteration, const TensorMap& feed, const StepSequence* steps);

  /// What is known of an iteration, which is this step; `steps`: there are steps at all. Null:
  /// nothing is.
  const FedPositions* For(int64_t iteration, const StepPosition& position, bool steps);
  /// Makes of that what is known of two streams: of a mask that was not named nothing unless both
  /// were fed with it, and of elements only outputs whose positions are along its axis for sure.
  /// kMalformed where a mask that was not named, and would leave out positions of these two, holds
  /// an integer above 1. After For().
  Status FitPair(MaskAxes& axes, const MaskAxes::Streams& streams, const MatchedSides& sides,
                 const FedPositions*& positions);
  /// Releases an iteration that was compared, and those before it.
  void Forget(int64_t iteration);

  /// Takes the rows of the tokens that judged. kMalformed where tokens or a mask that were asked
  /// for fit none of the logits.
  Status CheckFit(const IterationComparison& comparison);

  /// Which input is called like a mask and marks no positions, so that all are compared; empty:
  /// none is, or inputs are drawn at random.
  const std::string& unfit_mask() const { return unfit_mask_; }

  /// Why logits have no perplexity by tokens that were not asked for: one of them is no class, the
  /// first that was found. Empty: none was.
  const std::string& foreign_token() const { return foreign_token_; }

 private:
  explicit PositionFeeds(const RunPlan& plan);
  const FedPositions* ForPair(MaskAxes& axes, const MaskAxes::Streams& streams,
                              const MatchedSides& sides);
  Status CheckMask(MaskAxes& axes, const MaskAxes::Streams& streams,
                   const MatchedSides& sides) const;
  void LookForUnfitMask(const char* usual, const TensorMap& feed);
  Result<std::optional<PositionValues>> Take(const std::string& asked, std::string_view usual,
                                             const TensorMap& feed,
                                             const StepSequence* steps) const;

  const CompareOptions* options_;
  bool for_logits_;                     // --compare logits
  bool for_elements_;                   // other comparisons leave out what a mask excludes
  bool from_elsewhere_ = false;         // tokens are no input's
  std::optional<PositionValues> file_;  // of tokens
  std::map<int64_t, FedPositions> noted_;
  FedPositions current_;
  FedPositions of_pair_;
  TakenRows rows_;
  StepStarts starts_;
  std::string foreign_token_, unfit_mask_;
  struct BadMask {
    std::string input, value;
    Dims dims;
  };
  std::optional<BadMask> bad_mask_;  // the first
  bool given_;                       // inputs are not drawn at random
  bool may_trust_names_;             // no script has changed outputs
  bool in_shard_;                    // the other iterations' batches are not known
};

}  // namespace vernier
