#include "run/live/runner_feeds.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "decide/labels/label_scores.h"
#include "inputs/cast_tensor.h"
#include "inputs/shape_spec.h"
#include "record/schema/runner_name.h"
#include "run/feeds/undeclared_inputs.h"
#include "run/steps/compared_states.h"
#include "run/steps/mask_length.h"
#include "util/log/no_log.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

// A feed without what inputs that are no tensors take of it.
struct SplitFeed {
  TensorMap tensors, parts;
};

// Some runtimes leave out the inputs that no output depends on, and others of the same model ask
// for them.
std::vector<TensorInfo> WithInputsOfOthers(const RunnerSession& first,
                                           const std::deque<RunnerSession>& runners) {
  std::vector<TensorInfo> inputs = first.session().inputs;
  const std::string& path = first.plan().model.path;
  for (const RunnerSession& other : runners) {
    if (path.empty() || !other.opened() || other.plan().model.path != path) continue;
    for (const TensorInfo& input : other.session().inputs) {
      const bool known = std::ranges::find(inputs, input.name, &TensorInfo::name) != inputs.end();
      if (!known && !other.inputs_unknown()) inputs.push_back(input);
    }
  }
  return inputs;
}

Result<SplitFeed> SplitParts(const TensorMap& feed, std::span<const std::string> nested) {
  SplitFeed split;
  std::vector<bool> found(nested.size(), false);
  for (const NamedTensor& tensor : feed) {
    const auto whole = std::ranges::find_if(
        nested, [&](const std::string& name) { return BelongsTo(tensor.name, name); });
    if (whole != nested.end()) found[static_cast<size_t>(whole - nested.begin())] = true;
    (whole != nested.end() ? split.parts : split.tensors).push_back(tensor);
  }
  const auto missing = std::ranges::find(found, false);
  if (missing == found.end()) return split;
  const std::string& name = nested[static_cast<size_t>(missing - found.begin())];
  return Malformed("input '" + name + "' is a sequence, a map or optional, for which nothing is " +
                   "drawn: load its parts with --load-inputs, as '" + ElementName(name, 0) +
                   "', '" + ElementName(name, 1) + "' of a sequence, '" + ValueName(name, "KEY") +
                   "' of a map, '" + PresenceName(name) + "' of an optional");
}

bool IsFedLabel(const DecisionOptions& options, const NamedTensor& fed) {
  return std::ranges::any_of(
      options.labels, [&](const LabelsPlan& labels) { return FedLabelKey(labels) == fed.name; });
}

bool HasFedLabels(const DecisionOptions& options, const TensorMap& feed) {
  return std::ranges::any_of(feed,
                             [&](const NamedTensor& fed) { return IsFedLabel(options, fed); });
}

// Labels that come with what is fed are for models alone that have an input of that name.
TensorMap WithoutFedLabels(const DecisionOptions& options, const RunnerSession& runner,
                           const TensorMap& feed) {
  TensorMap kept;
  for (const NamedTensor& fed : feed) {
    const auto& inputs = runner.session().inputs;
    const bool taken = std::ranges::find(inputs, fed.name, &TensorInfo::name) != inputs.end();
    if (taken || !IsFedLabel(options, fed)) kept.push_back(fed);
  }
  return kept;
}

}  // namespace

// Shapes are those of drawn inputs, which are drawn for one runner.
Status RunnerFeeds::CheckShapes() const {
  const auto shapes = ParseShapeSpecs(plan_.inputs.shape_words, Strictness::kStrict);
  const Result<std::vector<TensorInfo>> drawn = InputsToFeed(true, {});
  if (plan_.lenient || !shapes.ok() || !drawn.ok() || drawn->empty()) return {};
  const auto has = [](std::span<const TensorInfo> inputs, const std::string& name) {
    return std::ranges::any_of(
        inputs, [&](const TensorInfo& input) { return MeansInput(name, input.name); });
  };
  for (const ShapeSpec& shape : *shapes) {
    if (has(*drawn, shape.name)) continue;
    for (const RunnerSession& runner : runners_) {
      if (!runner.opened() || !has(runner.session().inputs, shape.name)) continue;
      const std::string label = WithoutTime(runner.name());
      return InvalidArgument(
          "--input-shapes: '" + shape.name + "' is an input of " + label +
          " alone, and inputs are drawn for a runner before it; map it (--map-inputs " + label +
          ":" + shape.name +
          "=NAME), load it (--load-inputs) or, if it is a state, give its first "
          "value (--initial-state)");
    }
  }
  return {};
}

Status RunnerFeeds::CheckMaps() const {
  if (runners_.empty()) return {};
  VERNIER_TRY(CheckShapes());
  VERNIER_TRY(CheckGivenTokens());
  const bool all_opened = std::ranges::all_of(runners_, &RunnerSession::opened);
  if (const StepStates* const states = steps_.states(); states != nullptr && all_opened) {
    VERNIER_TRY(states->CheckUsed());
    VERNIER_TRY(CheckStatesCompared(plan_, *states));
  }
  std::vector<std::vector<TensorInfo>> all;
  for (const RunnerSession& runner : runners_) {
    if (!runner.opened() || runner.session().inputs.empty()) return {};
    VERNIER_TRY(maps_->CheckRunner(runner.name(), runner.session().inputs));
    all.push_back(runner.session().inputs);
  }
  return maps_->CheckNames(all);
}

