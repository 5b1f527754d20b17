#include "check/properties/token_sequence.h"

#include <algorithm>
#include <utility>

#include "check/properties/token_sample.h"
#include "run/steps/step_tensors.h"
#include "util/text/number_text.h"
#include "util/values/list_has.h"

namespace vernier {
namespace {

constexpr int64_t kTokensToTry = 8;
constexpr int64_t kPadsToTry = 3;

Result<Tensor> PadTokens(const Tensor& tokens, const TokenPadding& padding) {
  if (padding.left + padding.right == 0) return tokens;
  Dims dims = tokens.dims();
  const int64_t count = std::exchange(dims[kTokenAxis], 1);
  VERNIER_ASSIGN_OR_RETURN(Tensor pad, MakeZeros(tokens.dtype(), std::move(dims)));
  if (padding.token != 0) {
    VERNIER_ASSIGN_OR_RETURN(pad, AddToAll(pad, padding.token));
  }
  std::vector<Tensor> single(static_cast<size_t>(padding.left), pad);
  for (int64_t i = 0; i < count; ++i) {
    VERNIER_ASSIGN_OR_RETURN(Tensor token, TakeWindow(tokens, kTokenAxis, i, 1));
    single.push_back(std::move(token));
  }
  single.insert(single.end(), static_cast<size_t>(padding.right), pad);
  return JoinAlong(single, kTokenAxis);
}

std::vector<int64_t> PositionsOf(TokenSpan span, const TokenPadding& padding) {
  std::vector<int64_t> values(static_cast<size_t>(padding.left), 0);
  for (int64_t i = 0; i < span.count + padding.right; ++i) values.push_back(span.start + i);
  return values;
}

std::vector<int64_t> MaskOf(TokenSpan span, const TokenPadding& padding, int64_t real) {
  std::vector<int64_t> values(static_cast<size_t>(padding.left), 1 - real);
  values.insert(values.end(), static_cast<size_t>(span.end()), real);
  values.insert(values.end(), static_cast<size_t>(padding.right), 1 - real);
  return values;
}

}  // namespace

Result<TokenSequence> TokenSequence::Of(const Subject& subject) {
  const auto& session = subject.probe->runner().session();
  if (session.inputs.empty() || session.outputs.empty()) {
    return InvalidArgument(
        std::string("the runner does not declare its ") +
        (session.outputs.empty() ? "outputs" : "inputs") +
        ", so caches among them are not known: `vernier run --steps N --feed-back OUTPUT:INPUT` "
        "compares them with another runner's");
  }
  std::vector<StatePair> pairs;
  const Status paired =
      PairStateByLikeness({subject.runner.plan.name, session.inputs, session.outputs}, {}, pairs);
  if (!paired.ok()) {
    const bool has_state = std::ranges::any_of(
        session.inputs, [](const TensorInfo& input) { return IsStateName(input.name); });
    return InvalidArgument(has_state
                               ? "it is not clear which outputs are the caches that the inputs "
                                 "take: `vernier run --feed-back auto` lists them"
                               : "the model takes no caches: no output is called like an input");
  }
  TokenSequence sequence;
  const Sample sample = SampleThatFits(subject, pairs);
  // A mask that the model hands on grows as a cache does, and is a mask all the same.
  for (const StatePair& pair : pairs) {
    if (NameHas(pair.input, "mask")) sequence.mask_outputs_.push_back(pair.output);
  }
  std::erase_if(pairs, [](const StatePair& pair) { return NameHas(pair.input, "mask"); });
  if (pairs.empty()) return InvalidArgument("the model takes no caches: it hands on a mask alone");
  VERNIER_TRY(sequence.FindStates(sample, pairs, session.inputs));
  VERNIER_TRY(sequence.FindInputs(subject, sample));
  VERNIER_TRY(sequence.CountTokens());
  sequence.FindMaskMeaning(subject);
  return sequence;
}

Status TokenSequence::FindStates(const Sample& sample, std::span<const StatePair> pairs,
                                 std::span<const TensorInfo> inputs) {
  for (const StatePair& pair : pairs) {
    const Tensor* const in = Find(sample.feed, pair.input);
    const Tensor* const out = Find(sample.outputs, pair.output);
    if (in == nullptr || out == nullptr) {
      return InvalidArgument("the state '" + pair.output + "' is not handed out as a tensor");
    }
    if (IsTransposed(FindInfo(inputs, pair.input), in->dims(), out->dims())) {
      return Malformed("output '" + pair.output + "' cannot be fed back: its shape " +
                       FormatDims(out->dims()) + " has the axes of input '" + pair.input + "' " +
                       FormatDims(in->dims()) + " in another order");
    }
    VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> axis,
                             GrowingAxis(pair, in->dims(), out->dims()));
    states_.push_back({pair.output, pair.input, axis});
    if (!axis) continue;
    const int64_t grown = out->dims()[*axis] - in->dims()[*axis];
    if (sample_tokens_ > 0 && grown != sample_tokens_) {
      return InvalidArgument("the cache '" + pair.output + "' does not grow as the others do");
    }
    sample_tokens_ = grown;
  }
  if (sample_tokens_ > 0) return {};
  return InvalidArgument("no state grows with the sequence, as caches do: '" +
                         pairs.front().output + "' keeps its shape");
}

