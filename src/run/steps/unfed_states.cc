// Inputs of runners that stay as they were at first: refused, asked about, or named.
#include <algorithm>

#include "inputs/cast_tensor.h"
#include "run/steps/prompt_inputs.h"
#include "run/steps/state_likeness.h"
#include "run/steps/step_states.h"

namespace vernier {
namespace {

std::vector<TensorInfo> InfosOf(const TensorMap& tensors) {
  std::vector<TensorInfo> infos;
  for (const auto& [name, tensor] : tensors) {
    TensorInfo& info = infos.emplace_back(TensorInfo{name, tensor.dtype(), std::vector<Dim>()});
    for (const int64_t size : tensor.dims()) info.shape->push_back({size, {}});
  }
  return infos;
}

// Keys and values of the tokens so far: [batch, heads, tokens, size], or what begins without any.
bool IsCache(const Tensor* state) {
  constexpr size_t kCacheRank = 4;
  return state != nullptr && (state->dims().size() >= kCacheRank || state->element_count() == 0);
}

}  // namespace

// Each step has other tokens: a mask that stays hides those of the cache.
Status StepStates::CheckMovesOn(const TensorMap& feed) const {
  const std::vector<std::string> states = StateInputs();
  const bool caches = std::ranges::any_of(
      states, [&](const std::string& state) { return IsCache(Find(feed, state)); });
  if (!caches || decoding_) return {};
  const std::vector<std::string> driven = DrivenInputs();
  const std::vector<TensorInfo> infos = InputsOfStateRunner();
  const auto listed = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  for (const auto& [input, values] : feed) {
    if (!IsUsuallyPerToken(input) || MayBeginWith(input) || listed(driven, input)) continue;
    const bool others = std::ranges::any_of(driven, [&](const std::string& tokens) {
      return !IsUsuallyPerToken(tokens) && IsOfOtherTokens(input, tokens, infos, feed);
    });
    if (others) continue;
    const bool mask = input.ends_with("mask");
    return InvalidArgument("--feed-back: '" + input +
                           "' stays the same at every step, while what is fed back holds more "
                           "tokens at each: add --advance " +
                           (mask ? "'" + input + ":append 1'" : input + ":+1") + ", or --advance " +
                           input + ":+0 for a value that stays");
  }
  return {};
}

// Optimum's merged decoders: without, the graph computes all tokens anew and reads no cache.
bool StepStates::MaySwitchToCaches(const TensorInfo& input) const {
  const std::vector<std::string> driven = DrivenInputs();
  return input.name == "use_cache_branch" && words_.axes.empty() &&
         (input.dtype == DType::kBool || IsIntegral(input.dtype)) &&
         std::ranges::find(driven, input.name) == driven.end() && !MayBeginWith(input.name);
}

Status StepStates::SwitchToCaches(int64_t steps, const TensorMap& whole) {
  const std::vector<std::string> states = StateInputs();
  const bool caches = std::ranges::any_of(
      states, [&](const std::string& state) { return IsCache(Find(whole, state)); });
  if (!caches || steps < 2) return {};
  for (const auto& [name, tensor] : whole) {
    if (!MaySwitchToCaches({name, tensor.dtype(), {}}) || tensor.element_count() != 1) continue;
    VERNIER_ASSIGN_OR_RETURN(const Tensor value, CastTensor(tensor, DType::kInt64));
    if (value.As<int64_t>().front() != 0) continue;
    logger_->Info("'" + name + "' is 0 at the first step and 1 from step 1 on, where caches are " +
                  "read (--advance " + name + ":+0 for a value that stays)");
    words_.advances.push_back({.word = name + ":set 1", .input = name, .sets = true, .amount = 1});
    return {};
  }
  return {};
}

// The reference's state is given to all.
Status StepStates::CheckRest(size_t runner, const RunnerSides& sides) const {
  if (plan_->state == StateSource::kReference && runner > 0) return {};
  if (IsForgotten(sides.keeps_state)) return CheckNoStateStays(sides, DrivenInputs());
  return CheckAllStatesFed(sides, DrivenInputs(), PairsOf(runner));
}

// What the feeds have no tensor for by its name, likeness or --map-inputs may find another.
void StepStates::AddMapped(RunnerSides& sides) const {
  const auto made_for = std::ranges::find(names_, fed_for_);
  if (fed_for_ == sides.name || made_for == names_.end()) return;
  const Runner& other = runners_[static_cast<size_t>(made_for - names_.begin())];
  for (const TensorInfo& input : sides.inputs) {
    if (std::ranges::find(other.inputs, input.name) == other.inputs.end()) {
      sides.mapped.push_back(input.name);
    }
  }
}

// The state of a lone runner may lie in its worker.
TensorMap StepStates::WithMasks(const TensorMap& feed) const {
  if (runners_.size() < 2) return feed;
  TensorMap masks;
  for (const Runner& runner : runners_) {
    for (const NamedTensor& state : runner.state) {
      const bool is_new = IsMaskName(state.name) && Find(masks, state.name) == nullptr;
      if (is_new) masks.push_back(state);
    }
  }
  return masks.empty() ? feed : Overlaid(feed, masks);
}

// With that of its tokens.
std::vector<StatePair> StepStates::PairsOf(size_t runner) const {
  std::vector<StatePair> pairs = runners_[runner].pairs;
  const TokenPair* const tokens = decoding_ ? decoding_->PairOf(runner) : nullptr;
  if (tokens != nullptr && !pairs.empty()) pairs.push_back({tokens->logits, tokens->tokens});
  return pairs;
}

bool StepStates::Stays(size_t runner, const RunnerSides& sides, const std::string& input) const {
  const std::vector<std::string> driven = DrivenInputs();
  const std::vector<StatePair> pairs = PairsOf(runner);
  return std::ranges::find(pairs, input, &StatePair::input) == pairs.end() &&
         std::ranges::find(sides.mapped, input) == sides.mapped.end() &&
         std::ranges::find(driven, input) == driven.end();
}

// Once for all, in one line: a scale is right so, and a state is not. Which of the two an input is
// that an output could feed, nothing else may say.
void StepStates::SayConstants(size_t runner, const RunnerSides& sides) {
  if (PairsOf(runner).empty() && (decoding_ || !words_.feed_back.empty())) return;
  WarnOfConstants(runner, sides);
  std::string names;
  for (const TensorInfo& input : sides.inputs) {
    if (MaySwitchToCaches(input) && !PairsOf(runner).empty()) continue;
    if (Stays(runner, sides, input.name)) names += (names.empty() ? "'" : ", '") + input.name + "'";
  }
  if (!names.empty()) logger_->Info(names_[runner] + " | Stays the same at every step: " + names);
}

void StepStates::WarnOfConstants(size_t runner, const RunnerSides& sides) {
  if (sides.own_outputs && sides.own_outputs->empty()) return;
  std::vector<std::string>& told = runners_[runner].doubtful;
  for (const TensorInfo& input : sides.inputs) {
    const bool known = std::ranges::find(told, input.name) != told.end();
    if (known || !Stays(runner, sides, input.name)) continue;
    const std::string words = WordsToFeed(input, sides, PairsOf(runner));
    if (words.empty()) continue;
    told.push_back(input.name);
    const std::string why =
        ", though an output that feeds nothing has its type and shape: add --advance " +
        input.name + ":+0 for a value that stays, or " + words + " for a state";
    logger_->Warning(names_[runner] + " | Stays the same at every step: '" + input.name + "'" +
                     why);
    const std::string doubt = "input '" + input.name + "' stays the same at every step" + why;
    if (std::ranges::find(doubts_, doubt) == doubts_.end()) doubts_.push_back(doubt);
  }
}

// What takes whatever it is fed with says in a step what that is.
void StepStates::KeepToSee(size_t runner, const RunnerSides& sides) {
  Runner& here = runners_[runner];
  here.outputs.assign(sides.outputs.begin(), sides.outputs.end());
  here.mapped = sides.mapped;
  const bool undeclared = sides.inputs.empty() && !sides.keeps_state &&
                          (!here.pairs.empty() || IsForgotten(sides.keeps_state));
  const bool stays = std::ranges::any_of(
      sides.inputs, [&](const TensorInfo& input) { return Stays(runner, sides, input.name); });
  const bool within = sides.own_outputs && (sides.own_outputs->empty() || sides.outputs.empty());
  here.unseen = !within && (undeclared || (stays && HasOpenShapes(sides)));
}

Status StepStates::See(size_t runner, const TensorMap& fed, const TensorMap& given) {
  Runner& here = runners_[runner];
  here.unseen = false;
  const std::vector<TensorInfo> inputs = here.infos.empty() ? InfosOf(fed) : here.infos;
  const std::vector<TensorInfo> outputs = here.outputs.empty() ? InfosOf(given) : here.outputs;
  RunnerSides sides{names_[runner], inputs, outputs, here.keeps_state};
  sides.label = shown_[runner];
  sides.mapped = here.mapped;
  sides.fed = &fed;
  sides.given = &given;
  VERNIER_TRY(CheckRest(runner, sides));
  WarnOfConstants(runner, sides);
  return {};
}

}  // namespace vernier
