// What a runner hands on to its next step, against what that takes; and what nobody sees of it.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inputs/coerce_feed.h"
#include "run/steps/step_states.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

bool Takes(const TensorInfo& input, const Tensor& tensor, bool lenient) {
  NoLog unheard;
  CoerceOptions options;
  options.strictness = lenient ? Strictness::kPolygraphy : Strictness::kStrict;
  return CoerceFeed({{input.name, tensor}}, std::span(&input, 1), options, unheard).ok();
}

TensorInfo InfoOf(const std::string& name, DType dtype, const Dims& dims) {
  std::vector<Dim> shape;
  for (const int64_t size : dims) shape.push_back({size, {}});
  return {name, dtype, std::move(shape)};
}

// What broadcasts hide is an axis that shrinks once. Caches grow, some of them not at every step,
// and what grew may be cut.
void FreeWhatGrew(TensorInfo& taken, const Dims& dims, bool first) {
  if (taken.shape->size() != dims.size()) return;
  for (size_t i = 0; i < dims.size(); ++i) {
    Dim& dim = (*taken.shape)[i];
    if (dims[i] > dim.value || (first && dims[i] != dim.value)) dim.value = -1;
  }
}

Status HandsOnOther(const StatePair& pair, const Tensor& state, const StepPosition& position,
                    const TensorInfo& input, std::string_view takes) {
  return BackendError(
      "gave output '" + pair.output + "' as " + std::string(DTypeName(state.dtype())) + " " +
      FormatDims(state.dims()) + " at step " + std::to_string(position.step) + " of sequence " +
      std::to_string(position.sequence) + ", and the input '" + pair.input +
      "' of the next step, which is fed with it (--feed-back), " + std::string(takes) + " " +
      std::string(DTypeName(input.dtype)) + " " + FormatShape(input.shape));
}

}  // namespace

// The first state may be of another type and rank than what a runner makes of it.
void StepStates::BeginTaken(const TensorMap& feed) {
  for (Runner& runner : runners_) {
    runner.taken.clear();
    for (const StatePair& pair : runner.pairs) {
      const Tensor* const first = Find(feed, pair.input);
      if (first == nullptr) continue;
      runner.taken[pair.input] = InfoOf(pair.input, DType::kUndefined, first->dims());
    }
  }
}

Status StepStates::CheckHandedOn(size_t runner, bool lenient) {
  Runner& here = runners_[runner];
  if (!FeedsNext(runner)) return {};
  for (const StatePair& pair : here.pairs) {
    const Tensor* const state = Find(here.next, pair.input);
    const TensorInfo* const input = FindInfo(here.infos, pair.input);
    if (state == nullptr) continue;
    if (input != nullptr && !Takes(*input, *state, lenient)) {
      return HandsOnOther(pair, *state, position_, *input, "takes");
    }
    if (input != nullptr && input->shape) continue;
    TensorInfo& taken = here.taken[pair.input];
    const bool first = taken.dtype == DType::kUndefined;
    if (first && (!taken.shape || taken.shape->size() != state->dims().size())) {
      taken = InfoOf(pair.input, state->dtype(), state->dims());
    }
    if (first) taken.dtype = state->dtype();
    FreeWhatGrew(taken, state->dims(), first);
    if (!Takes(taken, *state, lenient)) {
      return HandsOnOther(pair, *state, position_, taken, "is not declared, and took");
    }
  }
  return {};
}

std::string StepStates::NoteOnState(size_t runner) const {
  const Runner& here = runners_[runner];
  if (!here.keeps_state || !here.pairs.empty()) return "";
  std::string words;
  for (const FeedBackWord& word : words_.feed_back) {
    if (word.label.empty()) words += " " + word.word;
  }
  if (words.empty()) return "";
  return "keeps its state inside: --feed-back" + words +
         " does not apply to it (to feed it, name the runner: " + shown_[runner] + ":OUTPUT:INPUT)";
}

bool StepStates::MayHideState(size_t runner) const {
  const Runner& here = runners_[runner];
  const std::vector<std::string> states = StateInputs();
  return here.paired && here.pairs.empty() && !here.keeps_state &&
         std::ranges::none_of(here.infos, [&](const TensorInfo& input) {
           return std::ranges::find(states, input.name) != states.end();
         });
}

}  // namespace vernier
