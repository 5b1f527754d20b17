#include "run/workers/live_runner.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "backend/python_program.h"
#include "compare/same_bits.h"
#include "model/onnx/model_type.h"
#include "run/workers/engine_report.h"
#include "run/workers/profile_sizes.h"
#include "util/joined.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

// Enough for a median and a p95; a run of millions of iterations must not grow with them.
constexpr size_t kLatencyLimit = 100'000;

// What a plug-in answers when it changes no types itself.
constexpr std::string_view kAsInTheModel = "as in the model";

// A framework says that a dimension is dynamic; the file has its name.
void AddSymbols(std::span<const TensorInfo> from_file, std::vector<TensorInfo>& infos) {
  for (TensorInfo& info : infos) {
    const auto found = std::find_if(from_file.begin(), from_file.end(),
                                    [&](const TensorInfo& f) { return f.name == info.name; });
    if (found == from_file.end() || !found->shape || !info.shape ||
        found->shape->size() != info.shape->size()) {
      continue;
    }
    for (size_t i = 0; i < info.shape->size(); ++i) {
      if ((*info.shape)[i].dynamic()) (*info.shape)[i].symbol = (*found->shape)[i].symbol;
    }
  }
}

Status CheckPluginOption(const RunnerPlan& plan, const std::string& name,
                         const BackendInfo& backend) {
  const std::string flag = "--" + plan.backend + "." + name;
  std::vector<std::string> known;
  const BackendOption* option = nullptr;
  for (const BackendOption& has : backend.options) {
    if (has.name == name) option = &has;
    known.push_back(has.name);
  }
  if (option == nullptr) {
    return InvalidArgument(flag + ": the backend has no such option; " +
                           (known.empty() ? "it has none" : "it has: " + Joined(known)));
  }
  const std::vector<std::string>& values = option->values;
  for (const auto& [key, value] : plan.session_options) {
    if (key != name || values.empty()) continue;
    if (std::find(values.begin(), values.end(), value) != values.end()) continue;
    return InvalidArgument(flag + ": expected one of " + Joined(values) + ", got '" + value + "'");
  }
  return {};
}

Status CheckPluginOptions(const RunnerPlan& plan, const BackendInfo& backend) {
  for (const std::string& name : plan.plugin_options) {
    VERNIER_TRY(CheckPluginOption(plan, name, backend));
  }
  return {};
}

// What is wanted of a backend that can, by the option that it has for that.
void AddForRole(const BackendInfo& backend, OptionRole role, const std::string& value,
                OptionList& options) {
  const BackendOption* const option = backend.OptionFor(role);
  if (option != nullptr && !value.empty()) options.emplace_back(option->name, value);
}

// Lists of numbers in a program's JSON have no type of their own.
void AddOutputTypes(std::span<const TensorInfo> outputs, OptionList& options) {
  for (const TensorInfo& output : outputs) {
    if (output.dtype == DType::kUndefined) continue;
    options.emplace_back("output_type", output.name + "=" + std::string(DTypeName(output.dtype)));
  }
}

// A model may list an output several times. Results are tensors by name, so each name stays once,
// at its first place.
Status KeepNamesOnce(TensorMap& outputs) {
  if (outputs.size() < 2) return {};
  std::unordered_map<std::string_view, const Tensor*> known;
  TensorMap once;
  once.reserve(outputs.size());  // names in `known` point into it
  for (NamedTensor& output : outputs) {
    const auto found = known.find(output.name);
    if (found == known.end()) {
      const NamedTensor& kept = once.emplace_back(std::move(output));
      known.emplace(kept.name, &kept.tensor);
    } else if (!SameBits(*found->second, output.tensor)) {
      return BackendError("returned output '" + output.name +
                          "' twice, with different values; outputs need names of their own");
    }
  }
  outputs = std::move(once);
  return {};
}

std::string StageOf(int64_t first, int64_t count) {
  if (count == 1) return "running iteration " + std::to_string(first);
  return "running iterations " + std::to_string(first) + " to " + std::to_string(first + count - 1);
}

}  // namespace

std::string HexadecimalHash(uint64_t hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (size_t i = 0; i < text.size(); ++i) text[text.size() - 1 - i] = kDigits[hash >> 4 * i & 15];
  return text;
}

Status LiveRunner::Open(const ModelSource& model, const OptionList& more,
                        std::span<const DimSize> found) {
  if (!waiting_) return OpenSession(model, more, found);
  worker_->WhileWaiting([this](double seconds) { waiting_(seconds); });
  Status opened = OpenSession(model, more, found);
  worker_->WhileWaiting(nullptr);
  waiting_(std::nullopt);
  return opened;
}

