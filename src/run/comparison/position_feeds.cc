#include "run/comparison/position_feeds.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "inputs/cast_tensor.h"
#include "run/feeds/token_sources.h"
#include "run/steps/step_tensors.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

constexpr const char* kUsualTokens = "input_ids";
constexpr const char* kDecoderTokens = "decoder_input_ids";

// What keeps a tensor from being of positions; empty: nothing.
std::string WhyNoPositions(const Tensor& tensor) {
  const size_t rank = tensor.dims().size();
  if (!HoldsPositionValues(tensor.dtype())) return std::string(DTypeName(tensor.dtype()));
  return rank == 1 || rank == 2 ? "" : "shape " + FormatDims(tensor.dims());
}

// Then inputs without that prefix are the encoder's, and outputs the decoder's.
bool HasDecoder(const TensorMap& feed) {
  return std::ranges::any_of(
      feed, [](const NamedTensor& input) { return input.name.starts_with("decoder_"); });
}

Status BadMask(const std::string& flag, const std::string& why) {
  return Malformed(
      flag + ": expected integers, 1 at positions that count and 0 at the others, got " + why);
}

Status BadPositions(const std::string& flag, const std::string& why) {
  return Malformed(flag + ": there is one integer for each position, [batch, positions], not " +
                   why);
}

std::string NamesOfFeed(const TensorMap& feed) {
  std::string names;
  for (const NamedTensor& tensor : feed) names += (names.empty() ? "'" : ", '") + tensor.name + "'";
  return names.empty() ? "nothing" : names;
}

Status NothingIsFed(const std::string& flag, const std::string& input) {
  const bool mask = flag == "--mask";
  return InvalidArgument(flag + " " + input + ": saved outputs have no inputs" +
                         (mask ? " that could mark positions, so all are compared: leave it out"
                               : "; --tokens FILE.npy gives them tokens"));
}

// A copy: a feed may lie in memory that others wait for. The column behind a slice is known from
// the whole sequence.
Result<Tensor> WithNextColumn(const std::string& name, const Tensor& fed,
                              const StepSequence* steps) {
  const size_t axis = fed.dims().size() - 1;
  const std::optional<int64_t> start =
      steps == nullptr ? std::nullopt : steps->StartOfSlice(name, axis);
  if (steps != nullptr) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<Tensor> forced, steps->WithGivenToken(name, fed));
    if (forced) return *std::move(forced);
  }
  if (!start) return Tensor::Copy(fed.dtype(), fed.dims(), fed.bytes());
  const Tensor& whole = *Find(steps->whole(), name);
  const int64_t end = std::min(*start + fed.dims()[axis] + 1, whole.dims()[axis]);
  return TakeWindow(whole, axis, *start, end - *start);
}

// A step takes one token at least.
Status CheckLength(const PositionValues& tokens, const StepPosition& position) {
  const int64_t columns = tokens.tensor.dims().back();
  if (position.step > 0 || columns >= position.steps) return {};
  return Malformed("--tokens " + tokens.source + ": it has " + Counted(columns, "token") +
                   ", and sequence " + std::to_string(position.sequence) + " has " +
                   Counted(position.steps, "step"));
}

bool JudgesLogits(const CompareOptions& options) {
  return std::ranges::find(options.functions, CompareFunction::kLogits) != options.functions.end();
}

bool JudgesValuesOf(const CompareOptions& options) {
  return std::ranges::any_of(options.functions, [](CompareFunction function) {
    return function != CompareFunction::kIndices;
  });
}

bool LeavesOutElements(const RunPlan& plan) {
  return MayLeaveOutPositions(plan) && JudgesValuesOf(*plan.compare);
}

// Of `logits`; null: it did not look at the output.
const RowTokens* TokensOf(const OutputComparison& output) {
  const FunctionResult* const result = output.Find(CompareFunction::kLogits);
  const auto* const logits = result == nullptr ? nullptr : std::get_if<LogitsResult>(&result->data);
  return logits == nullptr ? nullptr : &logits->tokens;
}

// What was asked for fits an output, or there are no logits to fit.
class FitOfSource {
 public:
  void Look(const std::string& why) {
    fits_ |= why.empty();
    if (why_.empty()) why_ = why;
  }
  Status Judge(const std::string& flag) const {
    return fits_ || why_.empty() ? Status() : Malformed(flag + ": " + why_);
  }

