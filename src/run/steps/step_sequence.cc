#include "run/steps/step_sequence.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "inputs/cast_tensor.h"
#include "record/schema/runner_name.h"
#include "run/steps/greedy_tokens.h"
#include "run/steps/mask_length.h"
#include "run/steps/prompt_inputs.h"
#include "run/steps/step_slices.h"
#include "run/steps/step_tensors.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// From here on it is worth a line.
constexpr int64_t kManySteps = 10'000'000;

// `tokens`, one of each row, behind the columns of a batch; int64.
Result<Tensor> WithColumn(const Tensor& batch, const std::vector<int64_t>& tokens) {
  VERNIER_ASSIGN_OR_RETURN(const Tensor wide, CastTensor(batch, DType::kInt64));
  const auto columns = static_cast<size_t>(wide.dims().back());
  Dims dims = wide.dims();
  ++dims.back();
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(DType::kInt64, dims));
  const std::span<const int64_t> from = wide.As<int64_t>();
  const std::span<int64_t> into = buffer.As<int64_t>();
  for (size_t row = 0; row < tokens.size(); ++row) {
    std::ranges::copy(from.subspan(row * columns, columns), into.begin() + row * (columns + 1));
    into[row * (columns + 1) + columns] = tokens[row];
  }
  return std::move(buffer).Freeze();
}

Status NotInFeed(std::string_view flag, const std::string& word, const std::string& input,
                 const TensorMap& feed) {
  std::string names;
  for (const NamedTensor& tensor : feed) names += (names.empty() ? "'" : ", '") + tensor.name + "'";
  return BadStepWord(
      flag, word, "the inputs have no '" + input + "', but " + (names.empty() ? "nothing" : names));
}

std::string FewerSteps(int64_t steps) {
  return ": --steps " + std::to_string(steps) +
         " is the most that fits (--lenient leaves it to the runtime)";
}

Status InStep(std::string_view flag, const std::string& word, const Status& why) {
  return why.code() == StatusCode::kInvalidArgument ? BadStepWord(flag, word, why.message()) : why;
}

}  // namespace

Result<std::unique_ptr<StepSequence>> StepSequence::Create(StepStates& states, Source source) {
  std::unique_ptr<StepSequence> sequence(new StepSequence(states, std::move(source)));
  VERNIER_TRY(sequence->CheckNames());
  VERNIER_TRY(sequence->CompleteSlices());
  return sequence;
}

// Before anything runs, where the runner says what it takes.
Status StepSequence::CheckNames() const {
  for (const NamedTensor& tensor : source_.initial) {
    if (states_.MayBeginWith(tensor.name)) continue;
    return BadStepWord("--initial-state", states_.plan().initial_state,
                       "'" + tensor.name + "' is not an input that is fed back");
  }
  return {};
}

Status StepSequence::CompleteSlices() {
  slices_ = states_.words().slices;
  for (SliceWord& slice : slices_) {
    CompleteSlice(source_.runner, source_.inputs, slice);
    const bool own = IsSliceOf(slice, source_.runner);
    const TensorInfo* const info = own ? FindInfo(source_.inputs, slice.input) : nullptr;
    if (info != nullptr && info->shape && slice.axis >= info->shape->size()) {
      return BadStepWord(kSliceFlag, slice.word, NoSuchAxis(slice, FormatShape(info->shape)));
    }
    if (!slice.size) {
      return BadStepWord(kSliceFlag, slice.word,
                         WhyNoSize(slice, own ? source_.inputs : std::vector<TensorInfo>()));
    }
    if (*slice.hop < 1) {
      return BadStepWord(kSliceFlag, slice.word,
                         "expected pad < size, got pad=" + std::to_string(slice.pad) +
                             ", size=" + std::to_string(*slice.size));
    }
  }
  return {};
}

Result<std::optional<TensorMap>> StepSequence::Next(const NextWhole& next_whole) {
  if (position_.sequence < 0 || position_.last()) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> whole, next_whole());
    if (!whole) return whole;
    VERNIER_TRY(Begin(*std::move(whole)));
  } else {
    ++position_.step;
  }
  TensorMap feed;
  if (prepared_.empty()) {
    VERNIER_ASSIGN_OR_RETURN(feed, FeedOfStep(position_.step));
  } else {
    feed = std::move(prepared_.front());
    prepared_.pop_front();
  }
  std::vector<TensorMap> own = all_steps_;
  for (size_t i = 0; i < own.size(); ++i) {
    if (states_.axis(i)) continue;
    VERNIER_ASSIGN_OR_RETURN(own[i], SlicesFor(states_.runners()[i], position_.step));
  }
  VERNIER_TRY(states_.Enter(position_, std::move(own), feed));
  return std::optional<TensorMap>(std::move(feed));
}