// Before the first step, since those of later steps are known.
Status RunnerFeeds::CheckGivenTokens() const {
  const StepStates* const states = steps_.states();
  const GivenTokens* const given = states == nullptr ? nullptr : states->given_tokens();
  if (given == nullptr) return {};
  for (size_t i = 0; i < runners_.size(); ++i) {
    const TokenPair* const pair = states->decoding()->PairOf(i);
    if (pair == nullptr) continue;
    for (const TokenTable& table : steps_.tokens().TablesOfInput(i, pair->tokens)) {
      VERNIER_TRY(given->CheckFed(*states->StepsAsked(), table.rows,
                                  "'" + table.table + "', in which " + table.node + " of " +
                                      states->ShownName(i) + " looks it up,"));
    }
  }
  return {};
}

// What a decoding chose, or a runner handed on, is no fault of the inputs: only the runner that
// cannot look it up is out.
Status RunnerFeeds::CheckMadeTokens(size_t index, const TensorMap& fed) const {
  const StepStates* const states = steps_.states();
  if (states == nullptr || states->position().step == 0) return {};
  const Decoding* const decoding = states->decoding();
  const TokenPair* const pair = decoding == nullptr ? nullptr : decoding->PairOf(index);
  if (pair != nullptr) VERNIER_TRY(CheckMadeToken(index, pair->tokens, "chose", fed));
  for (const StatePair& back :
       states->FedBackTo(plan_.steps.state == StateSource::kReference ? 0 : index)) {
    VERNIER_TRY(CheckMadeToken(index, back.input, "gave", fed));
  }
  return {};
}

Status RunnerFeeds::CheckMadeToken(size_t index, const std::string& input, std::string_view made,
                                   const TensorMap& fed) const {
  const Tensor* const tokens = Find(fed, input);
  const std::vector<TokenTable> tables = steps_.tokens().TablesOfInput(index, input);
  if (tokens == nullptr || tables.empty() || !CanCast(tokens->dtype(), DType::kInt64)) return {};
  VERNIER_ASSIGN_OR_RETURN(const Tensor wide, CastTensor(*tokens, DType::kInt64));
  const std::span<const int64_t> ids = wide.As<int64_t>();
  for (const TokenTable& table : tables) {
    const auto beyond =
        std::ranges::find_if(ids, [&](int64_t id) { return id >= table.rows || id < -table.rows; });
    if (beyond == ids.end()) continue;
    const StepPosition& here = steps_.states()->position();
    const bool own = plan_.steps.state == StateSource::kOwn;
    return BackendError((own ? std::string(made) : "is fed") + " token " + std::to_string(*beyond) +
                        " at step " + std::to_string(here.step - (own ? 1 : 0)) + " of sequence " +
                        std::to_string(here.sequence) + ", and its table '" + table.table +
                        "', in which " + table.node + " looks it up, has " +
                        std::to_string(table.rows) + " rows, from 0 to " +
                        std::to_string(table.rows - 1));
  }
  return {};
}

Result<std::vector<TensorInfo>> RunnerFeeds::InputsToFeed(
    bool supplied, std::span<const std::string> shape_words) const {
  const RunnerSession* silent = nullptr;
  for (size_t i = 0; i < runners_.size(); ++i) {
    const RunnerSession& runner = runners_[i];
    // A feed is a step, or a sequence in the shapes of steps.
    const bool takes_all_steps = steps_.states() != nullptr && steps_.states()->axis(i);
    if (!runner.opened() || takes_all_steps) continue;
    if (!runner.inputs_unknown()) return WithInputsOfOthers(runner, runners_);
    if (silent == nullptr) silent = &runner;
  }
  if (supplied || !plan_.inputs.load_paths.empty()) return std::vector<TensorInfo>();
  return DescribedInputs(shape_words, silent);
}

// The inputs of the runner that feeds are made for, if that is another one.
std::span<const TensorInfo> RunnerFeeds::MadeFor(size_t index) const {
  for (const RunnerSession& other : runners_) {
    if (!other.opened() || other.inputs_unknown()) continue;
    return &other == &runners_[index] ? std::span<const TensorInfo>() : other.session().inputs;
  }
  return {};
}

CoerceOptions RunnerFeeds::OptionsFor(size_t index) const {
  CoerceOptions options;
  options.strictness = plan_.lenient ? Strictness::kPolygraphy : Strictness::kStrict;
  options.label = WithoutTime(runners_[index].name());
  options.made_for = MadeFor(index);
  if (const StepStates* const states = steps_.states()) {
    options.origin = [states, index](const std::string& name) {
      return states->OriginOf(index, name);
    };
  }
  return options;
}