 private:
  bool fits_ = false;
  std::string why_;
};

}  // namespace

Result<const NamedTensor*> FindPositions(const std::string& asked, std::string_view usual,
                                         const TensorMap& feed) {
  constexpr const NamedTensor* kNone = nullptr;
  const bool is_mask = usual == kUsualMask || usual == kDecoderMask;
  if (is_mask && asked == kNoMask) return kNone;
  const std::string flag = (is_mask ? "--mask " : "--tokens ") + asked;
  const std::string_view name = asked.empty() ? usual : asked;
  const auto fed = std::ranges::find(feed, name, &NamedTensor::name);
  if (fed == feed.end()) {
    if (asked.empty()) return kNone;
    return InvalidArgument(flag + ": there is no input '" + asked + "', but " + NamesOfFeed(feed));
  }
  if (const std::string why = WhyNoPositions(fed->tensor); !why.empty()) {
    if (asked.empty()) return kNone;
    return BadPositions(flag, why);
  }
  if (const std::string why = is_mask ? WhyNoMask(fed->tensor) : ""; !why.empty()) {
    if (asked.empty()) return kNone;
    return BadMask(flag, why);
  }
  return &*fed;
}

namespace {

bool AreGiven(const InputPlan& inputs) {
  return !inputs.load_paths.empty() || inputs.script.given();
}

// The largest of integers above 1, which neither mark positions nor are added to scores, as 0 and
// numbers below it may be.
std::optional<int64_t> LargestAboveOne(const Tensor& mask) {
  if (mask.dtype() == DType::kBool || !HoldsPositionValues(mask.dtype())) return std::nullopt;
  const Result<Tensor> wide = CastTensor(mask, DType::kInt64);
  if (!wide.ok() || wide->element_count() == 0) return std::nullopt;
  const int64_t most = std::ranges::max(wide->As<int64_t>());
  return most > 1 ? std::optional(most) : std::nullopt;
}

// Why the values of a tensor that is called like a mask mark nothing; empty: they do.
std::string WhyUnfit(const Tensor& tensor) {
  const size_t rank = tensor.dims().size();
  if (!HoldsPositionValues(tensor.dtype())) return "is " + std::string(DTypeName(tensor.dtype()));
  if (tensor.dtype() == DType::kBool) return "is bool";
  const std::string value = rank == 1 || rank == 2 ? WhyNoMask(tensor) : "";
  return value.empty() ? "" : "holds " + value;
}

}  // namespace

bool MayLeaveOutPositions(const RunPlan& plan) {
  return (AreGiven(plan.inputs) || !plan.compare->mask.empty()) && !plan.lenient;
}

PositionFeeds::PositionFeeds(const RunPlan& plan)
    : options_(&*plan.compare),
      for_logits_(JudgesLogits(*plan.compare)),
      for_elements_(LeavesOutElements(plan)),
      given_(AreGiven(plan.inputs)),
      may_trust_names_(!plan.postprocess_script.given()),
      in_shard_(plan.shard.wanted()) {}

Result<PositionFeeds> PositionFeeds::Create(const RunPlan& plan) {
  const CompareOptions& options = plan.compare;
  PositionFeeds feeds(plan);
  feeds.from_elsewhere_ = GivesTokens(options.tokens);
  if (plan.runners.empty() && !options.mask.empty()) return NothingIsFed("--mask", options.mask);
  if (plan.runners.empty() && !feeds.from_elsewhere_ && !options.tokens.empty()) {
    return NothingIsFed("--tokens", options.tokens);
  }
  return feeds;
}

Status PositionFeeds::Give(Tensor tokens) {
  if (const std::string why = WhyNoPositions(tokens); !why.empty()) {
    return BadPositions("--tokens '" + options_->tokens + "'", why);
  }
  file_ = PositionValues{.source = options_->tokens,
                         .asked = true,
                         .tensor = std::move(tokens),
                         .place = PositionValues::Place()};
  return {};
}

