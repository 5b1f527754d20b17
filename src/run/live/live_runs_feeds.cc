// What the runners of a run are fed: made for their inputs, encoded once, and what arrived.
#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "decide/label_scores.h"
#include "inputs/polygraphy_text.h"
#include "record/runner_name.h"
#include "run/feeds/described_inputs.h"
#include "run/live/live_runs.h"
#include "util/no_log.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

std::string FormatSignature(std::span<const TensorInfo> inputs) {
  std::string text = "{";
  for (const TensorInfo& input : inputs) {
    if (text.size() > 1) text += ",\n ";
    text += input.name + " [dtype=" + PolygraphyDTypeName(input.dtype);
    if (input.shape) text += ", shape=" + FormatUserShape(*input.shape);
    text += "]";
  }
  return text + "}";
}

// A feed without what inputs that are no tensors take of it.
struct SplitFeed {
  TensorMap tensors, parts;
};

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

// Does an inference leave a file behind, as timelines of TensorFlow are?
bool SavesFiles(const RunnerPlan& runner) {
  return std::any_of(runner.session_options.begin(), runner.session_options.end(),
                     [](const auto& option) { return option.first.starts_with("save_"); });
}

// Some runtimes leave out the inputs that no output depends on, and others of the same model ask
// for them.
std::vector<TensorInfo> WithInputsOfOthers(const LiveRunner& first,
                                           const std::deque<LiveRunner>& runners) {
  std::vector<TensorInfo> inputs = first.session().inputs;
  const std::string& path = first.plan().model.path;
  for (const LiveRunner& other : runners) {
    if (path.empty() || !other.opened() || other.plan().model.path != path) continue;
    for (const TensorInfo& input : other.session().inputs) {
      const bool known = std::ranges::find(inputs, input.name, &TensorInfo::name) != inputs.end();
      if (!known && !other.inputs_unknown()) inputs.push_back(input);
    }
  }
  return inputs;
}

}  // namespace

Result<std::vector<TensorInfo>> LiveRuns::InputsToFeed(
    bool supplied, std::span<const std::string> shape_words) const {
  const LiveRunner* silent = nullptr;
  for (size_t i = 0; i < runners_.size(); ++i) {
    const LiveRunner& runner = runners_[i];
    // A feed is a step, or a sequence in the shapes of steps.
    const bool takes_all_steps = steps() != nullptr && steps()->axis(i);
    if (!runner.opened() || takes_all_steps) continue;
    if (!runner.inputs_unknown()) return WithInputsOfOthers(runner, runners_);
    if (silent == nullptr) silent = &runner;
  }
  if (supplied || !plan_.inputs.load_paths.empty()) return std::vector<TensorInfo>();
  return DescribedInputs(shape_words, silent);
}

// A script may keep what it was given.
bool LiveRuns::MayLendFeeds() const {
  return std::all_of(runners_.begin(), runners_.end(), [](const LiveRunner& runner) {
    return !runner.alive() || runner.in_plugin();
  });
}

// Alone: two that infer at once would disturb each other.
bool LiveRuns::MayInferAhead(size_t index) const {
  if (runners_.size() != 1 || may_be_asked_between_) return false;
  if (steps() != nullptr && !steps_.may_stay()) return false;
  return MaySendAhead(runners_[index]) && last_was_light_;
}

// In a plug-in: a script may do more than compute, and be seen to do it once more. In a process of
// its own: a crash that nobody wants must not take this one along.
bool LiveRuns::MaySendAhead(const LiveRunner& runner) const {
  return runner.in_plugin() && !plan_.execution.in_process && !SavesFiles(runner.plan());
}

bool LiveRuns::InferAhead(size_t index, const TensorMap& feed, int64_t iteration) {
  if (!MayInferAhead(index)) return false;
  // What there is to say of the feed is said when its turn comes.
  NoLog unheard;
  const Result<CoercedFeed> coerced = Coerce(runners_[index], feed, unheard);
  if (coerced.ok() && steps() != nullptr) return InferStepAhead(index, coerced->tensors, iteration);
  if (!coerced.ok() || !SameTensors(coerced->tensors, feed)) return false;
  const TensorBlock* const block = blocks_.EncodeAhead(feed, iteration);
  return block != nullptr && runners_[index].InferAhead(*block);
}

// The feed of the next step, whose state the worker knows before this program does.
bool LiveRuns::InferStepAhead(size_t index, const TensorMap& coerced, int64_t iteration) {
  const OutputsToKeep kept{OutputPlace::kHost, steps_.Staying(index, runners_[index], iteration)};
  if (kept.names.empty()) return false;
  std::optional<TensorBlock> block = steps_.EncodeAhead(index, coerced);
  if (!block) return false;
  return runners_[index].InferAhead(*blocks_.KeepAhead(*std::move(block), iteration), kept);
}

