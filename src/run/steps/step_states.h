// What each runner of a run is fed with beside the feed of a step: its state, and slices of its
// own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "record/schema/side_names.h"
#include "run/steps/decoding.h"
#include "run/steps/state_pairs.h"
#include "run/steps/step_timeline.h"
#include "run/steps/step_words.h"
#include "util/log/log.h"
#include "vernier/input_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Inputs that a sequence begins with and nobody gave for it alone.
struct FirstStates {
  std::vector<std::string> initial;  ///< of --initial-state
  std::vector<std::string> zeros;    ///< made here
};

/// Tensors are kept, never copied or changed. Runners are identified by their index.
class StepStates {
 public:
  /// Both must outlive the object. Errors as ParseStepWords.
  static Result<StepStates> Create(const StepPlan& plan, std::vector<std::string> runners,
                                   Logger& logger);

  /// What is known of one of several sides of saved outputs.
  struct SavedSide {
    std::vector<StatePair> pairs;
    std::optional<TokenPair> tokens;
  };
  /// Of outputs that nobody infers any more: all sequences are known, and none can be entered.
  static StepStates OfSaved(const StepPlan& plan, std::vector<std::string> names,
                            std::vector<SavedSide> sides, std::span<const int64_t> lengths,
                            Logger& logger);

  const StepPlan& plan() const { return *plan_; }
  const StepWords& words() const { return words_; }
  const std::vector<std::string>& runners() const { return names_; }
  /// What people call a runner.
  const std::string& ShownName(size_t runner) const { return shown_[runner]; }

  /// The axis of a runner that takes all steps of a sequence in one inference, else nothing; so of
  /// a stream that is no runner. Such a runner is fed nothing back.
  std::optional<size_t> axis(size_t stream) const {
    return stream < runners_.size() ? runners_[stream].axis : std::nullopt;
  }

  /// Once a runner is open, in the order of runners: decides what is fed back and says so. Errors
  /// as PairState; kInvalidArgument for a state that the plan gives to runners of types that do not
  /// go together, and for this runner or one before it: where each has a state of its own, if
  /// nothing feeds an input that is a state of the first runner, or if words without a label are
  /// about other runners alone; else if they are not about the reference.
  Status Pair(size_t runner, RunnerSides sides);
  /// Can there be a state that only the runner knows? Of one that was paired, is given no state and
  /// says of none inside.
  bool MayHideState(size_t runner) const;
  /// May an input that stays still turn out to be a state, by sizes that a runner does not declare?
  bool WantsToSee(size_t runner) const { return runners_[runner].unseen; }
  /// What a runner was fed with at a step, and gave: Pair() once more for inputs that nothing
  /// feeds, by these sizes. kInvalidArgument.
  Status See(size_t runner, const TensorMap& fed, const TensorMap& given);
  /// Inputs that stay and may be states, a sentence each: nothing but sizes says so.
  const std::vector<std::string>& doubts() const { return doubts_; }
  Logger& logger() const { return *logger_; }
  /// Says what a slice leaves out of the inputs, once, and notes the sentence.
  void NoteLeftOut(const SliceWord& slice, const std::string& what);
  /// The words of slices, with the sentences.
  const std::map<std::string, std::string>& left_out() const { return left_out_; }

  /// Warns of an input of the feeds that holds NaN, once, and notes the sentence.
  void NoteNanInput(const std::string& input, std::string sentence);
  /// Input and sentence.
  const std::vector<std::pair<std::string, std::string>>& nan_inputs() const { return nan_inputs_; }
  /// Before the first step of a sequence.
  void BeginWith(FirstStates firsts) { firsts_ = std::move(firsts); }
  /// What made an input of a runner at this step: "which --step-slice x:axis=1 made at step 3 of
  /// sequence 0". Empty: the inputs hold it so.
  std::string OriginOf(size_t runner, const std::string& input) const;
  /// What --decode chooses tokens by; null without.
  Decoding* decoding() { return decoding_ ? &*decoding_ : nullptr; }
  const Decoding* decoding() const { return decoding_ ? &*decoding_ : nullptr; }
  /// Those of it that are given (--tokens); null: none are.
  const GivenTokens* given_tokens() const { return decoding_ ? decoding_->given() : nullptr; }
  /// How many steps each sequence has: --steps, or as many as tokens are given for. nullopt: its
  /// length decides.
  std::optional<int64_t> StepsAsked() const {
    if (plan_->steps || given_tokens() == nullptr) return plan_->steps;
    return given_tokens()->columns();
  }
  /// The input of a feed that takes tokens: that of the first runner that was paired. Empty without
  /// --decode.
  std::string TokensInput() const;