Result<std::optional<PositionValues>> PositionFeeds::Take(const std::string& asked,
                                                          std::string_view usual,
                                                          const TensorMap& feed,
                                                          const StepSequence* steps) const {
  VERNIER_ASSIGN_OR_RETURN(const NamedTensor* const fed, FindPositions(asked, usual, feed));
  if (fed == nullptr) return std::optional<PositionValues>();
  PositionValues values{
      .source = fed->name, .asked = !asked.empty(), .count = fed->tensor.dims().back()};
  VERNIER_ASSIGN_OR_RETURN(values.tensor, WithNextColumn(fed->name, fed->tensor, steps));
  return std::optional(std::move(values));
}

void PositionFeeds::LookForUnfitMask(const char* usual, const TensorMap& feed) {
  const Tensor* const mask = Find(feed, usual);
  if (mask == nullptr || !options_->mask.empty() || !given_ || !unfit_mask_.empty()) return;
  const std::string why = WhyUnfit(*mask);
  if (why.empty()) return;
  const std::optional<int64_t> count = LargestAboveOne(*mask);
  if (count) bad_mask_ = BadMask{usual, std::to_string(*count), mask->dims()};
  unfit_mask_ = "the input '" + std::string(usual) + "' " + why +
                ", where 1 and 0 would mark positions, so all positions are compared (--mask none "
                "says so, --mask INPUT names another input)";
}

Status PositionFeeds::Note(int64_t iteration, const TensorMap& feed, const StepSequence* steps) {
  if (!for_logits_ && !for_elements_) return {};
  if (noted_.contains(iteration)) return {};
  if (file_ && steps != nullptr) VERNIER_TRY(CheckLength(*file_, steps->position()));
  FedPositions fed;
  // Those that a decoding is fed with are in the input that takes them.
  const std::string forced = steps == nullptr ? "" : steps->ForcedInput();
  const bool decoder = HasDecoder(feed);
  const std::string usual = !forced.empty() ? forced : decoder ? kDecoderTokens : kUsualTokens;
  const std::string asked = from_elsewhere_ ? "" : options_->tokens;
  if (!file_ && for_logits_) {
    VERNIER_ASSIGN_OR_RETURN(fed.tokens, Take(asked, usual, feed, steps));
    if (fed.tokens) fed.tokens->of_last = !forced.empty();
  }
  const char* const mask = decoder ? kDecoderMask : kUsualMask;
  const TensorMap with_masks = steps == nullptr ? feed : steps->states().WithMasks(feed);
  VERNIER_ASSIGN_OR_RETURN(fed.mask, Take(options_->mask, mask, with_masks, steps));
  if (fed.mask) fed.mask->for_elements = for_elements_;
  if (fed.mask && steps != nullptr) {
    fed.mask->of_last = steps->states().MayBeginWith(fed.mask->source);
  }
  if (!fed.mask) LookForUnfitMask(mask, feed);
  if (fed.tokens || fed.mask) noted_.emplace(iteration, std::move(fed));
  return {};
}

const FedPositions* PositionFeeds::For(int64_t iteration, const StepPosition& position,
                                       bool steps) {
  const auto noted = noted_.find(iteration);
  if (noted == noted_.end() && !file_) return nullptr;
  current_ = noted == noted_.end() ? FedPositions() : noted->second;
  if (file_) {
    current_.tokens = file_;
    current_.tokens->place = {position.sequence,
                              position.step,
                              steps,
                              in_shard_ ? -1 : rows_.Before(position.sequence),
                              rows_.most(),
                              starts_.At(position)};
  }
  return &current_;
}

const FedPositions* PositionFeeds::ForPair(MaskAxes& axes, const MaskAxes::Streams& streams,
                                           const MatchedSides& sides) {
  of_pair_ = current_;
  std::optional<PositionValues>&tokens = of_pair_.tokens, &mask = of_pair_.mask;
  if (for_logits_ && tokens && tokens->source == kUsualTokens) {
    tokens->elsewhere = axes.OutputsElsewhere(tokens->source, streams, sides);
  }
  if (!mask || mask->asked) return &of_pair_;
  if (!axes.IsFed(mask->source, streams)) {
    mask.reset();
    return &of_pair_;
  }
  if (for_logits_) mask->elsewhere = axes.OutputsElsewhere(mask->source, streams, sides);
  if (mask->for_elements && may_trust_names_) {
    mask->outputs = axes.OutputsAlong(mask->source, streams, sides);
  }
  return &of_pair_;
}