void LiveRuns::SendToLane(std::span<const size_t> who, const TensorMap& feed, int64_t iteration) {
  if (batch_feeds() > 1) return Gather(who, feed, iteration);
  std::shared_ptr<const TensorBlock> shared;
  std::vector<LaneTask> tasks;
  NoLog unheard;
  for (const size_t index : who) {
    const LiveRunner& runner = runners_[index];
    if (!runner.alive() || HoldsResult(index, iteration)) continue;
    const Result<CoercedFeed> coerced = Coerce(runner, feed, unheard);
    if (!coerced.ok()) continue;
    LaneTask& task = tasks.emplace_back();
    task.runner = index;
    task.replica = &ReplicaOf(lanes_->LaneOf(iteration), index);
    task.shared = SameTensors(coerced->tensors, feed);
    task.ahead = MaySendAhead(runner);
    if (task.shared) task.feed = shared;
    if (task.feed != nullptr) continue;
    LentMemory* const lent = task.shared && lends_to_lanes_ ? &lane_memory_ : nullptr;
    Result<TensorBlock> block = EncodeTensors(coerced->tensors, lent);
    if (!block.ok()) {
      tasks.pop_back();
      continue;
    }
    task.feed = {new TensorBlock(*std::move(block)), [this](const TensorBlock* read) {
                   if (read->lent != 0) lane_memory_.TakeBack(read->lent);
                   delete read;
                 }};
    if (task.shared) shared = task.feed;
  }
  if (!tasks.empty()) lanes_->Add(iteration, std::move(tasks));
}

Status LiveRuns::CheckMaps() const {
  if (runners_.empty()) return {};
  const bool all_opened = std::ranges::all_of(runners_, &LiveRunner::opened);
  if (const StepStates* const states = steps(); states != nullptr && all_opened) {
    VERNIER_TRY(states->CheckUsed());
  }
  std::vector<std::vector<TensorInfo>> all;
  for (const LiveRunner& runner : runners_) {
    if (!runner.opened() || runner.session().inputs.empty()) return {};
    VERNIER_TRY(maps_->CheckRunner(runner.name(), runner.session().inputs));
    all.push_back(runner.session().inputs);
  }
  return maps_->CheckNames(all);
}

// The inputs of the runner that feeds are made for, if that is another one.
std::span<const TensorInfo> LiveRuns::MadeFor(const LiveRunner& runner) const {
  for (const LiveRunner& other : runners_) {
    if (!other.opened() || other.inputs_unknown()) continue;
    return &other == &runner ? std::span<const TensorInfo>() : other.session().inputs;
  }
  return {};
}

