#include "tensorrt/session/trt_session.h"

#include <utility>

#include "tensorrt/builder/layer_precisions.h"
#include "tensorrt/engine/engine_report.h"
#include "tensorrt/library/option_words.h"
#include "tensorrt/session/session_output.h"

namespace vernier::trt {
namespace {

// Options that permit a precision; whether a layer uses it is TensorRT's choice.
struct PermittedPrecision {
  std::string_view key;
  std::string_view name;  ///< as in LayerPrecisions
};
constexpr PermittedPrecision kPermitted[] = {
    {"fp16", "float16"}, {"bf16", "bfloat16"}, {"fp8", "float8"}, {"int8", "int8"}};

void ReportPrecisions(const sdk::Options& options, const LayerPrecisions& layers,
                      const sdk::Host& host) {
  host.Log(10, "Precision of each layer, as built:\n" + layers.table);
  for (const PermittedPrecision& permitted : kPermitted) {
    if (!IsOn(options, permitted.key) || layers.table.empty() ||
        layers.summary.find(permitted.name) != std::string::npos) {
      continue;
    }
    host.Warning("--" + std::string(permitted.key) + ": no layer of the engine gives " +
                 std::string(permitted.name) + "; TensorRT chose " + layers.summary);
  }
  for (const std::string& refused : layers.refused) host.Warning("--layer-precisions: " + refused);
}

}  // namespace

Result<std::unique_ptr<sdk::Session>> TrtSession::Open(const Shared& shared, const vn_model& model,
                                                       const sdk::Options& options) {
  const cuda::CurrentContext current = shared.device->Enter();
  VERNIER_TRY(current.status());
  VERNIER_ASSIGN_OR_RETURN(OpenedEngine opened, OpenEngine(shared, model, options));
  VERNIER_ASSIGN_OR_RETURN(std::vector<EngineTensor> tensors, ReadTensors(*opened.engine, model));
  VERNIER_ASSIGN_OR_RETURN(ActiveContext active, Activate(*opened.engine, shared, options));
  std::unique_ptr<TrtSession> session(
      new TrtSession(shared, std::move(opened), std::move(active), std::move(tensors)));
  VERNIER_TRY(session->Connect(options));
  session->Report(options);
  return std::unique_ptr<sdk::Session>(std::move(session));
}

TrtSession::TrtSession(const Shared& shared, OpenedEngine opened, ActiveContext active,
                       std::vector<EngineTensor> tensors)
    : shared_(shared),
      opened_(std::move(opened)),
      context_(std::move(active.context)),
      context_memory_(std::move(active.memory)),
      stream_(active.stream.release()),
      inputs_(shared_, *context_, stream_) {
  for (EngineTensor& tensor : tensors) {
    if (tensor.is_input) {
      inputs_.Add(std::move(tensor));
    } else {
      outputs_.push_back(
          std::make_unique<Output>(tensor.spec.name, tensor.type, tensor.layout, *this));
      output_specs_.push_back(std::move(tensor.spec));
    }
  }
}

TrtSession::~TrtSession() {
  const cuda::CurrentContext current = shared_.device->Enter();
  if (stream_ != nullptr) shared_.device->DestroyStream(stream_);
  inputs_.End();
  for (Marks& marks : marks_) marks.End(*shared_.device);
  // In this order, and in the device's context, which members are not destroyed in.
  graph_.reset();
  context_.reset();
  debug_.reset();
  ahead_.reset();
  outputs_.clear();
  opened_.End();
}

Result<TrtSession::ActiveContext> TrtSession::Activate(nvinfer1::ICudaEngine& engine,
                                                       const Shared& shared,
                                                       const sdk::Options& options) {
  const CudaDevice& device = *shared.device;
  VERNIER_TRY(SetWeightBudget(engine, options, shared.logger));
  ContextMemory memory(device);
  VERNIER_ASSIGN_OR_RETURN(auto context, memory.MakeContext(engine, options, shared.logger));
  VERNIER_ASSIGN_OR_RETURN(const cuda::Stream stream, device.CreateStream());
  ActiveContext active{std::move(memory), std::move(context), {stream, {&device}}};
  VERNIER_ASSIGN_OR_RETURN(const auto profile,
                           NumberOf(options, "optimization_profile", "--optimization-profile"));
  if (profile &&
      !active.context->setOptimizationProfileAsync(static_cast<int32_t>(*profile), stream)) {
    return InvalidArgument("--optimization-profile: Failed to set optimization profile to: " +
                           std::to_string(*profile) + " (the engine has " +
                           std::to_string(engine.getNbOptimizationProfiles()) + ")");
  }
  VERNIER_TRY(device.Synchronize(stream));
  return active;
}

Status TrtSession::Connect(const sdk::Options& options) {
  for (const auto& output : outputs_) {
    if (!context_->setOutputAllocator(output->name.c_str(), output.get())) {
      return BackendError("TensorRT refused the memory for output '" + output->name + "'");
    }
  }
  debug_ = DebugTensors::Listen(*context_, *shared_.device, shared_.logger);
  if (IsOn(options, "cuda_graphs")) {
    VERNIER_ASSIGN_OR_RETURN(graph_, CudaGraph::Make(*shared_.device));
    inputs_.StopSending();  // a recording has the addresses of the inputs in it
  }
  return {};
}

void TrtSession::Report(const sdk::Options& options) {
  nvinfer1::ICudaEngine& engine = *opened_.engine;
  const LayerPrecisions precisions = ReadLayerPrecisions(engine, *context_, opened_.asked);
  precision_ = precisions.summary;
  ReportPrecisions(options, precisions, shared_.logger.host());
  if (const std::string path(options.Get("engine_report")); !path.empty()) {
    WriteEngineReport(path, engine, *context_, opened_.build, precisions);
  }
  if (const std::string path(options.Get("layer_names")); !path.empty()) {
    sdk::WriteLayerTimes(path, ReadLayerNames(engine));
  }
}

}  // namespace vernier::trt