const TensorMap* StepSequence::Prepare(size_t behind) {
  if (states_.runners().size() != 1 || position_.sequence < 0) return nullptr;
  while (prepared_.size() <= behind) {
    const int64_t step = position_.step + 1 + std::ssize(prepared_);
    if (step >= position_.steps) return nullptr;
    Result<TensorMap> feed = FeedOfStep(step);
    if (!feed.ok()) return nullptr;
    prepared_.push_back(*std::move(feed));
  }
  return &prepared_[behind];
}

Status StepSequence::Begin(TensorMap whole) {
  whole_ = std::move(whole);
  position_ = {position_.sequence + 1, 0, 1};
  VERNIER_TRY(AddFirstState());
  if (source_.check) VERNIER_TRY(source_.check(whole_));
  VERNIER_TRY(NameNans());
  VERNIER_ASSIGN_OR_RETURN(position_.steps, CountSteps());
  if (source_.state_is_drawn) VERNIER_TRY(CheckGoesOn());
  if (position_.steps >= kManySteps) {
    states_.logger().Once(Severity::kWarning,
                          "--steps: each sequence is " + std::to_string(position_.steps) +
                              " inferences of each runner, one after the other");
  }
  SayWhatIsLeft();
  SayWhatOverlaps();
  VERNIER_TRY(states_.SwitchToCaches(position_.steps, whole_));
  for (const AdvanceWord& advance : states_.words().advances) {
    VERNIER_TRY(CheckAdvance(advance));
  }
  states_.timeline().Add(position_.sequence, position_.steps);
  all_steps_.assign(states_.runners().size(), {});
  for (size_t i = 0; i < all_steps_.size(); ++i) {
    if (!states_.axis(i)) continue;
    VERNIER_ASSIGN_OR_RETURN(all_steps_[i], AllStepsFor(states_.runners()[i], *states_.axis(i)));
  }
  return {};
}

// What changes from step to step, of all steps along the axis; of what grows, the last.
Result<TensorMap> StepSequence::AllStepsFor(const std::string& runner, size_t axis) const {
  std::map<std::string, std::vector<Tensor>> parts;
  TensorMap all;
  for (int64_t step = 0; step < position_.steps; ++step) {
    VERNIER_ASSIGN_OR_RETURN(TensorMap feed, FeedOfStep(step));
    VERNIER_ASSIGN_OR_RETURN(const TensorMap own, SlicesFor(runner, step));
    feed = Overlaid(std::move(feed), own);
    for (const SliceWord& slice : slices_) {
      if (!IsSliceOf(slice, runner)) continue;
      std::vector<Tensor>& joined = parts[slice.input];
      if (std::ssize(joined) == step) joined.push_back(*Find(feed, slice.input));
    }
    for (const AdvanceWord& advance : states_.words().advances) {
      const Tensor& now = *Find(feed, advance.input);
      if (!advance.appends) parts[advance.input].push_back(now);
      if (advance.appends && step + 1 == position_.steps) all.push_back({advance.input, now});
    }
  }
  for (const auto& [input, steps] : parts) {
    Result<Tensor> joined = JoinAlong(steps, axis);
    if (!joined.ok()) {
      return InStep(kAxisFlag, runner + ":" + std::to_string(axis) + ", '" + input + "'",
                    joined.status());
    }
    all.push_back({input, *std::move(joined)});
  }
  return all;
}

const Tensor* StepSequence::SlicedTensor(const SliceWord& slice) const {
  return Find(whole_, slice.input);
}

std::optional<int64_t> StepSequence::StartOfSlice(const std::string& input, size_t axis) const {
  for (const SliceWord& slice : slices_) {
    if (!slice.label.empty() || slice.input != input || slice.axis != axis) continue;
    return position_.step * *slice.hop - slice.pad;
  }
  return std::nullopt;
}

std::string StepSequence::ForcedInput() const {
  return states_.given_tokens() == nullptr ? "" : states_.TokensInput();
}

Result<std::optional<Tensor>> StepSequence::WithGivenToken(const std::string& input,
                                                           const Tensor& fed) const {
  if (input != ForcedInput() || fed.dims().empty()) return std::optional<Tensor>();
  const int64_t batch = fed.dims().size() == 1 ? 1 : fed.dims().front();
  VERNIER_ASSIGN_OR_RETURN(const auto tokens, states_.given_tokens()->Behind(position_, batch));
  if (!tokens) return std::optional<Tensor>();
  VERNIER_ASSIGN_OR_RETURN(Tensor joined, WithColumn(fed, *tokens));
  return std::optional(std::move(joined));
}

