// Inferences: put on the stream, waited for, and the next one put behind where its inputs are here
// already.
#include <algorithm>
#include <chrono>
#include <utility>

#include "tensorrt/session/session_output.h"
#include "tensorrt/session/trt_session.h"

namespace vernier::trt {

// What a recording is made for: it has the addresses of all tensors in it. Empty: something that it
// would write into is still in use by a tensor, host memory is read while TensorRT enqueues, or a
// shape depends on data, which a recording would not show.
std::string TrtSession::RecordingKey() const {
  std::string key;
  if (!inputs_.AddToKey(key)) return {};
  for (const auto& output : outputs_) {
    const std::vector<int64_t> shape = ShapeOf(context_->getTensorShape(output->name.c_str()));
    const bool open = std::any_of(shape.begin(), shape.end(), [](int64_t d) { return d < 0; });
    if (open || output->buffer == nullptr || output->buffer.use_count() > 1) return {};
    key += std::to_string(reinterpret_cast<uintptr_t>(output->buffer->data())) + ' ';
  }
  return key;
}

// The second inference with the same addresses and shapes is recorded, from then on the recording
// is launched.
Status TrtSession::Enqueue() {
  const auto enqueue = [this] { return context_->enqueueV3(stream_); };
  const std::string key = graph_ == nullptr ? std::string() : RecordingKey();
  if (!key.empty() && graph_->Has(key)) return graph_->Launch(stream_);
  if (!key.empty() && key == last_key_) {
    VERNIER_TRY(shared_.device->Synchronize(stream_));
    const Status recorded = graph_->Record(key, stream_, enqueue);
    if (recorded.ok() && RecordingKey() == key) return graph_->Launch(stream_);
    shared_.logger.host().Warning("--cuda-graphs: this engine's inferences are not recorded: " +
                                  recorded.message());
    graph_.reset();
  }
  for (const auto& output : outputs_) output->failure = Status();
  const bool enqueued = enqueue();
  for (const auto& output : outputs_) VERNIER_TRY(output->failure);
  if (!enqueued) {
    return BackendError("TensorRT could not run the engine: " + shared_.logger.TakeError());
  }
  if (graph_ != nullptr) last_key_ = RecordingKey();
  return {};
}

Status TrtSession::Marks::Make(const CudaDevice& device) {
  for (cuda::Event* event : {&begun, &ended}) {
    if (*event != nullptr) continue;
    VERNIER_ASSIGN_OR_RETURN(*event, device.CreateEvent(cuda::kEventDefault));
  }
  return {};
}

void TrtSession::Marks::End(const CudaDevice& device) {
  for (const cuda::Event event : {begun, ended}) {
    if (event != nullptr) device.DestroyEvent(event);
  }
}

// At most one other may be on its way.
Result<TrtSession::Flight> TrtSession::Launch(std::span<const vn_tensor* const> inputs) {
  const CudaDevice& device = *shared_.device;
  std::swap(marks_[0], marks_[1]);
  VERNIER_TRY(marks_[0].Make(device));
  Flight flight{marks_[0], {}};
  VERNIER_TRY(device.Record(flight.marks.begun, stream_));
  VERNIER_TRY(inputs_.Take(inputs));
  VERNIER_TRY(context_memory_.Prepare(*opened_.engine, *context_));
  VERNIER_TRY(Enqueue());
  for (const auto& output : outputs_) {
    VERNIER_ASSIGN_OR_RETURN(sdk::OutputTensor tensor, Fetch(*output));
    flight.outputs.push_back(std::move(tensor));
  }
  VERNIER_TRY(AddDebugTensors(flight.outputs));
  VERNIER_TRY(device.Record(flight.marks.ended, stream_));
  return flight;
}

// Until they are here or the inference has ended. What takes longer gains little.
std::span<const vn_tensor* const> TrtSession::AwaitNextInputs(const Flight& flight) const {
  constexpr auto kLongest = std::chrono::milliseconds(1);
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const std::span<const vn_tensor* const> inputs = shared_.logger.host().NextInputs();
    if (!inputs.empty() || shared_.device->HasPassed(flight.marks.ended) ||
        std::chrono::steady_clock::now() - start > kLongest) {
      return inputs;
    }
  }
}

// Where nothing of the one before it could be touched, and nothing has to be waited for.
bool TrtSession::MayLaunchAhead(std::span<const vn_tensor* const> inputs) {
  if (!context_memory_.is_static() || has_debug_tensors_ || !inputs_.HaveShapesOf(inputs)) {
    return false;
  }
  if (inputs_.TakeShapeChange()) outputs_are_fixed_.reset();
  if (!outputs_are_fixed_) {
    outputs_are_fixed_ = std::ranges::all_of(outputs_, [this](const auto& output) {
      const std::vector<int64_t> shape = ShapeOf(context_->getTensorShape(output->name.c_str()));
      return !output->layout &&
             std::ranges::all_of(shape, [](int64_t extent) { return extent >= 0; });
    });
  }
  return *outputs_are_fixed_;
}

// While the device computes: the next inputs are copied, and the next inference is put behind this
// one. A failure is none: it is done again, and reported, when it is its turn.
void TrtSession::PrepareNext(const Flight& flight) {
  if (!inputs_.sends()) return;
  const std::span<const vn_tensor* const> inputs = AwaitNextInputs(flight);
  if (inputs.empty()) return;
  if (!inputs_.Send(inputs) || !MayLaunchAhead(inputs)) return;
  Result<Flight> ahead = Launch(inputs);
  if (!ahead.ok()) return inputs_.StopSending();
  ahead_ = *std::move(ahead);
}

Result<sdk::RunOutcome> TrtSession::Run(std::span<const vn_tensor* const> inputs) {
  const cuda::CurrentContext current = shared_.device->Enter();
  VERNIER_TRY(current.status());
  std::optional<Flight> flight = std::exchange(ahead_, std::nullopt);
  if (!flight) {
    VERNIER_ASSIGN_OR_RETURN(flight, Launch(inputs));
  }
  PrepareNext(*flight);
  VERNIER_TRY(shared_.device->Await(flight->marks.ended));
  VERNIER_TRY(AddDebugTensors(flight->outputs));  // that came late
  sdk::RunOutcome outcome;
  outcome.outputs = std::move(flight->outputs);
  // Polygraphy's time for a TensorRT runner includes the copies, too: here of what is copied. An
  // inference behind another begins where that one has ended.
  VERNIER_ASSIGN_OR_RETURN(
      outcome.inference_seconds,
      shared_.device->SecondsBetween(flight->marks.begun, flight->marks.ended));
  return outcome;
}

}  // namespace vernier::trt