Status LiveRunner::OpenSession(const ModelSource& model, const OptionList& more,
                               std::span<const DimSize> found) {
  VERNIER_ASSIGN_OR_RETURN(backend_, worker_->AwaitLoad());
  VERNIER_TRY(CheckPluginOptions(plan_, backend_));
  OpenRequest request = model.request();
  request.session = session_id_;
  request.options = plan_.session_options;
  CompleteProfiles(plan_, request.inputs, found, request.options);
  AddForRole(backend_, OptionRole::kAlone, plan_.alone ? "1" : "", request.options);
  AddForRole(backend_, OptionRole::kLayerTimes, plan_.layer_times, request.options);
  request.options.insert(request.options.end(), more.begin(), more.end());
  if (plan_.backend == "python") AddOutputTypes(model.declared_outputs(), request.options);
  const bool asked_elsewhere = std::any_of(
      more.begin(), more.end(), [](const auto& option) { return option.first == kEngineReport; });
  const EngineReportFile report =
      asked_elsewhere ? EngineReportFile() : EngineReportFile::For(plan_);
  report.AddTo(request.options);
  VERNIER_ASSIGN_OR_RETURN(session_, worker_->Open(request, model.edited_bytes()));
  engine_ = report.ReadBuild();
  AddSymbols(request.inputs, session_.inputs);
  AddSymbols(model.declared_outputs(), session_.outputs);
  own_outputs_.clear();
  for (const TensorInfo& output : model.declared_outputs()) own_outputs_.push_back(output.name);
  computes_in_ = DTypeFromName(session_.precision).value_or(DType::kUndefined);
  const bool in_half = plan_.model.fp_to_fp16 && session_.precision == kAsInTheModel;
  if (in_half) computes_in_ = DType::kFloat16;
  if (session_.precision == kAsInTheModel) session_.precision = model.precision();
  skipped_ = session_.not_exposed;
  opened_ = true;
  return {};
}

bool LiveRunner::inputs_unknown() const {
  if (!IsPythonBackend(plan_.backend)) return false;
  const bool untyped =
      std::any_of(session_.inputs.begin(), session_.inputs.end(),
                  [](const TensorInfo& i) { return i.dtype == DType::kUndefined; });
  return untyped ||
         (session_.inputs.empty() && plan_.model.type != ModelTypeName(ModelType::kOnnx));
}

void LiveRunner::NoteSkipped(const TensorMap& outputs, const std::vector<SkippedOutput>& skipped) {
  // An optional may hold a tensor.
  std::erase_if(skipped_,
                [&](const SkippedOutput& known) { return Find(outputs, known.name) != nullptr; });
  for (const SkippedOutput& output : skipped) {
    for (std::vector<SkippedOutput>* list : {&skipped_, &lost_}) {
      const bool known = std::any_of(list->begin(), list->end(), [&](const SkippedOutput& other) {
        return other.name == output.name;
      });
      if (!known) list->push_back(output);
    }
  }
}

std::vector<SkippedOutput> LiveRunner::DropParts(TensorMap& outputs) const {
  std::vector<SkippedOutput> dropped;
  if (!without_parts_) return dropped;
  for (const std::string& whole : session_.nested_outputs) {
    const size_t parts = std::erase_if(
        outputs, [&](const NamedTensor& output) { return IsPartOf(output.name, whole); });
    if (parts == 0 || Find(outputs, whole) != nullptr) continue;
    dropped.push_back({whole, "a sequence, a map or an absent optional, not a tensor"});
  }
  return dropped;
}

bool LiveRunner::lost_worker() const {
  return worker_ != nullptr && !worker_->death().ok() && worker_->AwaitLoad().ok();
}

Result<Worker::Outcome> LiveRunner::RunSession(const TensorBlock& feed, int64_t iteration,
                                               const OutputsToKeep& kept,
                                               const std::function<void()>& meanwhile,
                                               int64_t count) {
  if (keeps_state() && !goes_on_) VERNIER_TRY(worker_->Reset(session_id_));
  VERNIER_ASSIGN_OR_RETURN(
      Worker::Outcome outcome,
      worker_->Run(session_id_, feed, StageOf(iteration, count), kept, meanwhile));
  std::ranges::move(DropParts(outcome.outputs.tensors),
                    std::back_inserter(outcome.outputs.skipped));
  return outcome;
}

Result<IterationResult> LiveRunner::ResultOf(Worker::Outcome& outcome) const {
  VERNIER_TRY(KeepNamesOnce(outcome.outputs.tensors));
  IterationResult result;
  result.runner_name = name();
  result.runtime_s = outcome.inference_seconds;
  result.outputs = std::move(outcome.outputs.tensors);
  return result;
}

Result<IterationResult> LiveRunner::InferAgain(const TensorBlock& feed, int64_t iteration) {
  VERNIER_ASSIGN_OR_RETURN(Worker::Outcome outcome, RunSession(feed, iteration, {}));
  return ResultOf(outcome);
}