namespace {

bool IsFedLabel(const DecisionOptions& options, const NamedTensor& fed) {
  return std::ranges::any_of(
      options.labels, [&](const LabelsPlan& labels) { return FedLabelKey(labels) == fed.name; });
}

bool HasFedLabels(const DecisionOptions& options, const TensorMap& feed) {
  return std::ranges::any_of(feed,
                             [&](const NamedTensor& fed) { return IsFedLabel(options, fed); });
}

// Labels that come with what is fed are for models alone that have an input of that name.
TensorMap WithoutFedLabels(const DecisionOptions& options, const LiveRunner& runner,
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

Result<CoercedFeed> LiveRuns::Coerce(const LiveRunner& runner, const TensorMap& feed,
                                     Logger& logger, MappedFeed* mapped) const {
  const TensorMap* given = &feed;
  TensorMap unlabelled, sliced, fed;
  if (HasFedLabels(plan_.decisions, feed)) {
    given = &(unlabelled = WithoutFedLabels(plan_.decisions, runner, feed));
  }
  const StepStates* const states = steps();
  if (states != nullptr) given = &(sliced = states->WithSlices(IndexOf(runner), *given));
  MappedFeed own;
  if (!maps_->empty()) {
    VERNIER_ASSIGN_OR_RETURN(own, maps_->Apply(runner.name(), runner.session().inputs, *given));
    if (mapped != nullptr) *mapped = own;
    given = &own.tensors;
  }
  if (states != nullptr) {
    VERNIER_TRY(states->CheckMapped(IndexOf(runner), own.mapped));
    given = &(fed = states->WithState(IndexOf(runner), *given));
  }
  if (runner.inputs_unknown()) return CoercedFeed{*given, {}};
  const std::vector<std::string>& nested = runner.session().nested_inputs;
  SplitFeed split;
  if (!nested.empty()) {
    VERNIER_ASSIGN_OR_RETURN(split, SplitParts(*given, nested));
    given = &split.tensors;
  }
  CoerceOptions options;
  options.strictness = plan_.lenient ? Strictness::kPolygraphy : Strictness::kStrict;
  options.label = WithoutTime(runner.name());
  options.made_for = MadeFor(runner);
  if (states != nullptr) {
    options.origin = [&](const std::string& name) {
      return states->OriginOf(IndexOf(runner), name);
    };
  }
  VERNIER_ASSIGN_OR_RETURN(CoercedFeed coerced,
                           CoerceFeed(*given, runner.session().inputs, options, logger));
  std::ranges::move(split.parts, std::back_inserter(coerced.tensors));
  return coerced;
}

Result<TensorMap> LiveRuns::FeedOf(size_t index, const TensorMap& feed) const {
  NoLog unheard;
  VERNIER_ASSIGN_OR_RETURN(CoercedFeed coerced, Coerce(runners_[index], feed, unheard));
  return std::move(coerced.tensors);
}

void LiveRuns::NoteOnce(const std::string& text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
}

// Of nodes with a seed, too.
Status LiveRuns::CheckRandomNumbers(const LiveRunner& runner, const ModelSource& model) {
  if (model.random_operator().empty()) return {};
  random_numbers_ = runner.name() + ": its model draws random numbers (" + model.random_operator() +
                    "), and runtimes go on drawing from one inference to the next";
  const std::string note = random_numbers_ +
                           ": with --shard, --workers-per-runner and --devices the outputs differ "
                           "from those of one process";
  NoteOnce(note);
  const bool shared = plan_.shard.wanted() || plan_.execution.WorkersOfRunner() > 1;
  return shared ? InvalidArgument(note + ": leave them out") : Status();
}

void LiveRuns::LogInputs(const LiveRunner& runner) {
  if (!logger_.Enabled(Severity::kVerbose)) return;
  const LogArea area(logger_, log_area::kRunner);
  logger_.Once(Severity::kVerbose, PadName(runner.name()) + " | Input metadata is: " +
                                       FormatSignature(runner.session().inputs));
}

Result<CoercedFeed> LiveRuns::CoerceAndNote(LiveRunner& runner, const TensorMap& feed) {
  MappedFeed mapped;
  VERNIER_ASSIGN_OR_RETURN(CoercedFeed coerced, Coerce(runner, feed, logger_, &mapped));
  for (const auto& [input, source] : mapped.mapped) {
    NoteOnce(runner.name() + ": input '" + input + "': is '" + source + "' (--map-inputs)");
  }
  for (const std::string& name : mapped.left_out) {
    NoteOnce(runner.name() + ": '" + name + "' is left out (--map-inputs)");
  }
  for (const std::string& note : coerced.notes) NoteOnce(runner.name() + ": " + note);
  if (!maps_->empty()) {
    mapped.tensors.clear();
    mapped_.insert_or_assign(runner.name(), std::move(mapped));
  }
  return coerced;
}

Result<CoercedFeed> LiveRuns::OfFeed(int64_t iteration, Result<CoercedFeed> fits) const {
  if (fits.ok() || iteration < 0) return fits;
  const std::string number = iteration > 0 ? "iteration " + std::to_string(iteration) : "";
  const std::string name = name_of_feed_ ? name_of_feed_(iteration) : number;
  return name.empty() ? std::move(fits) : std::move(fits).Annotate(name);
}

Result<LiveRuns::RunnerFeed> LiveRuns::FeedFor(LiveRunner& runner, const TensorMap& feed,
                                               int64_t iteration) {
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced,
                           OfFeed(iteration, CoerceAndNote(runner, feed)));
  RunnerFeed own;
  // A step that was sent ahead.
  if (runners_.size() == 1 && steps_.may_stay()) own.shared = blocks_.Find(iteration);
  if (own.shared != nullptr) return own;
  if (steps_.may_stay()) {
    VERNIER_ASSIGN_OR_RETURN(own.own, runner.EncodeKept(coerced.tensors, devices_));
    if (own.own) return own;
  }
  if (!SameTensors(coerced.tensors, feed)) {
    VERNIER_ASSIGN_OR_RETURN(TensorBlock encoded, EncodeTensors(coerced.tensors));
    own.own = std::move(encoded);
    return own;
  }
  own.shared = blocks_.Find(iteration);
  if (own.shared != nullptr) return own;
  VERNIER_ASSIGN_OR_RETURN(own.shared, blocks_.Encode(feed, iteration, MayLendFeeds()));
  return own;
}

void LiveRuns::LogReceived(const LiveRunner& runner) {
  if (runner.received().empty() || !logger_.Enabled(Severity::kExtraVerbose)) return;
  std::string text;
  for (const auto& [name, hash] : runner.received()) {
    text += (text.empty() ? "" : ", ") + name + " " + HexadecimalHash(hash);
  }
  logger_.Log(Severity::kExtraVerbose,
              PadName(runner.name()) + " | Received bytes with XXH3: " + text);
}

// Runners that were sent the same memory must have read the same bytes.
void LiveRuns::CheckReceived(const LiveRunner& runner, int64_t iteration) {
  for (std::string& note : received_.Compare(runner.name(), iteration, runner.received())) {
    logger_.Error(note);
    notes_.push_back(std::move(note));
  }
}

}  // namespace vernier
