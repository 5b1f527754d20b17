// What a runner hands on to its next step, against what that takes; and what nobody sees of it.
#include <algorithm>
#include <string>

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

}  // namespace

Status StepStates::CheckHandedOn(size_t runner, bool lenient) const {
  const Runner& here = runners_[runner];
  if (!FeedsNext(runner)) return {};
  for (const StatePair& pair : here.pairs) {
    const Tensor* const state = Find(here.next, pair.input);
    const TensorInfo* const input = FindInfo(here.infos, pair.input);
    if (state == nullptr || input == nullptr || Takes(*input, *state, lenient)) continue;
    return BackendError("gave output '" + pair.output + "' as " +
                        std::string(DTypeName(state->dtype())) + " " + FormatDims(state->dims()) +
                        " at step " + std::to_string(position_.step) + " of sequence " +
                        std::to_string(position_.sequence) + ", and the input '" + pair.input +
                        "' of the next step, which is fed with it (--feed-back), takes " +
                        std::string(DTypeName(input->dtype)) + " " + FormatShape(input->shape));
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