  /// kInvalidArgument for a word of --feed-back that is about no runner, once all were paired.
  Status CheckUsed() const;

  /// The first runner that said what it takes: feeds are made for it. Empty: none did.
  const std::string& fed_for() const { return fed_for_; }
  /// The inputs of the first runner that is fed back: the tensors of a feed with the first state.
  std::vector<std::string> StateInputs() const;
  /// All that the runner of these says it takes; empty: it does not say, or none is fed back.
  std::vector<TensorInfo> InputsOfStateRunner() const;
  /// May a sequence begin with a tensor of this name: is it a state of a runner, and of the
  /// reference where all have its state?
  bool MayBeginWith(const std::string& input) const;

  /// Before the first step of a sequence: an input `use_cache_branch` of one element (bool or
  /// integer), which is 0 at its first step, is 1 from the next on, as by --advance, where caches
  /// are fed back and no option sets it. Says so once.
  Status SwitchToCaches(int64_t steps, const TensorMap& whole);

  /// The next step. Its feed is completed with the state that all runners share, and with --decode
  /// with the tokens of the first runner that has some. `slices` are those of runners of their own,
  /// or all steps at once, runner by runner. kUnavailable where the reference has failed; errors as
  /// Decoding::Begin.
  Status Enter(const StepPosition& position, std::vector<TensorMap> slices, TensorMap& feed);
  /// What a runner made of this step. kBackend where it lacks what its next step is fed with.
  Status Remember(size_t runner, const TensorMap& outputs);
  /// kBackend where what it hands on to its next step is of another type or shape than its input
  /// takes, or, where it does not declare that, than it took at the steps before; axes may grow.
  /// `lenient`: as far as it cannot be cast or reshaped.
  Status CheckHandedOn(size_t runner, bool lenient);
  /// As Remember(), of a step that was made once more; its tokens stay those that were chosen
  /// first.
  Status RememberAgain(size_t runner, const TensorMap& outputs);

  /// The feed of this step as one runner is given it, before --map-inputs and after. With all of
  /// its own state it has none of another's: a state that stays as it was at first would look like
  /// a difference between the runners.
  TensorMap WithSlices(size_t runner, const TensorMap& feed) const;
  /// Where the reference's state is another runner's, too, floats become those of that runner:
  /// `notes` says so.
  Result<TensorMap> WithState(size_t runner, const TensorMap& mapped,
                              std::vector<std::string>& notes) const;
  /// kInvalidArgument where --map-inputs feeds an input with the first state, and nothing feeds it
  /// in the steps that follow. `mapped`: inputs of the runner and their sources.
  Status CheckMapped(size_t runner,
                     std::span<const std::pair<std::string, std::string>> mapped) const;

  StepTimeline& timeline() { return timeline_; }
  const StepTimeline& timeline() const { return timeline_; }
  /// Is the state of this iteration the one that is here?
  bool AtHand(int64_t iteration) const { return timeline_.Of(iteration) == position_; }
  const StepPosition& position() const { return position_; }

  /// The feed of this step, where the plan crosses states; else empty.
  const TensorMap& feed() const { return feed_; }
  /// The state of this step of the runner `candidate` as `reference` takes it: `met` are the
  /// outputs of the two that are compared, in their order of axes (`NAME@0,2,1`). Floats become
  /// those of the reference, which `note` says (empty: they do not). kInvalidArgument, naming a
  /// state of the reference that is compared with none of the candidate's, or with a part.
  Result<TensorMap> StateFor(size_t reference, size_t candidate,
                             std::span<const std::pair<std::string, std::string>> met,
                             std::string& note) const;
  /// Gives a runner another state for this step; the one that it had.
  TensorMap ExchangeState(size_t runner, TensorMap state) {
    return std::exchange(runners_[runner].state, std::move(state));
  }

  bool IsState(size_t stream, const std::string& output) const;

