#include "trt_session.h"

#include <dlfcn.h>

#include <algorithm>
#include <fstream>

#include "engine_builder.h"
#include "engine_files.h"
#include "engine_report.h"
#include "layer_precisions.h"
#include "option_list.h"
#include "option_words.h"
#include "plan_version.h"
#include "session_output.h"
#include "trt_words.h"

namespace vernier::trt {
namespace {

// Options that permit a precision; whether a layer uses it is TensorRT's choice.
struct PermittedPrecision {
  std::string_view key;
  std::string_view name;  ///< as in LayerPrecisions
};
constexpr PermittedPrecision kPermitted[] = {
    {"fp16", "float16"}, {"bf16", "bfloat16"}, {"fp8", "float8"}, {"int8", "int8"}};

// --plugins: they register themselves while they load.
Status LoadPlugins(const sdk::Options& options) {
  for (const std::string& path : WordsOf(options, "plugins").value_or(std::vector<std::string>())) {
    if (::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      return Malformed("--plugins: '" + path + "' cannot be loaded: " + ::dlerror());
    }
  }
  return {};
}

Owned<nvinfer1::IRuntime> LoadRuntime(nvinfer1::IRuntime& runtime, const std::string& path) {
  return [&](auto& r) -> Owned<nvinfer1::IRuntime> {
    if constexpr (requires { r.loadRuntime(path.c_str()); }) {
      return Owned<nvinfer1::IRuntime>(r.loadRuntime(path.c_str()));
    }
    return nullptr;
  }(runtime);
}
// --dla-workspace-allocation-strategy, of TensorRT 11.3 and newer.
Status SetDlaWorkspace(nvinfer1::IRuntime& runtime, const sdk::Options& options) {
  static constexpr Word kStrategies[] = {{"DEFAULT", 0}, {"SHARED_STATIC", 1}};
  const auto word = ValueOf(options, "dla_workspace_allocation_strategy");
  if (!word) return {};
  VERNIER_ASSIGN_OR_RETURN(const int32_t strategy,
                           LookUp(kStrategies, *word, "--dla-workspace-allocation-strategy"));
  return [&](auto& each) -> Status {
    if constexpr (requires { each.getDLAWorkspaceAllocationStrategy(); }) {
      using Strategy = decltype(each.getDLAWorkspaceAllocationStrategy());
      each.setDLAWorkspaceAllocationStrategy(static_cast<Strategy>(strategy));
      return {};
    } else {
      (void)strategy;
      return NotInThisRelease("--dla-workspace-allocation-strategy");
    }
  }(runtime);
}

}  // namespace

Result<std::unique_ptr<sdk::Session>> TrtSession::Open(const Shared& shared, const vn_model& model,
                                                       const sdk::Options& options) {
  const cuda::CurrentContext current = shared.device->Enter();
  VERNIER_TRY(current.status());
  const bool reads = ValueOf(options, "model_type") == "engine";
  VERNIER_TRY(CheckOptions(options, reads ? EngineSource::kRead : EngineSource::kBuilt));
  VERNIER_TRY(LoadPlugins(options));
  std::unique_ptr<TrtSession> session(new TrtSession(shared));
  if (reads) {
    VERNIER_ASSIGN_OR_RETURN(const std::string plan, ReadWhole(std::string(sdk::View(model.path))));
    VERNIER_TRY(session->Deserialize(plan.data(), plan.size(), IsOn(options, "allow_engine_code"),
                                     options));
  } else {
    VERNIER_ASSIGN_OR_RETURN(BuiltEngine built, BuildEngine(shared.builder, *shared.device, model,
                                                            options, shared.logger));
    session->not_exposed_ = std::move(built.not_exposed);
    session->asked_ = std::move(built.asked);
    session->build_.config = std::move(built.config);
    VERNIER_TRY(SaveEngine(*built.plan, options, shared.logger));
    VERNIER_TRY(session->Deserialize(built.plan->data(), built.plan->size(), true, options));
  }
  VERNIER_TRY(session->ReadSignature(model));
  VERNIER_TRY(session->Activate(options));
  return std::unique_ptr<sdk::Session>(std::move(session));
}

TrtSession::TrtSession(const Shared& shared) : shared_(shared), context_memory_(*shared_.device) {}

TrtSession::~TrtSession() {
  const cuda::CurrentContext current = shared_.device->Enter();
  if (stream_ != nullptr) shared_.device->DestroyStream(stream_);
  next_.End(*shared_.device);
  for (Marks& marks : marks_) marks.End(*shared_.device);
  // In this order, and in the device's context, which members are not destroyed in.
  graph_.reset();
  context_.reset();
  debug_.reset();
  ahead_.reset();
  outputs_.clear();
  engine_.reset();
  runtime_.reset();
  full_runtime_.reset();
}

Status TrtSession::Deserialize(const void* plan, size_t size, bool trusted,
                               const sdk::Options& options) {
  runtime_ = shared_.library.CreateRuntime(shared_.logger);
  if (runtime_ == nullptr) {
    return BackendError("TensorRT made no runtime: " + shared_.logger.TakeError());
  }
  if (const auto path = ValueOf(options, "load_runtime")) {
    shared_.logger.host().Info("Loading TensorRT runtime from: " + *path);
    full_runtime_ = std::move(runtime_);
    runtime_ = LoadRuntime(*full_runtime_, *path);
    if (runtime_ == nullptr) {
      return Malformed("--load-runtime: '" + *path +
                       "' cannot be used: " + shared_.logger.TakeError() +
                       ". It wants the path of TensorRT's lean runtime, libnvinfer_lean.so." +
                       std::to_string(kHeaderMajor) +
                       ", which comes with NVIDIA's packages and not with its Python wheels");
    }
  }
  AllowEngineCode(*runtime_, trusted);
  VERNIER_TRY(SetDlaWorkspace(*runtime_, options));
  if (IsOn(options, "use_dla")) runtime_->setDLACore(0);
  engine_.reset(runtime_->deserializeCudaEngine(plan, size));
  if (engine_ != nullptr) return {};
  return Malformed(DescribePlan({static_cast<const char*>(plan), size}) +
                   " cannot be used by TensorRT " + VersionText(shared_.library.version()) +
                   " on this " + shared_.device->name() + ": " + shared_.logger.TakeError());
}

Status TrtSession::ReadSignature(const vn_model& model) {
  for (int32_t i = 0; i < engine_->getNbIOTensors(); ++i) {
    VERNIER_TRY(AddTensor(engine_->getIOTensorName(i), model));
  }
  return {};
}

Status TrtSession::AddTensor(const char* name, const vn_model& model) {
  const bool is_input = engine_->getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT;
  sdk::TensorSpec spec;
  spec.name = name;
  spec.shape = ShapeOf(engine_->getTensorShape(name));
  const auto type = static_cast<int32_t>(engine_->getTensorDataType(name));
  spec.dtype = DTypeOf(type);
  const Result<Layout> layout = LayoutOfTensor(name);
  if (!layout.ok() && is_input) return layout.status();
  if (spec.dtype == DType::kUndefined) spec.skipped = "TensorRT's type " + std::to_string(type);
  if (!layout.ok()) spec.skipped = layout.status().message();
  if (!is_input) {
    outputs_.push_back(
        std::make_unique<Output>(spec.name, type, layout.ok() ? *layout : Layout(), *this));
    output_specs_.push_back(std::move(spec));
    return {};
  }
  Input input;
  input.name = spec.name;
  input.type = type;
  input.layout = *layout;
  input.host = engine_->isShapeInferenceIO(name);
  for (size_t i = 0; i < model.input_count; ++i) {
    if (sdk::View(model.inputs[i]->name) != spec.name) continue;
    input.narrow =
        spec.dtype == DType::kInt32 && sdk::SpecOf(*model.inputs[i]).dtype == DType::kInt64;
  }
  if (input.narrow) spec.dtype = DType::kInt64;
  inputs_.push_back(std::move(input));
  input_specs_.push_back(std::move(spec));
  return {};
}

// The formats of DLA are its own.
Result<TrtSession::Layout> TrtSession::LayoutOfTensor(const char* name) const {
  const nvinfer1::TensorFormat format = engine_->getTensorFormat(name);
  if (format == nvinfer1::TensorFormat::kLINEAR) return Layout();
  const Layout layout = LayoutOf(static_cast<int32_t>(format));
  const DType dtype = DTypeOf(static_cast<int32_t>(engine_->getTensorDataType(name)));
  if (layout && BitsOf(dtype) % 8 == 0) return layout;
  return Unimplemented("'" + std::string(name) + "' has a format that is not read here: " +
                       engine_->getTensorFormatDesc(name));
}

Status TrtSession::Activate(const sdk::Options& options) {
  VERNIER_TRY(SetWeightBudget(*engine_, options, shared_.logger));
  VERNIER_ASSIGN_OR_RETURN(context_,
                           context_memory_.MakeContext(*engine_, options, shared_.logger));
  VERNIER_ASSIGN_OR_RETURN(stream_, shared_.device->CreateStream());
  VERNIER_ASSIGN_OR_RETURN(const auto profile,
                           NumberOf(options, "optimization_profile", "--optimization-profile"));
  if (profile && !context_->setOptimizationProfileAsync(static_cast<int32_t>(*profile), stream_)) {
    return InvalidArgument("--optimization-profile: Failed to set optimization profile to: " +
                           std::to_string(*profile) + " (the engine has " +
                           std::to_string(engine_->getNbOptimizationProfiles()) + ")");
  }
  VERNIER_TRY(shared_.device->Synchronize(stream_));
  for (const auto& output : outputs_) {
    if (!context_->setOutputAllocator(output->name.c_str(), output.get())) {
      return BackendError("TensorRT refused the memory for output '" + output->name + "'");
    }
  }
  debug_ = DebugTensors::Listen(*context_, *shared_.device, shared_.logger);
  if (IsOn(options, "cuda_graphs")) {
    VERNIER_ASSIGN_OR_RETURN(graph_, CudaGraph::Make(*shared_.device));
    next_.usable = false;  // a recording has the addresses of the inputs in it
  }
  const LayerPrecisions precisions = ReadLayerPrecisions(*engine_, *context_, asked_);
  ReportPrecisions(options, precisions);
  if (const std::string path(options.Get("engine_report")); !path.empty()) {
    WriteEngineReport(path, *engine_, *context_, build_, precisions);
  }
  if (const std::string path(options.Get("layer_names")); !path.empty()) {
    sdk::WriteLayerTimes(path, ReadLayerNames(*engine_));
  }
  return {};
}

void TrtSession::ReportPrecisions(const sdk::Options& options, const LayerPrecisions& layers) {
  const sdk::Host& host = shared_.logger.host();
  precision_ = layers.summary;
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

}  // namespace vernier::trt
