#include "run/workers/runner_session.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "backend/known/python_program.h"
#include "compare/outputs/same_bits.h"
#include "model/onnx/model_type.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

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

Status RunnerSession::Open(const ModelSource& model, const MoreOptions& more,
                           std::span<const DimSize> found) {
  if (!waiting_) return OpenSession(model, more, found);
  worker_->WhileWaiting([this](double seconds) { waiting_(seconds); });
  Status opened = OpenSession(model, more, found);
  worker_->WhileWaiting(nullptr);
  waiting_(std::nullopt);
  return opened;
}

Status RunnerSession::AwaitBackend() {
  VERNIER_ASSIGN_OR_RETURN(backend_, worker_->AwaitLoad());
  return {};
}

Status RunnerSession::OpenSession(const ModelSource& model, const MoreOptions& more,
                                  std::span<const DimSize> found) {
  VERNIER_TRY(AwaitBackend());
  VERNIER_ASSIGN_OR_RETURN(model_,
                           OpenModel(*worker_, {plan_, backend_, session_id_, model, more, found}));
  skipped_.Begin(session().not_exposed);
  opened_ = true;
  return {};
}

bool RunnerSession::inputs_unknown() const {
  if (!IsPythonBackend(plan_.backend)) return false;
  const bool untyped =
      std::any_of(session().inputs.begin(), session().inputs.end(),
                  [](const TensorInfo& i) { return i.dtype == DType::kUndefined; });
  return untyped ||
         (session().inputs.empty() && plan_.model.type != ModelTypeName(ModelType::kOnnx));
}

std::vector<SkippedOutput> RunnerSession::DropParts(TensorMap& outputs) const {
  std::vector<SkippedOutput> dropped;
  if (!without_parts_) return dropped;
  for (const std::string& whole : session().nested_outputs) {
    const size_t parts = std::erase_if(
        outputs, [&](const NamedTensor& output) { return IsPartOf(output.name, whole); });
    if (parts == 0 || Find(outputs, whole) != nullptr) continue;
    dropped.push_back({whole, "a sequence, a map or an absent optional, not a tensor"});
  }
  return dropped;
}

bool RunnerSession::lost_worker() const {
  return worker_ != nullptr && !worker_->death().ok() && worker_->AwaitLoad().ok();
}

Result<Worker::Outcome> RunnerSession::RunSession(const TensorBlock& feed, int64_t iteration,
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

Result<IterationResult> RunnerSession::ResultOf(Worker::Outcome& outcome) const {
  VERNIER_TRY(KeepNamesOnce(outcome.outputs.tensors));
  IterationResult result;
  result.runner_name = name();
  result.runtime_s = outcome.inference_seconds;
  result.outputs = std::move(outcome.outputs.tensors);
  return result;
}

Result<IterationResult> RunnerSession::InferAgain(const TensorBlock& feed, int64_t iteration) {
  VERNIER_ASSIGN_OR_RETURN(Worker::Outcome outcome, RunSession(feed, iteration, {}));
  return ResultOf(outcome);
}

Result<IterationResult> RunnerSession::Infer(const TensorBlock& feed, int64_t iteration,
                                             const OutputsThatStay& stay,
                                             const std::function<void()>& meanwhile) {
  const bool on_device = stay.held != nullptr && stay.names.empty() && worker_.use_count() > 1;
  const OutputsToKeep kept{on_device ? OutputPlace::kDevice : OutputPlace::kHost, stay.names};
  VERNIER_ASSIGN_OR_RETURN(Worker::Outcome outcome, RunSession(feed, iteration, kept, meanwhile));
  return Take(std::move(outcome), iteration, stay.held);
}

Result<IterationResult> RunnerSession::Take(Worker::Outcome outcome, int64_t iteration,
                                            DeviceOutputs* devices) {
  received_.Add(std::move(outcome.received), iteration);
  times_.Add(outcome.inference_seconds);
  skipped_.Add(outcome.outputs.tensors, outcome.outputs.skipped);
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

RunnerRecord RunnerSession::Describe() const {
  RunnerRecord record;
  record.name = name();
  record.backend = plan_.backend;
  record.framework_version = backend_.framework_version;
  record.framework_path = backend_.framework_path;
  record.model = plan_.model.path;
  record.device = session().device;
  record.precision = session().precision;
  record.load_seconds = session().load_seconds;
  record.iterations = times_.count();
  record.engine = model_.engine;
  return record;
}

Result<Worker::TrialOutcome> RunnerSession::TryInfer(const TensorBlock& feed,
                                                     TrialRequest request) {
  request.session = session_id_;
  if (keeps_state() && !goes_on_) VERNIER_TRY(worker_->Reset(session_id_));
  VERNIER_ASSIGN_OR_RETURN(Worker::TrialOutcome outcome,
                           worker_->TryRun(request, feed, "running in unusual circumstances"));
  (void)DropParts(outcome.outputs);
  return outcome;
}

void RunnerSession::ForgetInferences() {
  times_ = {};
  received_.Forget();
  held_words_.reset();
}

std::string RunnerSession::UnseenWords() {
  std::string now = worker_ ? worker_->UnseenWords() : std::string();
  const std::optional<std::string> held = std::exchange(held_words_, std::nullopt);
  return held && !held->empty() ? *held : now;
}

void RunnerSession::HoldWords() {
  std::string now = worker_ ? worker_->UnseenWords() : std::string();
  if (!held_words_) held_words_ = std::move(now);
}

Status RunnerSession::Close() {
  const std::shared_ptr<Worker> worker = std::exchange(worker_, nullptr);
  if (worker == nullptr) return {};
  const Status closed = opened() ? worker->Close(session_id_) : Status();
  const Status finished = worker.use_count() == 1 ? worker->Finish() : Status();
  return closed.ok() ? finished : closed;
}

}  // namespace vernier