Status TokenSequence::FindInputs(const Subject& subject, const Sample& sample) {
  const auto& session = subject.probe->runner().session();
  std::optional<std::string> symbol;
  for (const NamedTensor& input : sample.feed) {
    if (StateOf(input.name, &CacheState::input) != nullptr) continue;
    const TensorInfo* const declared = FindInfo(session.inputs, input.name);
    const TensorInfo info = declared != nullptr
                                ? *declared
                                : TensorInfo{input.name, input.tensor.dtype(), std::nullopt};
    VERNIER_ASSIGN_OR_RETURN(const TokenRole role, RoleOf(info, input.tensor));
    inputs_.push_back({input.name, role});
    if (role == TokenRole::kTokens) VERNIER_TRY(AddTokenDimension(info, symbol));
  }
  for (const NamedTensor& output : sample.outputs) {
    const Dims& dims = output.tensor.dims();
    const bool rows = dims.size() > kTokenAxis && dims[kTokenAxis] == sample_tokens_ &&
                      IsFreeAxis(FindInfo(session.outputs, output.name), kTokenAxis);
    const bool is_state = StateOf(output.name, &CacheState::output) != nullptr;
    if (rows && !is_state && !ListHas(mask_outputs_, output.name))
      row_outputs_.push_back(output.name);
  }
  Result<TensorMap> drawn = InvalidArgument("no dimension of tokens is known");
  if (symbol) drawn = subject.bench.Draw({.dimension = *symbol, .size = kTokensToTry});
  base_ = drawn.ok() ? *std::move(drawn) : subject.feed();
  return {};
}

Result<TokenRole> TokenSequence::RoleOf(const TensorInfo& input, const Tensor& sample) const {
  const Dims& dims = sample.dims();
  if (NameHas(input.name, "mask")) {
    if (dims.size() == 2 && IsFreeAxis(&input, 1)) return TokenRole::kMask;
  } else {
    const bool positions = NameHas(input.name, "position") && IsIntegral(sample.dtype());
    const bool last = !dims.empty() && dims.back() == sample_tokens_;
    if (positions && last && IsFreeAxis(&input, dims.size() - 1)) return TokenRole::kPositions;
    const bool tokens = dims.size() > kTokenAxis && dims[kTokenAxis] == sample_tokens_;
    if (tokens && IsFreeAxis(&input, kTokenAxis)) return TokenRole::kTokens;
  }
  return InvalidArgument("it is not known what the input '" + input.name + "' of the shape " +
                         FormatShape(input.shape) + " has to be for another number of tokens");
}

Status TokenSequence::AddTokenDimension(const TensorInfo& input,
                                        std::optional<std::string>& symbol) const {
  if (!input.shape) return {};
  const std::string& own = (*input.shape)[kTokenAxis].symbol;
  if (symbol && *symbol != own) {
    return InvalidArgument("it is not clear which inputs are the tokens: '" + *symbol + "' and '" +
                           own + "' are both dimensions of some");
  }
  symbol = own;
  return {};
}