// As many as all slices have room for, or as were asked for, or as tokens are given for.
Result<int64_t> StepSequence::CountSteps() const {
  std::optional<int64_t> steps = states_.StepsAsked();
  for (const SliceWord& slice : slices_) {
    const Tensor* const tensor = SlicedTensor(slice);
    if (tensor == nullptr) return NotInFeed(kSliceFlag, slice.word, slice.input, whole_);
    if (slice.axis >= tensor->dims().size()) {
      return BadStepWord(kSliceFlag, slice.word, NoSuchAxis(slice, FormatDims(tensor->dims())));
    }
    const int64_t length = tensor->dims()[slice.axis];
    if (length + slice.pad < *slice.size) return TooShort(slice, *tensor, position_.sequence);
    const int64_t room = length - (*slice.size - slice.pad);
    const int64_t holds = room < 0 ? 0 : room / *slice.hop + 1;
    if (!steps) steps = holds;
    if (holds >= *steps && holds > 0) continue;
    return Malformed("--step-slice " + slice.word + ": '" + slice.input + "' of sequence " +
                     std::to_string(position_.sequence) + " has " + Counted(length, "element") +
                     " along axis " + std::to_string(slice.axis) + ", enough for " +
                     Counted(holds, "step") + " of " + std::to_string(*slice.size) + ", not for " +
                     std::to_string(std::max<int64_t>(*steps, 1)) + " (--steps, or another slice)");
  }
  return steps.value_or(1);
}

// Random inputs are as long as one step unless the words say how many there are, which decoding
// needs anyway.
Status StepSequence::CheckGoesOn() const {
  if (states_.plan().decodes()) return {};
  const std::string why = DescribeOneStep(states_.plan(), std::span(&position_.steps, 1));
  if (why.empty()) return {};
  return InvalidArgument(why + ": give --steps N, or --load-inputs with whole sequences");
}

// Each step is judged by all of its positions.
void StepSequence::SayWhatOverlaps() const {
  for (const SliceWord& slice : slices_) {
    const DType dtype = SlicedTensor(slice)->dtype();
    const bool tokens =
        (dtype == DType::kInt32 || dtype == DType::kInt64) && !IsUsuallyPerToken(slice.input);
    const int64_t shared = *slice.size - *slice.hop;
    if (shared <= 0 || position_.steps < 2 || !tokens) continue;
    states_.logger().Once(Severity::kInfo,
                          "--step-slice " + slice.word + ": a step shares " +
                              Counted(shared, "element") + " of '" + slice.input +
                              "' with the one before; as tokens they count in both");
  }
}

// Of a recording: what is drawn is not missed. The first sequence of each slice is named alone.
void StepSequence::SayWhatIsLeft() const {
  for (const SliceWord& slice : slices_) {
    const int64_t length = SlicedTensor(slice)->dims()[slice.axis], last = position_.steps - 1;
    const int64_t left =
        length + slice.pad - *slice.size - last * std::min(*slice.hop, *slice.size);
    if (left <= 0 || source_.state_is_drawn) continue;
    const std::string of_sequence = " of sequence " + std::to_string(position_.sequence);
    states_.NoteLeftOut(slice, CountedOf(left, length, "element") + " along axis " +
                                   std::to_string(slice.axis) +
                                   (position_.sequence > 0 ? of_sequence : "") +
                                   Verb(left, " was", " were") + " not fed");
    const int64_t rest = length + slice.pad - *slice.size - last * *slice.hop;
    if (states_.StepsAsked() || rest < *slice.hop) continue;
    states_.logger().Once(Severity::kWarning,
                          "--step-slice " + slice.word + ": of " + Counted(length, "element") +
                              " of '" + slice.input + "'" + of_sequence + ", the last " +
                              std::to_string(rest) + " are in no step: another input is for " +
                              Counted(position_.steps, "step") + " only");
  }
}

// Those with the label of one runner.
Result<TensorMap> StepSequence::SlicesFor(const std::string& runner, int64_t step) const {
  TensorMap taken;
  for (const SliceWord& slice : slices_) {
    const bool own = runner.empty() ? slice.label.empty()
                                    : !slice.label.empty() && IsCalled(runner, slice.label);
    if (!own) continue;
    const int64_t start = step * *slice.hop - slice.pad;
    Result<Tensor> window = TakeWindow(*SlicedTensor(slice), slice.axis, start, *slice.size);
    if (!window.ok()) return InStep(kSliceFlag, slice.word, window.status());
    taken.push_back({slice.input, *std::move(window)});
  }
  return taken;
}