  /// Of a runner that keeps its state inside, and is fed with none of what --feed-back says of all:
  /// a sentence without its subject. Empty for others.
  std::string NoteOnState(size_t runner) const;
  /// The outputs that only a runner's own next step reads.
  std::vector<std::string> StateOutputs(size_t runner) const;
  /// The state that a runner is fed with at this step.
  const TensorMap& StateOf(size_t runner) const { return runners_[runner].state; }
  /// The feed of this step with the masks that are fed back, which are a runner's own: the first
  /// that has one counts for all. Of a lone runner the feed as it is: nothing is compared.
  TensorMap WithMasks(const TensorMap& feed) const;
  /// The pairs of a runner that is fed with nothing of its own but these: no tokens, no slices.
  std::span<const StatePair> FedBackAlone(size_t runner) const;
  /// What is fed back to a runner, once it was paired.
  std::span<const StatePair> FedBackTo(size_t runner) const { return runners_[runner].pairs; }
  /// May it go on from a state that --feed-back does not show? Or it does not say what it takes.
  bool HasStateInside(size_t runner) const {
    const Runner& here = runners_[runner];
    return here.keeps_state || here.opens_again || here.axis || here.inputs.empty();
  }
  /// A runner of which nothing is fed back, and which can be opened again: it begins each sequence
  /// so, since only a state inside would make steps of one.
  bool OpensAgain(size_t runner) const { return runners_[runner].opens_again; }
  StepsRecord Record() const;

 private:
  struct Runner {
    std::optional<size_t> axis;
    bool paired = false;
    bool keeps_state = false;  // inside of it
    bool opens_again = false;
    std::vector<StatePair> pairs;
    std::vector<std::string> inputs;  // empty: it does not say
    std::vector<std::string> given;   // its outputs, likewise
    std::vector<TensorInfo> infos;    // of these
    std::vector<TensorInfo> outputs;
    std::vector<std::string> mapped;    // inputs, as in RunnerSides
    std::vector<std::string> doubtful;  // inputs that were warned of
    bool unseen = false;                // see WantsToSee()
    TensorMap slices;
    TensorMap state;  // by its inputs
    TensorMap next;
    std::map<std::string, DType> types;       // of its inputs, as it gave them
    std::map<std::string, TensorInfo> taken;  // by inputs without a shape; free axes changed
  };

  StepStates(const StepPlan& plan, std::vector<std::string> names, Logger& logger)
      : plan_(&plan),
        logger_(&logger),
        names_(std::move(names)),
        shown_(ShortNames(names_)),
        runners_(names_.size()) {}
  bool shares_state() const {
    return plan_->state == StateSource::kReference || names_.size() == 1;
  }
  bool FeedsNext(size_t runner) const {
    return !position_.last() && (runner == 0 || !shares_state());
  }
  std::vector<std::string> DrivenInputs() const;
  Status CheckReference() const;
  Status CheckSharedTypes(size_t runner) const;
  DType TypeOfState(const Runner& runner, const std::string& input) const;
  Result<TensorMap> InOwnTypes(size_t runner, TensorMap fed, std::vector<std::string>& notes) const;
  Status CheckFed(size_t runner) const;
  bool IsForeign(const Runner& runner, const std::string& input) const;
  bool Feeds(const Runner& runner, const std::string& input) const;
  Result<std::optional<Tensor>> CrossedState(
      const std::string& output, const Runner& from,
      std::span<const std::pair<std::string, std::string>> met) const;
  Status EnterZeros(const TensorMap& feed);
  void BeginTaken(const TensorMap& feed);
  void EnterTokens(TensorMap& feed) const;
  void SayPairs(size_t runner) const;
  bool MaySwitchToCaches(const TensorInfo& input) const;
  bool Stays(size_t runner, const RunnerSides& sides, const std::string& input) const;
  void SayConstants(size_t runner, const RunnerSides& sides);
  void WarnOfConstants(size_t runner, const RunnerSides& sides);
  void LookForHiddenState(size_t runner, const RunnerSides& sides);
  void KeepToSee(size_t runner, const RunnerSides& sides);
  bool IsForgotten(bool keeps_state) const {
    return words_.feed_back.empty() && !decoding_ && !keeps_state;
  }
  void AddMapped(RunnerSides& sides) const;
  Status CheckMovesOn(const TensorMap& feed) const;
  std::vector<StatePair> PairsOf(size_t runner) const;
  Status CheckRest(size_t runner, const RunnerSides& sides) const;

  const StepPlan* plan_;
  Logger* logger_;
  std::vector<std::string> names_, shown_;
  std::vector<Runner> runners_;
  StepWords words_;
  std::optional<Decoding> decoding_;
  std::vector<bool> used_;
  std::vector<std::string> doubts_;
  std::vector<std::pair<std::string, std::string>> nan_inputs_;
  std::map<std::string, std::string> left_out_;
  FirstStates firsts_;
  std::string fed_for_;
  StepTimeline timeline_;
  StepPosition position_;
  TensorMap feed_;
};

/// `tensors`, those of `others` in the place of, or behind, what has their names.
TensorMap Overlaid(TensorMap tensors, const TensorMap& others);

}  // namespace vernier
