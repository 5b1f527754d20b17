// What the runners of a run are fed: made for their inputs, encoded once, and what arrived.
#include <algorithm>
#include <utility>

#include "inputs/peer_text.h"
#include "record/runner_name.h"
#include "run/feeds/described_inputs.h"
#include "run/live/live_runs.h"
#include "util/no_log.h"

namespace vernier {
namespace {

// Coercion passed the supplied tensors on unchanged, so their encoded block can be used again.
bool SameTensors(const TensorMap& a, const TensorMap& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const NamedTensor& x, const NamedTensor& y) {
           return x.name == y.name && x.tensor.bytes().data() == y.tensor.bytes().data() &&
                  x.tensor.dtype() == y.tensor.dtype() && x.tensor.dims() == y.tensor.dims();
         });
}

std::string FormatSignature(std::span<const TensorInfo> inputs) {
  std::string text = "{";
  for (const TensorInfo& input : inputs) {
    if (text.size() > 1) text += ",\n ";
    text += input.name + " [dtype=" + PeerDTypeName(input.dtype);
    if (input.shape) text += ", shape=" + FormatUserShape(*input.shape);
    text += "]";
  }
  return text + "}";
}

// Does an inference leave a file behind, as timelines of TensorFlow are?
bool SavesFiles(const RunnerPlan& runner) {
  return std::any_of(runner.session_options.begin(), runner.session_options.end(),
                     [](const auto& option) { return option.first.starts_with("save_"); });
}

}  // namespace