Result<IterationResult> LiveRunner::Infer(const TensorBlock& feed, int64_t iteration,
                                          const OutputsThatStay& stay,
                                          const std::function<void()>& meanwhile) {
  const bool on_device = stay.held != nullptr && stay.names.empty() && worker_.use_count() > 1;
  const OutputsToKeep kept{on_device ? OutputPlace::kDevice : OutputPlace::kHost, stay.names};
  VERNIER_ASSIGN_OR_RETURN(Worker::Outcome outcome, RunSession(feed, iteration, kept, meanwhile));
  return Take(std::move(outcome), iteration, stay.held);
}

Result<IterationResult> LiveRunner::Take(Worker::Outcome outcome, int64_t iteration,
                                         DeviceOutputs* devices) {
  received_ = std::move(outcome.received);
  if (hashes_ && iteration >= 0) Remember();
  TakeOver(outcome.inference_seconds);
  NoteSkipped(outcome.outputs.tensors, outcome.outputs.skipped);
  VERNIER_ASSIGN_OR_RETURN(IterationResult result, ResultOf(outcome));
  for (KeptOutput& kept : outcome.outputs.kept) {
    if (devices == nullptr) return BackendError("the worker kept outputs that it was to send");
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, devices->Adopt(worker_, kept));
    if (Find(result.outputs, kept.name) != nullptr) continue;  // the model lists it twice
    const size_t place = std::min(kept.position, result.outputs.size());
    result.outputs.insert(result.outputs.begin() + static_cast<ptrdiff_t>(place),
                          {std::move(kept.name), std::move(tensor)});
  }
  return result;
}

RunnerRecord LiveRunner::Describe() const {
  RunnerRecord record;
  record.name = name();
  record.backend = plan_.backend;
  record.framework_version = backend_.framework_version;
  record.framework_path = backend_.framework_path;
  record.model = plan_.model.path;
  record.device = session_.device;
  record.precision = session_.precision;
  record.load_seconds = session_.load_seconds;
  record.iterations = iterations_;
  record.engine = engine_;
  return record;
}

void LiveRunner::Remember() {
  for (const auto& [name, hash] : received_) {
    all_received_.Add(std::as_bytes(std::span(&hash, 1)));
    if (hashed_iterations_ == 0) first_received_.emplace_back(name, HexadecimalHash(hash));
  }
  ++hashed_iterations_;
}

std::optional<ReceivedRecord> LiveRunner::AllReceived() const {
  if (hashed_iterations_ == 0) return std::nullopt;
  return ReceivedRecord{hashed_iterations_, HexadecimalHash(all_received_.value()),
                        first_received_};
}

Result<Worker::TrialOutcome> LiveRunner::TryInfer(const TensorBlock& feed, TrialRequest request) {
  request.session = session_id_;
  if (keeps_state() && !goes_on_) VERNIER_TRY(worker_->Reset(session_id_));
  VERNIER_ASSIGN_OR_RETURN(Worker::TrialOutcome outcome,
                           worker_->TryRun(request, feed, "running in unusual circumstances"));
  (void)DropParts(outcome.outputs);
  return outcome;
}

void LiveRunner::TakeOverInputs(InputHashes hashes) {
  received_.clear();
  if (hashes_) received_ = std::move(hashes);
}

void LiveRunner::TakeOver(std::optional<double> seconds) {
  ++iterations_;
  if (!seconds) return;
  if (latencies_.size() < kLatencyLimit) latencies_.push_back(*seconds);
  total_seconds_ += *seconds;
}

void LiveRunner::ForgetLatencies() {
  latencies_.clear();
  iterations_ = 0;
  total_seconds_ = 0;
}

void LiveRunner::ForgetInferences() {
  ForgetLatencies();
  all_received_ = Checksum();
  hashed_iterations_ = 0;
  first_received_.clear();
  held_words_.reset();
}

std::string LiveRunner::UnseenWords() {
  std::string now = worker_ ? worker_->UnseenWords() : std::string();
  const std::optional<std::string> held = std::exchange(held_words_, std::nullopt);
  return held && !held->empty() ? *held : now;
}

void LiveRunner::HoldWords() {
  std::string now = worker_ ? worker_->UnseenWords() : std::string();
  if (!held_words_) held_words_ = std::move(now);
}

Status LiveRunner::Close() {
  const std::shared_ptr<Worker> worker = std::exchange(worker_, nullptr);
  if (worker == nullptr) return {};
  const Status closed = opened() ? worker->Close(session_id_) : Status();
  const Status finished = worker.use_count() == 1 ? worker->Finish() : Status();
  return closed.ok() ? finished : closed;
}

}  // namespace vernier
