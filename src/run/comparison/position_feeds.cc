#include "run/comparison/position_feeds.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "run/comparison/token_sources.h"
#include "run/steps/step_tensors.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

constexpr const char* kUsualTokens = "input_ids";
constexpr const char* kUsualMask = "attention_mask";
constexpr std::string_view kNoMask = "none";  // --mask none

// What keeps a tensor from being of positions; empty: nothing.
std::string WhyNoPositions(const Tensor& tensor) {
  const size_t rank = tensor.dims().size();
  if (!HoldsPositionValues(tensor.dtype())) return std::string(DTypeName(tensor.dtype()));
  return rank == 1 || rank == 2 ? "" : "shape " + FormatDims(tensor.dims());
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
  return InvalidArgument(flag + " " + input +
                         ": saved outputs have no inputs; --tokens FILE.npy gives them tokens");
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

bool JudgesLogits(const CompareOptions& options) {
  return std::ranges::find(options.functions, CompareFunction::kLogits) != options.functions.end();
}

bool JudgesElementsOf(const CompareOptions& options) {
  return std::ranges::any_of(options.functions, [](CompareFunction function) {
    return function != CompareFunction::kLogits && function != CompareFunction::kIndices;
  });
}

// Masks that were drawn at random say nothing of the positions. Polygraphy compares all.
bool LeavesOutElements(const RunPlan& plan) {
  const bool given = !plan.inputs.load_paths.empty() || plan.inputs.script.given();
  return (given || !plan.compare->mask.empty()) && !plan.lenient && JudgesElementsOf(*plan.compare);
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

PositionFeeds::PositionFeeds(const RunPlan& plan)
    : options_(&*plan.compare),
      for_logits_(JudgesLogits(*plan.compare)),
      for_elements_(LeavesOutElements(plan)) {}

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
                                                          const char* usual, const TensorMap& feed,
                                                          const StepSequence* steps) const {
  if (usual == kUsualMask && asked == kNoMask) return std::optional<PositionValues>();
  const std::string flag = usual == kUsualMask ? "--mask" : "--tokens";
  const std::string name = asked.empty() ? usual : asked;
  const Tensor* const fed = Find(feed, name);
  if (fed == nullptr && !asked.empty()) {
    return InvalidArgument(flag + " " + asked + ": there is no input '" + asked + "', but " +
                           NamesOfFeed(feed));
  }
  if (fed == nullptr) return std::optional<PositionValues>();
  if (const std::string why = WhyNoPositions(*fed); !why.empty()) {
    if (!asked.empty()) return BadPositions(flag + " " + asked, why);
    return std::optional<PositionValues>();
  }
  PositionValues values{.source = name, .asked = !asked.empty(), .count = fed->dims().back()};
  VERNIER_ASSIGN_OR_RETURN(values.tensor, WithNextColumn(name, *fed, steps));
  return std::optional(std::move(values));
}

// Of an encoder and a decoder, nothing says which one's positions an output has.
bool PositionFeeds::MaskIsForElements(const TensorMap& feed) const {
  const bool decoder = std::ranges::any_of(
      feed, [](const NamedTensor& input) { return input.name.starts_with("decoder_"); });
  return for_elements_ && (!decoder || !options_->mask.empty());
}

Status PositionFeeds::Note(int64_t iteration, const TensorMap& feed, const StepSequence* steps) {
  if (!for_logits_ && !for_elements_) return {};
  if (noted_.contains(iteration)) return {};
  FedPositions fed;
  // Those that a decoding is fed with are in the input that takes them.
  const std::string forced = steps == nullptr ? "" : steps->ForcedInput();
  const std::string usual = forced.empty() ? kUsualTokens : forced;
  const std::string asked = from_elsewhere_ ? "" : options_->tokens;
  if (!file_ && for_logits_) {
    VERNIER_ASSIGN_OR_RETURN(fed.tokens, Take(asked, usual.c_str(), feed, steps));
  }
  VERNIER_ASSIGN_OR_RETURN(fed.mask, Take(options_->mask, kUsualMask, feed, steps));
  if (fed.mask) fed.mask->for_elements = MaskIsForElements(feed);
  const bool idle = fed.mask && !fed.mask->asked && !HasExcluded(fed.mask->tensor);
  if (idle && !for_logits_) return {};
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
    current_.tokens->place = {position.sequence, position.step, steps};
  }
  return &current_;
}

void PositionFeeds::Forget(int64_t iteration) {
  noted_.erase(noted_.begin(), noted_.upper_bound(iteration));
}

Status PositionFeeds::CheckFit(const IterationComparison& comparison) const {
  FitOfSource tokens, mask;
  for (const OutputComparison& output : comparison.outputs) {
    const FunctionResult* const result = output.Find(CompareFunction::kLogits);
    const auto* const logits =
        result == nullptr ? nullptr : std::get_if<LogitsResult>(&result->data);
    if (output.masked) mask.Look(output.masked->why_not);
    if (logits == nullptr) continue;
    tokens.Look(logits->tokens.why_no_tokens);
    mask.Look(logits->tokens.why_no_mask);
  }
  VERNIER_TRY(tokens.Judge("--tokens " + options_->tokens));
  return mask.Judge("--mask " + options_->mask);
}

}  // namespace vernier
