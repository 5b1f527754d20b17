// The feeds of the steps of sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/steps/step_states.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class StepSequence {
 public:
  /// What sequences are made of beside what is given for each.
  struct Source {
    std::string runner;              ///< that feeds are made for
    std::vector<TensorInfo> inputs;  ///< of it
    TensorMap initial = {};          ///< --initial-state; it wins over the sequence's own
    bool state_is_drawn = false;     ///< at random: then it is zeros instead
    /// Zeros for the state inputs, where a sequence has none. It is given tensors whose leading
    /// dimension is that of the inputs at the first step. May be null.
    std::function<Result<TensorMap>(const TensorMap&)> zeros = {};
    /// What must hold of a whole sequence before its first step runs. May be null.
    std::function<Status(const TensorMap&)> check = {};
    /// What must hold of what --advance makes of an input at a later step: kMalformed, without its
    /// subject. May be null.
    std::function<Status(const AdvanceWord&, const NamedTensor&)> check_made = {};
  };

  /// `states` must outlive it, and is told of every step. kInvalidArgument for words about an input
  /// that is none, and slices of unknown size.
  static Result<std::unique_ptr<StepSequence>> Create(StepStates& states, Source source);

  /// The next feed; `next_whole` gives the next sequence. nullopt behind the last. kMalformed,
  /// naming the flag and the tensor, for sequences that do not have the steps, an --initial-state
  /// without one of the states, and values that their type cannot have; kInvalidArgument for
  /// drawn ones that have one step where something is to be fed to the next.
  using NextWhole = std::function<Result<std::optional<TensorMap>>()>;
  Result<std::optional<TensorMap>> Next(const NextWhole& next_whole);

  /// The next step's feed, or that of the step so many behind it, for a lone runner: as Next() will
  /// give it, but for the state. It is kept for that. Null behind the last step of a sequence, and
  /// where Next() will say why it cannot be.
  const TensorMap* Prepare(size_t behind);

  /// The sequence that the last feed is a step of, with its first state.
  const TensorMap& whole() const { return whole_; }
  const StepPosition& position() const { return position_; }
  /// Where the slice of this step begins in `whole()`; nullopt: there is none of that input along
  /// that axis, for all runners.
  std::optional<int64_t> StartOfSlice(const std::string& input, size_t axis) const;
  /// With given tokens (--tokens beside --decode) those of `input` that the last feed has, `fed`,
  /// and the one behind them, [batch, columns] as int64; nullopt for other inputs, and where there
  /// is none.
  Result<std::optional<Tensor>> WithGivenToken(const std::string& input, const Tensor& fed) const;
  /// The input that takes given tokens; empty: none does.
  std::string ForcedInput() const;
  /// Of each sequence; nullopt where its length decides.
  std::optional<int64_t> steps() const { return states_.StepsAsked(); }

  const StepStates& states() const { return states_; }

 private:
  StepSequence(StepStates& states, Source source) : states_(states), source_(std::move(source)) {}
  Status CompleteSlices();
  Status CheckNames() const;
  Status CheckInitialSizes() const;
  Result<TensorMap> SizesOfFirstStep() const;
  std::optional<int64_t> FirstSize(const NamedTensor& input, size_t axis) const;
  Status Begin(TensorMap whole);
  void SayWhatIsLeft() const;
  void SayWhatOverlaps() const;
  Status AddFirstState();
  Status CheckBegun() const;
  Status NameNans() const;
  Result<int64_t> CountSteps() const;
  Status CheckGoesOn() const;
  Result<TensorMap> SlicesFor(const std::string& runner, int64_t step) const;
  Result<TensorMap> FeedOfStep(int64_t step) const;
  std::string AtStep(const AdvanceWord& advance, int64_t step, const std::string& what) const;
  Result<Tensor> AdvancedTo(const AdvanceWord& advance, int64_t step) const;
  Status CheckAdvance(const AdvanceWord& advance) const;
  Status CheckGrows(const AdvanceWord& advance) const;
  Status CheckMade(const AdvanceWord& advance, int64_t step) const;
  Result<Tensor> OfNewToken(const AdvanceWord& advance, Tensor advanced) const;
  Result<TensorMap> AllStepsFor(const std::string& runner, size_t axis) const;
  const Tensor* SlicedTensor(const SliceWord& slice) const;

  StepStates& states_;
  Source source_;
  std::vector<SliceWord> slices_;  // with all sizes
  TensorMap whole_;
  std::vector<TensorMap> all_steps_;  // runner by runner; empty for those that go step by step
  StepPosition position_{-1, 0, 1};
  std::deque<TensorMap> prepared_;  // of the next steps
};

/// `inputs` as sequences are drawn for them: with `steps` the axes that slices are taken along are
/// as long as those need. `runner` is the one whose inputs they are. kInvalidArgument where that is
/// more than a number holds.
Result<std::vector<TensorInfo>> InputsOfSequences(const StepStates& states,
                                                  const std::string& runner,
                                                  std::span<const TensorInfo> inputs);

}  // namespace vernier