Status PositionFeeds::FitPair(MaskAxes& axes, const MaskAxes::Streams& streams,
                              const MatchedSides& sides, const FedPositions*& positions) {
  VERNIER_TRY(CheckMask(axes, streams, sides));
  if (positions != nullptr) positions = ForPair(axes, streams, sides);
  return {};
}

Status PositionFeeds::CheckMask(MaskAxes& axes, const MaskAxes::Streams& streams,
                                const MatchedSides& sides) const {
  if (!bad_mask_ || options_->mask == kNoMask || !axes.IsFed(bad_mask_->input, streams)) return {};
  const auto& [input, value, dims] = *bad_mask_;
  const std::vector<std::string> elsewhere = axes.OutputsElsewhere(input, streams, sides);
  const bool of_logits =
      for_logits_ && std::ranges::any_of(sides.pairing.pairs, [&](const OutputPair& pair) {
        const NamedTensor& output = sides.a().outputs[pair.a];
        const Dims& of = output.tensor.dims();
        return of.size() == 3 && Dims{of[0], of[1]} == dims &&
               std::ranges::find(elsewhere, output.name) == elsewhere.end();
      });
  const bool of_elements =
      for_elements_ && may_trust_names_ && !axes.OutputsAlong(input, streams, sides).empty();
  if (!of_logits && !of_elements) return {};
  return Malformed("the input '" + input + "' holds " + value +
                   ", where 1 marks positions that are compared and 0 those that are left out: "
                   "correct it, or add --mask none to compare all positions");
}

void PositionFeeds::Forget(int64_t iteration) {
  noted_.erase(noted_.begin(), noted_.upper_bound(iteration));
}

int64_t TakenRows::Before(int64_t sequence) {
  if (sequence > sequence_) {
    before_ += last_ * (sequence - sequence_);
    taken_ = false;
  }
  sequence_ = sequence;
  return before_;
}

void TakenRows::Take(int64_t rows) {
  last_ = taken_ ? std::max(last_, rows) : rows;
  most_ = std::max(most_, rows);
  taken_ = true;
}

const std::map<std::string, StepStarts::Start>& StepStarts::At(const StepPosition& position) {
  if (position.sequence != position_.sequence) {
    starts_.clear();
    next_.clear();
  } else if (position.step != position_.step) {
    for (const auto& [output, start] : next_) starts_.insert_or_assign(output, start);
    next_.clear();
  }
  position_ = position;
  return starts_;
}

void StepStarts::Take(const std::string& output, int64_t columns) {
  const Start& start = starts_[output];
  const int64_t first = start.column + (position_.step - start.step) * columns;
  next_.emplace(output, Start{position_.step + 1, first + columns});
}

Status CheckRowsTaken(int64_t iteration, const IterationComparison& comparison, TakenRows& rows) {
  const int64_t before = rows.Before(iteration);
  for (const OutputComparison& output : comparison.outputs) {
    const RowTokens* const tokens = TokensOf(output);
    if (tokens == nullptr || tokens->rows == 0) continue;
    if (tokens->first_row != before) {
      return Malformed("--tokens " + tokens->tokens + ": the shard of iteration " +
                       std::to_string(iteration) + " took row " +
                       std::to_string(tokens->first_row) + " for its first, and the iterations " +
                       "before it have " + Counted(before, "row") +
                       ", because iterations differ in their number of rows: run this without "
                       "--shard");
    }
    rows.Take(tokens->rows);
  }
  return {};
}

Status PositionFeeds::CheckFit(const IterationComparison& comparison) {
  FitOfSource tokens, mask;
  for (const OutputComparison& output : comparison.outputs) {
    const RowTokens* const judged = TokensOf(output);
    if (output.masked) mask.Look(output.masked->why_not);
    if (judged == nullptr) continue;
    if (judged->rows > 0) rows_.Take(judged->rows);
    if (judged->columns > 0) starts_.Take(output.a_name, judged->columns);
    if (foreign_token_.empty() && !judged->foreign_token.empty()) {
      foreign_token_ = "no perplexity of '" + output.a_name + "': " + judged->foreign_token;
    }
    tokens.Look(judged->why_no_tokens);
    mask.Look(judged->why_no_mask);
  }
  VERNIER_TRY(tokens.Judge("--tokens " + options_->tokens));
  return mask.Judge("--mask " + options_->mask);
}

}  // namespace vernier