// Behind a prompt, what had a value for each of its tokens has that of one.
Result<Tensor> StepSequence::OfNewToken(const AdvanceWord& advance, Tensor advanced) const {
  const std::string& input = advance.input;
  const std::string tokens = states_.TokensInput();
  const Tensor* const prompt = Find(whole_, tokens);
  if (prompt == nullptr || !IsPerToken(advanced.dims(), prompt->dims())) return advanced;
  if (IsOfOtherTokens(input, tokens, source_.inputs, whole_)) return advanced;
  if (advance.stays() && !HasOneForNextToken(input, tokens, source_.inputs)) {
    states_.logger().Once(Severity::kInfo, std::string(kAdvanceFlag) + " " + advance.word + ": '" +
                                               input + "' stays whole at every step, of shape " +
                                               FormatDims(advanced.dims()));
    return advanced;
  }
  const size_t last = advanced.dims().size() - 1;
  return TakeWindow(advanced, last, advanced.dims()[last] - 1, 1);
}

Result<Tensor> StepSequence::AdvancedTo(const AdvanceWord& advance, int64_t step) const {
  const Tensor& first = *Find(whole_, advance.input);
  Result<Tensor> now = AdvancedFrom(first, advance, step);
  if (now.ok() || now.status().code() != StatusCode::kMalformed) return now;
  const bool is_switch = first.dtype() == DType::kBool && !advance.appends && !advance.sets;
  return Malformed(
      AtStep(advance, step, now.status().message()) +
      (is_switch ? ": --advance '" + advance.input + ":set 1' is 1 from step 1 on" : ""));
}

std::string StepSequence::AtStep(const AdvanceWord& advance, int64_t step,
                                 const std::string& what) const {
  return std::string(kAdvanceFlag) + " " + advance.word + ": at step " + std::to_string(step) +
         " of sequence " + std::to_string(position_.sequence) + ", " + what;
}

// Before the first step runs, as far as the last one shows what will not fit.
Status StepSequence::CheckAdvance(const AdvanceWord& advance) const {
  if (Find(whole_, advance.input) == nullptr) {
    return NotInFeed(kAdvanceFlag, advance.word, advance.input, whole_);
  }
  const int64_t last = position_.steps - 1;
  if (advance.appends) {
    const std::string why =
        WhyNotAppended(advance.input, *Find(whole_, advance.input), advance.amount);
    if (!why.empty()) return BadStepWord(kAdvanceFlag, advance.word, why);
    const Result<Tensor> longer = AdvancedTo(advance, std::min<int64_t>(1, last));
    return longer.ok() ? CheckGrows(advance) : InStep(kAdvanceFlag, advance.word, longer.status());
  }
  if (advance.stays() || CheckMade(advance, last).ok()) return {};
  int64_t good = 0, bad = last;
  while (bad - good > 1) {
    const int64_t middle = good + (bad - good) / 2;
    (CheckMade(advance, middle).ok() ? good : bad) = middle;
  }
  return InStep(kAdvanceFlag, advance.word, CheckMade(advance, bad));
}

// Step 0 has what was fed.
Status StepSequence::CheckMade(const AdvanceWord& advance, int64_t step) const {
  if (step == 0) return {};
  VERNIER_ASSIGN_OR_RETURN(Tensor made, AdvancedTo(advance, step));
  VERNIER_ASSIGN_OR_RETURN(made, OfNewToken(advance, std::move(made)));
  if (!source_.check_made) return {};
  const Status fits = source_.check_made(advance, {advance.input, std::move(made)});
  return fits.ok() ? fits : Malformed(AtStep(advance, step, fits.message()) + FewerSteps(step));
}

// An axis of a size that the model declares does not get longer.
Status StepSequence::CheckGrows(const AdvanceWord& advance) const {
  const TensorInfo* const info = FindInfo(source_.inputs, advance.input);
  const bool fixed =
      info != nullptr && info->shape && !info->shape->empty() && !info->shape->back().dynamic();
  if (!fixed || position_.steps < 2) return {};
  const int64_t length = Find(whole_, advance.input)->dims().back();
  if (length + advance.each == info->shape->back().value) return {};  // step 0 does not fit
  return BadStepWord(kAdvanceFlag, advance.word,
                     "'" + advance.input + "' would have " +
                         Counted(length + advance.each, "element") +
                         " along its last axis at step 1, and " + source_.runner + " declares " +
                         std::to_string(info->shape->back().value));
}

Result<TensorMap> StepSequence::FeedOfStep(int64_t step) const {
  VERNIER_ASSIGN_OR_RETURN(const TensorMap slices, SlicesFor("", step));
  TensorMap feed = Overlaid(whole_, slices);
  for (const AdvanceWord& advance : states_.words().advances) {
    Result<Tensor> now = AdvancedTo(advance, step);
    if (now.ok() && step > 0 && !advance.appends) {
      now = OfNewToken(advance, *std::move(now));
    }
    if (!now.ok()) return InStep(kAdvanceFlag, advance.word, now.status());
    feed = Overlaid(std::move(feed), {{advance.input, *std::move(now)}});
  }
  return feed;
}

}  // namespace vernier