Result<std::vector<TensorInfo>> LiveRuns::InputsToFeed(
    bool supplied, std::span<const std::string> shape_words) const {
  const LiveRunner* silent = nullptr;
  for (const LiveRunner& runner : runners_) {
    if (!runner.opened()) continue;
    if (!runner.inputs_unknown()) return runner.session().inputs;
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

void LiveRuns::ForgetFeed() {
  if (block_ && block_->block.lent != 0) lent_.TakeBack(block_->block.lent);
  block_ = std::exchange(next_block_, std::nullopt);
}

Result<const TensorBlock*> LiveRuns::Encode(const TensorMap& feed, int64_t iteration) {
  ForgetFeed();
  VERNIER_ASSIGN_OR_RETURN(TensorBlock block,
                           EncodeTensors(feed, MayLendFeeds() ? &lent_ : nullptr));
  block_ = FeedBlock{iteration, std::move(block)};
  return &block_->block;
}

// Alone: two that infer at once would disturb each other. In a plug-in: a script may do more than
// compute, and be seen to do it once more. In a process of its own: a crash that nobody wants must
// not take this one along.
bool LiveRuns::MayInferAhead(size_t index, int64_t iteration) const {
  if (runners_.size() != 1 || plan_.noise_floor || in_step_ || plan_.execution.in_process)
    return false;
  const LiveRunner& runner = runners_[index];
  return runner.in_plugin() && !SavesFiles(runner.plan()) && last_was_light_ &&
         !IsSaved(index, iteration);
}

bool LiveRuns::InferAhead(size_t index, const TensorMap& feed, int64_t iteration) {
  if (!MayInferAhead(index, iteration)) return false;
  // What there is to say of the feed is said when its turn comes.
  NoLog unheard;
  const Result<CoercedFeed> coerced = Coerce(runners_[index], feed, unheard);
  if (!coerced.ok() || !SameTensors(coerced->tensors, feed)) return false;
  Result<TensorBlock> block = EncodeTensors(feed, &lent_);
  if (!block.ok()) return false;
  next_block_ = FeedBlock{iteration, *std::move(block)};
  return runners_[index].InferAhead(next_block_->block);
}

Status LiveRuns::ReadMaps() {
  VERNIER_ASSIGN_OR_RETURN(maps_, InputMaps::Create(plan_.inputs.map_words, names()));
  return {};
}

Status LiveRuns::CheckMaps() const {
  if (steps_ && std::ranges::all_of(runners_, &LiveRunner::opened))
    VERNIER_TRY(steps_->CheckUsed());
  std::vector<TensorInfo> all;
  for (const LiveRunner& runner : runners_) {
    if (!runner.opened() || runner.session().inputs.empty()) return {};
    const std::vector<TensorInfo>& inputs = runner.session().inputs;
    all.insert(all.end(), inputs.begin(), inputs.end());
  }
  return maps_.CheckNames(all);
}

// The inputs of the runner that feeds are made for, if that is another one.
std::span<const TensorInfo> LiveRuns::MadeFor(const LiveRunner& runner) const {
  for (const LiveRunner& other : runners_) {
    if (!other.opened() || other.inputs_unknown()) continue;
    return &other == &runner ? std::span<const TensorInfo>() : other.session().inputs;
  }
  return {};
}

Result<CoercedFeed> LiveRuns::Coerce(const LiveRunner& runner, const TensorMap& feed,
                                     Logger& logger, MappedFeed* mapped) const {
  const TensorMap* given = &feed;
  TensorMap sliced, fed;
  if (steps_) given = &(sliced = steps_->WithSlices(IndexOf(runner), *given));
  MappedFeed own;
  if (!maps_.empty()) {
    VERNIER_ASSIGN_OR_RETURN(own, maps_.Apply(runner.name(), runner.session().inputs, *given));
    if (mapped != nullptr) *mapped = own;
    given = &own.tensors;
  }
  if (steps_) {
    VERNIER_TRY(steps_->CheckMapped(IndexOf(runner), own.mapped));
    given = &(fed = steps_->WithState(IndexOf(runner), *given));
  }
  if (runner.inputs_unknown()) return CoercedFeed{*given, {}};
  CoerceOptions options;
  options.strictness = plan_.lenient ? Strictness::kPeer : Strictness::kStrict;
  options.label = WithoutTime(runner.name());
  options.made_for = MadeFor(runner);
  return CoerceFeed(*given, runner.session().inputs, options, logger);
}

Result<TensorMap> LiveRuns::FeedOf(size_t index, const TensorMap& feed) const {
  NoLog unheard;
  VERNIER_ASSIGN_OR_RETURN(CoercedFeed coerced, Coerce(runners_[index], feed, unheard));
  return std::move(coerced.tensors);
}

void LiveRuns::NoteOnce(const std::string& text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
}

void LiveRuns::TellInputs(const LiveRunner& runner) {
  if (!logger_.Enabled(Severity::kVerbose)) return;
  const LogArea area(logger_, log_area::kRunner);
  logger_.Once(Severity::kVerbose, PadName(runner.name()) + " | Input metadata is: " +
                                       FormatSignature(runner.session().inputs));
}

Result<LiveRuns::RunnerFeed> LiveRuns::FeedFor(LiveRunner& runner, const TensorMap& feed,
                                               int64_t iteration) {
  MappedFeed mapped;
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced, Coerce(runner, feed, logger_, &mapped));
  for (const auto& [input, source] : mapped.mapped) {
    NoteOnce(runner.name() + ": input '" + input + "': is '" + source + "' (--map-inputs)");
  }
  for (const std::string& name : mapped.left_out) {
    NoteOnce(runner.name() + ": '" + name + "' is left out (--map-inputs)");
  }
  for (const std::string& note : coerced.notes) NoteOnce(runner.name() + ": " + note);
  if (!maps_.empty()) {
    mapped.tensors.clear();
    mapped_.insert_or_assign(runner.name(), std::move(mapped));
  }
  RunnerFeed own;
  if (!SameTensors(coerced.tensors, feed)) {
    VERNIER_ASSIGN_OR_RETURN(TensorBlock encoded, EncodeTensors(coerced.tensors));
    own.own = std::move(encoded);
    return own;
  }
  own.shared = block_ && block_->iteration == iteration ? &block_->block : nullptr;
  if (own.shared != nullptr) return own;
  VERNIER_ASSIGN_OR_RETURN(own.shared, Encode(feed, iteration));
  return own;
}

void LiveRuns::TellReceived(const LiveRunner& runner) {
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
  const InputHashes& received = runner.received();
  if (received.empty()) return;
  if (received_iteration_ != iteration || received_first_.empty()) {
    received_iteration_ = iteration;
    received_first_ = received;
    received_by_ = runner.name();
    return;
  }
  for (size_t i = 0; i < received.size() && i < received_first_.size(); ++i) {
    if (received[i] == received_first_[i]) continue;
    const std::string note = runner.name() + " received other bytes for input '" +
                             received[i].first + "' than " + received_by_ + " in iteration " +
                             std::to_string(iteration) + ", though both were sent the same";
    logger_.Error(note);
    notes_.push_back(note);
  }
}

}  // namespace vernier