Result<CoercedFeed> RunnerFeeds::Fit(size_t index, const TensorMap& feed, Logger& logger,
                                     MappedFeed* mapped) const {
  const RunnerSession& runner = runners_[index];
  const TensorMap* given = &feed;
  TensorMap unlabelled, sliced, fed;
  if (HasFedLabels(plan_.decisions, feed)) {
    given = &(unlabelled = WithoutFedLabels(plan_.decisions, runner, feed));
  }
  const StepStates* const states = steps_.states();
  if (states != nullptr) given = &(sliced = states->WithSlices(index, *given));
  MappedFeed own;
  if (!maps_->empty()) {
    VERNIER_ASSIGN_OR_RETURN(own, maps_->Apply(runner.name(), runner.session().inputs, *given));
    if (mapped != nullptr) *mapped = own;
    given = &own.tensors;
  }
  std::vector<std::string> notes;
  if (states != nullptr) {
    VERNIER_TRY(states->CheckMapped(index, own.mapped));
    VERNIER_ASSIGN_OR_RETURN(fed, states->WithState(index, *given, notes));
    given = &fed;
  }
  if (runner.inputs_unknown()) return CoercedFeed{*given, std::move(notes)};
  const std::vector<std::string>& nested = runner.session().nested_inputs;
  SplitFeed split;
  if (!nested.empty()) {
    VERNIER_ASSIGN_OR_RETURN(split, SplitParts(*given, nested));
    given = &split.tensors;
  }
  VERNIER_ASSIGN_OR_RETURN(CoercedFeed coerced,
                           CoerceFeed(*given, runner.session().inputs, OptionsFor(index), logger));
  // What is to be said of a sequence was said before its first step.
  NoLog silence;
  Logger& token_log = states == nullptr ? logger : silence;
  VERNIER_TRY(CheckMadeTokens(index, coerced.tensors));
  VERNIER_TRY(steps_.tokens().Check(index, coerced.tensors, token_log));
  std::ranges::move(split.parts, std::back_inserter(coerced.tensors));
  std::ranges::move(notes, std::back_inserter(coerced.notes));
  return coerced;
}

// Of very many feeds one may be wrong: an error says which.
Result<CoercedFeed> RunnerFeeds::OfFeed(int64_t iteration, Result<CoercedFeed> fits) const {
  if (fits.ok() || iteration < 0 || fits.status().code() == StatusCode::kBackend) return fits;
  const std::string number = iteration > 0 ? "iteration " + std::to_string(iteration) : "";
  const std::string name = name_of_feed_ ? name_of_feed_(iteration) : number;
  return name.empty() ? std::move(fits) : std::move(fits).Annotate(name);
}

Result<CoercedFeed> RunnerFeeds::Coerce(size_t index, const TensorMap& feed,
                                        int64_t iteration) const {
  NoLog silence;
  return OfFeed(iteration, Fit(index, feed, silence, nullptr));
}

Result<CoercedFeed> RunnerFeeds::CoerceAndNote(size_t index, const TensorMap& feed,
                                               int64_t iteration) {
  const std::string& runner = runners_[index].name();
  MappedFeed mapped;
  VERNIER_ASSIGN_OR_RETURN(CoercedFeed coerced,
                           OfFeed(iteration, Fit(index, feed, reports_.logger(), &mapped)));
  for (const auto& [input, source] : mapped.mapped) {
    reports_.NoteOnce(runner + ": input '" + input + "': is '" + source + "' (--map-inputs)");
  }
  for (const std::string& name : mapped.left_out) {
    reports_.NoteOnce(runner + ": '" + name + "' is left out (--map-inputs)");
  }
  const StepStates* const states = steps_.states();
  const auto fed_back = states == nullptr ? std::span<const StatePair>() : states->FedBackTo(index);
  std::string odd = WhyMaskMayNotFit(coerced.tensors, fed_back);
  if (!odd.empty() && odd_masks_[index].empty()) {
    reports_.logger().Warning(PadName(runner) + " | " + odd);
  }
  odd_masks_[index] = std::move(odd);
  for (const std::string& note : coerced.notes) reports_.NoteOnce(runner + ": " + note);
  if (!maps_->empty()) {
    mapped.tensors.clear();
    mapped_.insert_or_assign(runner, std::move(mapped));
  }
  return coerced;
}

// Later iterations have sizes that did before.
std::string RunnerFeeds::NoteOnSizes(int64_t iteration) const {
  const Result<std::vector<TensorInfo>> fed = InputsToFeed(true, {});
  return iteration == 0 && fed.ok() ? NoteOfFreeSizes(plan_.inputs, *fed, tried_sizes_) : "";
}

std::string RunnerFeeds::NoteOnMask(size_t index) const {
  const auto odd = odd_masks_.find(index);
  return odd == odd_masks_.end() || odd->second.empty() ? "" : "\nNote: " + odd->second;
}

void RunnerFeeds::DescribeMaps(size_t index, RunnerRecord& record) const {
  const auto mapped = mapped_.find(runners_[index].name());
  if (mapped == mapped_.end()) return;
  record.mapped_inputs = mapped->second.mapped;
  record.left_out_inputs = mapped->second.left_out;
}

}  // namespace vernier