Status TokenSequence::CountTokens() {
  for (const Input& input : inputs_) {
    if (input.role != TokenRole::kTokens) continue;
    const int64_t count = Find(base_, input.name)->dims()[kTokenAxis];
    if (count_ > 0 && count != count_) {
      return InvalidArgument("the inputs have different numbers of tokens");
    }
    count_ = count;
  }
  if (count_ > 1) return {};
  return InvalidArgument(count_ == 1
                             ? "the inputs have one token: give more with --input-shapes or --dim"
                             : "no input has a dimension of tokens");
}

// Do real tokens stay what they are where other tokens stand in the place of padding?
Result<bool> TokenSequence::HidesPadding(const Subject& subject) const {
  TensorMap rows[2];
  for (const int64_t token : {0, 1}) {
    VERNIER_ASSIGN_OR_RETURN(const TensorMap feed,
                             PaddedFeed({.left = kPadsToTry, .token = token}));
    VERNIER_ASSIGN_OR_RETURN(const TensorMap outputs, subject.probe->Infer(feed));
    VERNIER_ASSIGN_OR_RETURN(rows[token], RowsOf(outputs, {kPadsToTry, count_}, false));
    if (rows[token].empty()) return InvalidArgument("no output has a row for each token");
  }
  return HoldAgainst(rows[0], rows[1], subject.compare, nullptr).closeness != Closeness::kApart;
}

// Some models take 1 for a real token, others, as PyTorch's key_padding_mask, for padding.
void TokenSequence::FindMaskMeaning(const Subject& subject) {
  for (const Input& input : inputs_) {
    if (input.role != TokenRole::kMask) continue;
    mask_ = input.name;
    if (Kind(Find(base_, mask_)->dtype()) == DTypeKind::kFloat) float_mask_ = mask_;
  }
  if (mask_.empty() || !float_mask_.empty()) return;
  for (const int64_t real : {1, 0}) {
    real_ = real;
    const Result<bool> hides = HidesPadding(subject);
    hides_ = !hides.ok() ? Hides::kNotKnown : *hides ? Hides::kYes : Hides::kNo;
    if (hides_ != Hides::kNo) break;
  }
  if (hides_ != Hides::kYes) real_ = 1;
}

std::string TokenSequence::TakenAs(bool holds) const {
  if (mask_.empty() || (holds && real_ == 1)) return "";
  const std::string value = std::to_string(real_);
  std::string text = "; " + value + " in '" + mask_ + "' was taken for a real token";
  if (!float_mask_.empty()) return text + ", although it may be added to something";
  if (real_ == 0) return text + ", since tokens where it is 1 change no others, as padding";
  return text + (hides_ == Hides::kNo ? ", although tokens where it is 0 change others, and so do "
                                        "those where it is 1"
                                      : "");
}

bool TokenSequence::Has(TokenRole role) const {
  return std::ranges::any_of(inputs_, [&](const Input& input) { return input.role == role; });
}

const CacheState* TokenSequence::StateOf(const std::string& name,
                                         std::string CacheState::*side) const {
  const auto found = std::ranges::find(states_, name, side);
  return found == states_.end() ? nullptr : &*found;
}

Result<TensorMap> TokenSequence::EmptyCaches() const {
  TensorMap caches;
  for (const CacheState& state : states_) {
    const Tensor& base = *Find(base_, state.input);
    Dims dims = base.dims();
    if (state.axis) dims[*state.axis] = 0;
    VERNIER_ASSIGN_OR_RETURN(Tensor empty, MakeZeros(base.dtype(), std::move(dims)));
    caches.push_back({state.input, std::move(empty)});
  }
  return caches;
}

