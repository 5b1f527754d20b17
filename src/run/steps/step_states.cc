#include "run/steps/step_states.h"

#include <algorithm>

#include "record/schema/runner_name.h"
#include "run/steps/state_likeness.h"
#include "run/steps/step_tensors.h"
#include "util/text/quoted.h"
#include "util/values/list_has.h"

namespace vernier {
namespace {

bool FeedsInput(std::span<const StatePair> pairs, const std::string& input) {
  return std::ranges::any_of(pairs, [&](const StatePair& pair) { return pair.input == input; });
}

// Is the source of --map-inputs this tensor, or a form of it: "state[0:1]"?
bool IsMadeOf(const std::string& source, const std::string& tensor) {
  if (!source.starts_with(tensor)) return false;
  return source.size() == tensor.size() || source[tensor.size()] == '[' ||
         source[tensor.size()] == '@';
}

Status LacksOutput(const StatePair& pair, const TensorMap& outputs, const StepPosition& position) {
  std::vector<std::string> given;
  for (const NamedTensor& output : outputs) given.push_back(output.name);
  return BackendError("gave no output '" + pair.output + "' at step " +
                      std::to_string(position.step) + " of sequence " +
                      std::to_string(position.sequence) + ", which the input '" + pair.input +
                      "' of the next step is fed with (--feed-back), but " +
                      (given.empty() ? "nothing" : FirstQuoted(given)));
}

}  // namespace

TensorMap Overlaid(TensorMap tensors, const TensorMap& others) {
  for (const NamedTensor& other : others) {
    const auto found = std::ranges::find_if(
        tensors, [&](const NamedTensor& tensor) { return tensor.name == other.name; });
    if (found == tensors.end()) {
      tensors.push_back(other);
    } else {
      found->tensor = other.tensor;
    }
  }
  return tensors;
}

Result<StepStates> StepStates::Create(const StepPlan& plan, std::vector<std::string> runners,
                                      Logger& logger) {
  StepStates states(plan, std::move(runners), logger);
  VERNIER_ASSIGN_OR_RETURN(states.words_, ParseStepWords(plan, states.names_));
  if (plan.decodes()) {
    VERNIER_ASSIGN_OR_RETURN(states.decoding_, Decoding::Create(plan, states.names_));
  }
  states.used_.assign(states.words_.feed_back.size(), false);
  for (size_t i = 0; i < states.names_.size(); ++i) {
    for (const AxisWord& word : states.words_.axes) {
      if (IsCalled(states.names_[i], word.label)) states.runners_[i].axis = word.axis;
    }
  }
  return states;
}

std::vector<std::string> StepStates::DrivenInputs() const {
  std::vector<std::string> driven;
  for (const SliceWord& slice : words_.slices) driven.push_back(slice.input);
  for (const AdvanceWord& advance : words_.advances) driven.push_back(advance.input);
  return driven;
}

Status StepStates::Pair(size_t runner, RunnerSides sides) {
  if (axis(runner)) return {};
  sides.label = shown_[runner];
  Runner& here = runners_[runner];
  VERNIER_ASSIGN_OR_RETURN(here.pairs, PairState(words_.feed_back, sides, DrivenInputs(), used_));
  here.paired = true;
  here.keeps_state = sides.keeps_state;
  here.infos.assign(sides.inputs.begin(), sides.inputs.end());
  for (const TensorInfo& input : sides.inputs) here.inputs.push_back(input.name);
  for (const TensorInfo& output : sides.outputs) here.given.push_back(output.name);
  if (fed_for_.empty() && !sides.inputs.empty()) fed_for_ = sides.name;
  VERNIER_TRY(CheckReference());
  VERNIER_TRY(CheckSharedTypes(runner));
  if (decoding_) {
    VERNIER_TRY(decoding_->Pair(runner, sides, here.pairs, DrivenInputs(), *logger_));
  }
  // What is found of this runner may show that one before it lacks something.
  for (size_t i = 0; i <= runner; ++i) VERNIER_TRY(CheckFed(i));
  AddMapped(sides);
  const std::vector<TensorInfo> own = OwnOutputs(sides);
  sides.outputs = own;
  VERNIER_TRY(CheckRest(runner, sides));
  SayPairs(runner);
  SayConstants(runner, sides);
  LookForHiddenState(runner, sides);
  KeepToSee(runner, sides);
  return {};
}

void StepStates::LookForHiddenState(size_t runner, const RunnerSides& sides) {
  Runner& here = runners_[runner];
  if (!here.pairs.empty() || sides.keeps_state || plan_->state == StateSource::kReference) return;
  here.opens_again = sides.opens_again;
  if (here.opens_again) {
    logger_->Info(sides.name +
                  " | Feeds nothing back, and has no method reset_states: it is opened again "
                  "before each sequence, in case it keeps state inside");
  } else if (sides.inputs.empty() && !decoding_) {
    logger_->Warning(sides.name +
                     " | Feeds nothing back, and has no method reset_states: if it keeps state "
                     "inside, each sequence begins with that of the one before (--reset METHOD)");
  }
}

Status StepStates::CheckReference() const {
  const bool needed = plan_->state == StateSource::kReference && !StateInputs().empty();
  if (!needed || !runners_.front().paired || !runners_.front().pairs.empty()) return {};
  return InvalidArgument("--state reference: no --feed-back word is about the reference, " +
                         shown_.front() + ": add " + shown_.front() + ":OUTPUT:INPUT");
}

Status StepStates::CheckFed(size_t runner) const {
  const Runner& here = runners_[runner];
  const std::vector<std::string> states = StateInputs();
  if (shares_state() || !here.paired || states.empty()) return {};
  const std::string& name = shown_[runner];
  for (const std::string& input : states) {
    if (!ListHas(here.inputs, input) || FeedsInput(here.pairs, input)) continue;
    return InvalidArgument("--feed-back: nothing feeds the input '" + input + "' of " + name +
                           " after the first step; say which output does: " + name +
                           ":OUTPUT:" + input);
  }
  const bool for_all =
      std::ranges::any_of(words_.feed_back, [](const auto& word) { return word.label.empty(); });
  if (!for_all || !here.pairs.empty() || here.keeps_state) return {};
  return InvalidArgument("--feed-back: no word is about " + name +
                         ", whose state would stay as it is: add " + name +
                         ":OUTPUT:INPUT, or give the other words the label of a runner");
}

void StepStates::SayPairs(size_t runner) const {
  std::string text;
  for (const StatePair& pair : runners_[runner].pairs) {
    text += (text.empty() ? "" : ", ") + pair.output + " -> " + pair.input;
  }
  if (!text.empty()) logger_->Info(names_[runner] + " | Fed back from step to step: " + text);
  const std::string note = NoteOnState(runner);
  if (!note.empty()) logger_->Info(names_[runner] + " | It " + note);
}

std::vector<std::string> StepStates::StateInputs() const {
  std::vector<std::string> inputs;
  for (const Runner& runner : runners_) {
    for (const StatePair& pair : runner.pairs) inputs.push_back(pair.input);
    if (!inputs.empty()) break;
  }
  return inputs;
}

std::vector<TensorInfo> StepStates::InputsOfStateRunner() const {
  for (const Runner& runner : runners_) {
    if (!runner.pairs.empty()) return runner.infos;
  }
  return {};
}

bool StepStates::MayBeginWith(const std::string& input) const {
  if (shares_state()) return ListHas(StateInputs(), input);
  return std::ranges::any_of(runners_,
                             [&](const Runner& runner) { return FeedsInput(runner.pairs, input); });
}

Status StepStates::Enter(const StepPosition& position, std::vector<TensorMap> slices,
                         TensorMap& feed) {
  position_ = position;
  if (position.step == 0) VERNIER_TRY(CheckMovesOn(feed));
  if (decoding_ && position.step == 0) {
    std::vector<std::string> told = DrivenInputs();
    const std::vector<std::string> fed_back = StateInputs();
    told.insert(told.end(), fed_back.begin(), fed_back.end());
    VERNIER_TRY(decoding_->Begin(position, feed, told));
    for (const AdvanceWord& advance : words_.advances) {
      VERNIER_TRY(decoding_->CheckAppends(advance, feed));
    }
  }
  slices.resize(runners_.size());
  for (size_t i = 0; i < runners_.size(); ++i) {
    runners_[i].slices = std::move(slices[i]);
    runners_[i].state = std::exchange(runners_[i].next, {});
    if (position.step == 0) runners_[i].state.clear();
  }
  if (position.step == 0) {
    VERNIER_TRY(EnterZeros(feed));
    BeginTaken(feed);
  }
  if (decoding_ && position.step > 0) EnterTokens(feed);
  if (plan_->state == StateSource::kCross) feed_ = feed;
  if (!shares_state() || position.step == 0 || runners_.empty()) return {};
  const Runner& reference = runners_.front();
  const size_t wanted =
      std::max<size_t>(reference.pairs.size(), StateInputs().empty() ? 0 : 1) + (decoding_ ? 1 : 0);
  if (reference.state.size() < wanted) {
    return Unavailable("step " + std::to_string(position.step) + " needs the state of " +
                       shown_.front() + ", which has failed or feeds nothing back");
  }
  feed = Overlaid(std::move(feed), reference.state);
  std::erase_if(feed, [&](const NamedTensor& tensor) { return IsForeign(reference, tensor.name); });
  for (Runner& runner : runners_) runner.state.clear();
  return {};
}

// Zeros that were made here have the type of the runner that feeds are made for; others have them
// as they declare them.
Status StepStates::EnterZeros(const TensorMap& feed) {
  for (size_t i = 0; i < runners_.size() && !shares_state(); ++i) {
    for (const StatePair& pair : runners_[i].pairs) {
      const Tensor* const zeros = Find(feed, pair.input);
      const TensorInfo* const info = FindInfo(runners_[i].infos, pair.input);
      const bool made = zeros != nullptr && ListHas(firsts_.zeros, pair.input);
      if (!made || info == nullptr || info->dtype == zeros->dtype()) continue;
      if (BitsOf(info->dtype) == 0) continue;
      VERNIER_ASSIGN_OR_RETURN(Tensor own, MakeZeros(info->dtype, zeros->dims()));
      runners_[i].state.push_back({pair.input, std::move(own)});
    }
  }
  return {};
}

// Whoever looks at the feed itself sees the tokens of the first runner that has some.
void StepStates::EnterTokens(TensorMap& feed) const {
  for (size_t i = 0; i < runners_.size(); ++i) {
    const TokenPair* const pair = decoding_->PairOf(i);
    const Tensor* const tokens = pair == nullptr ? nullptr : Find(runners_[i].state, pair->tokens);
    if (tokens == nullptr || Find(feed, pair->tokens) == nullptr) continue;
    feed = Overlaid(std::move(feed), {{pair->tokens, *tokens}});
    break;
  }
}

std::string StepStates::TokensInput() const {
  for (size_t i = 0; decoding_ && i < runners_.size(); ++i) {
    const TokenPair* const pair = decoding_->PairOf(i);
    if (pair != nullptr) return pair->tokens;
  }
  return "";
}

Status StepStates::Remember(size_t runner, const TensorMap& outputs) {
  Runner& here = runners_[runner];
  here.next.clear();
  for (const StatePair& pair : here.pairs) {
    const Tensor* const output = Find(outputs, pair.output);
    if (output != nullptr) {
      here.next.push_back({pair.input, *output});
      here.types[pair.input] = output->dtype();
    } else if (FeedsNext(runner)) {
      return LacksOutput(pair, outputs, position_);
    }
  }
  if (!decoding_) return {};
  VERNIER_ASSIGN_OR_RETURN(std::optional<Tensor> tokens,
                           decoding_->Choose(runner, shown_[runner], position_, outputs));
  if (tokens) here.next.push_back({decoding_->PairOf(runner)->tokens, *std::move(tokens)});
  return {};
}

Status StepStates::RememberAgain(size_t runner, const TensorMap& outputs) {
  Runner& here = runners_[runner];
  for (NamedTensor& state : here.next) {
    const auto pair = std::ranges::find(here.pairs, state.name, &StatePair::input);
    if (pair == here.pairs.end()) continue;  // the tokens
    const Tensor* const output = Find(outputs, pair->output);
    if (output == nullptr) return LacksOutput(*pair, outputs, position_);
    state.tensor = *output;
  }
  return {};
}

// Does something that this runner gave feed the input?
bool StepStates::Feeds(const Runner& runner, const std::string& input) const {
  if (FeedsInput(runner.pairs, input)) return true;
  if (!decoding_) return false;
  const TokenPair* const pair = decoding_->PairOf(static_cast<size_t>(&runner - runners_.data()));
  return pair != nullptr && pair->tokens == input;
}

TensorMap StepStates::WithSlices(size_t runner, const TensorMap& feed) const {
  return Overlaid(feed, runners_[runner].slices);
}

Result<TensorMap> StepStates::WithState(size_t runner, const TensorMap& mapped,
                                        std::vector<std::string>& notes) const {
  const Runner& here = runners_[runner];
  if (!here.paired) return mapped;
  if (shares_state()) return InOwnTypes(runner, mapped, notes);
  TensorMap fed = Overlaid(mapped, here.state);
  if (position_.step == 0) {
    VERNIER_ASSIGN_OR_RETURN(fed, InOwnTypes(runner, std::move(fed), notes));
  }
  // At first the state may be there under another runner's names, for --map-inputs or by likeness.
  const TokenPair* const tokens = decoding_ ? decoding_->PairOf(runner) : nullptr;
  const bool complete = (tokens == nullptr || Find(fed, tokens->tokens) != nullptr) &&
                        std::ranges::all_of(here.pairs, [&](const StatePair& pair) {
                          return Find(fed, pair.input) != nullptr;
                        });
  if (!complete) return fed;
  std::erase_if(fed, [&](const NamedTensor& tensor) { return IsForeign(here, tensor.name); });
  return fed;
}

bool StepStates::IsForeign(const Runner& runner, const std::string& input) const {
  if (ListHas(runner.inputs, input) || Feeds(runner, input)) return false;
  return std::ranges::any_of(runners_, [&](const Runner& other) { return Feeds(other, input); });
}

Status StepStates::CheckMapped(size_t runner,
                               std::span<const std::pair<std::string, std::string>> mapped) const {
  if (shares_state() || axis(runner)) return {};
  for (const auto& [input, source] : mapped) {
    const auto made_of = [&source = source](const std::string& name) {
      return IsMadeOf(source, name);
    };
    const bool fed = FeedsInput(runners_[runner].pairs, input);
    if (fed || !std::ranges::any_of(StateInputs(), made_of)) continue;
    return InvalidArgument(
        "--feed-back: nothing feeds the input '" + input + "' of " + shown_[runner] +
        " after the first step, which --map-inputs gives the state '" + source + "'");
  }
  return {};
}

bool StepStates::IsState(size_t stream, const std::string& output) const {
  if (stream >= runners_.size()) return false;
  return std::ranges::any_of(runners_[stream].pairs,
                             [&](const StatePair& pair) { return pair.output == output; });
}

std::vector<std::string> StepStates::StateOutputs(size_t runner) const {
  const TokenPair* const tokens = decoding_ ? decoding_->PairOf(runner) : nullptr;
  std::vector<std::string> outputs;
  for (const StatePair& pair : runners_[runner].pairs) {
    // Logits are read at every step.
    if (tokens == nullptr || pair.output != tokens->logits) outputs.push_back(pair.output);
  }
  return outputs;
}

std::span<const StatePair> StepStates::FedBackAlone(size_t runner) const {
  const Runner& here = runners_[runner];
  if (decoding_ || !here.slices.empty()) return {};
  return here.pairs;
}

StepsRecord StepStates::Record() const {
  StepsRecord record;
  record.lengths = timeline_.lengths();
  record.state = kStateSourceNames[static_cast<size_t>(plan_->state)];
  for (size_t i = 0; i < runners_.size(); ++i) {
    for (const StatePair& pair : runners_[i].pairs) {
      record.feed_back.push_back({names_[i], pair.output, pair.input});
    }
  }
  return record;
}

}  // namespace vernier