Result<Tensor> TokenSequence::TensorFor(const Input& input, TokenSpan span,
                                        const TokenPadding& padding) const {
  const Tensor& base = *Find(base_, input.name);
  const TokenPadding own = span.start == 0 ? padding : TokenPadding();
  switch (input.role) {
    case TokenRole::kMask:
      return RepeatAlongLast(MaskOf(span, padding, real_), base.dims(), base.dtype());
    case TokenRole::kPositions:
      return RepeatAlongLast(PositionsOf(span, own), base.dims(), base.dtype());
    case TokenRole::kTokens:
      break;
  }
  VERNIER_ASSIGN_OR_RETURN(const Tensor tokens,
                           TakeWindow(base, kTokenAxis, span.start, span.count));
  return PadTokens(tokens, own);
}

Result<TensorMap> TokenSequence::PaddedFeed(TokenSpan span, const TokenPadding& padding,
                                            const TensorMap& caches) const {
  TensorMap feed;
  for (const NamedTensor& base : base_) {
    const auto input = std::ranges::find(inputs_, base.name, &Input::name);
    if (input != inputs_.end()) {
      VERNIER_ASSIGN_OR_RETURN(Tensor tensor, TensorFor(*input, span, padding));
      feed.push_back({base.name, std::move(tensor)});
    } else if (const Tensor* const cache = Find(caches, base.name)) {
      feed.push_back({base.name, *cache});
    }
  }
  return feed;
}

Result<TensorMap> TokenSequence::Feed(TokenSpan span, const TensorMap& caches) const {
  return PaddedFeed(span, {}, caches);
}

Result<TensorMap> TokenSequence::PaddedFeed(const TokenPadding& padding) const {
  VERNIER_ASSIGN_OR_RETURN(const TensorMap caches, EmptyCaches());
  return PaddedFeed(all(), padding, caches);
}

TensorMap TokenSequence::CachesOf(const TensorMap& outputs) const {
  TensorMap caches;
  for (const CacheState& state : states_) {
    const Tensor* const found = Find(outputs, state.output);
    if (found != nullptr) caches.push_back({state.input, *found});
  }
  return caches;
}

Result<TensorMap> TokenSequence::PartOf(const TensorMap& outputs, TokenSpan span,
                                        const TensorMap& found) const {
  TensorMap part;
  for (const NamedTensor& output : outputs) {
    const Tensor& tensor = output.tensor;
    const CacheState* const state = StateOf(output.name, &CacheState::output);
    const bool is_cache = state != nullptr && state->axis.has_value();
    const size_t axis = is_cache ? *state->axis : kTokenAxis;
    const bool has_tokens = axis < tensor.dims().size() && tensor.dims()[axis] == count_;
    const bool in_rows = std::ranges::find(row_outputs_, output.name) != row_outputs_.end();
    if (has_tokens && (is_cache || in_rows)) {
      const TokenSpan taken = is_cache ? TokenSpan{0, span.end()} : span;
      VERNIER_ASSIGN_OR_RETURN(Tensor window, TakeWindow(tensor, axis, taken.start, taken.count));
      part.push_back({output.name, std::move(window)});
      continue;
    }
    const Tensor* const other = Find(found, output.name);
    const bool same_shape = other != nullptr && other->dims() == tensor.dims();
    if (span.end() == count_ && (state != nullptr || same_shape)) part.push_back(output);
  }
  return part;
}

Result<TensorMap> TokenSequence::RowsOf(const TensorMap& outputs, TokenSpan span,
                                        bool with_caches) const {
  TensorMap rows;
  for (const NamedTensor& output : outputs) {
    const CacheState* const state = StateOf(output.name, &CacheState::output);
    const bool has_rows = std::ranges::find(row_outputs_, output.name) != row_outputs_.end();
    const bool is_cache = with_caches && state != nullptr && state->axis.has_value();
    if (!has_rows && !is_cache) continue;
    const size_t axis = is_cache ? *state->axis : kTokenAxis;
    const Dims& dims = output.tensor.dims();
    if (axis >= dims.size() || dims[axis] < span.end()) continue;
    VERNIER_ASSIGN_OR_RETURN(Tensor taken, TakeWindow(output.tensor, axis, span.start, span.count));
    rows.push_back({output.name, std::move(taken)});
  }
  return rows;
}

}  // namespace vernier
