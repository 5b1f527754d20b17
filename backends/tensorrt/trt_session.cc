#include "trt_session.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>

#include "engine_builder.h"
#include "engine_files.h"
#include "layer_precisions.h"
#include "option_words.h"
#include "trt_words.h"

namespace vernier::trt {
namespace {

std::vector<int64_t> ShapeOf(const nvinfer1::Dims& dims) {
  return {dims.d, dims.d + std::max(dims.nbDims, 0)};
}

Result<nvinfer1::Dims> DimsOf(const vn_tensor& tensor) {
  nvinfer1::Dims dims{};
  using Extent = std::remove_reference_t<decltype(dims.d[0])>;
  if (tensor.rank > static_cast<uint32_t>(nvinfer1::Dims::MAX_DIMS)) {
    return InvalidArgument("input '" + std::string(sdk::View(tensor.name)) + "' has " +
                           std::to_string(tensor.rank) + " dimensions; TensorRT takes at most " +
                           std::to_string(nvinfer1::Dims::MAX_DIMS));
  }
  dims.nbDims = static_cast<int32_t>(tensor.rank);
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.shape[i] > std::numeric_limits<Extent>::max()) {
      return InvalidArgument("input '" + std::string(sdk::View(tensor.name)) +
                             "' has a dimension beyond TensorRT's range");
    }
    dims.d[i] = static_cast<Extent>(tensor.shape[i]);
  }
  return dims;
}

const vn_tensor* FindInput(std::span<const vn_tensor* const> inputs, const std::string& name) {
  const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const vn_tensor* tensor) {
    return sdk::View(tensor->name) == name;
  });
  return found == inputs.end() ? nullptr : *found;
}

// TensorRT before 10 has no int64: its parser makes int32 of it, and so do we, exactly.
Result<std::vector<std::byte>> Narrowed(const vn_tensor& tensor) {
  const auto* values = static_cast<const int64_t*>(tensor.data);
  const size_t count = tensor.byte_size / sizeof(int64_t);
  std::vector<std::byte> bytes(count * sizeof(int32_t));
  for (size_t i = 0; i < count; ++i) {
    if (values[i] != static_cast<int32_t>(values[i])) {
      return InvalidArgument("input '" + std::string(sdk::View(tensor.name)) + "' holds " +
                             std::to_string(values[i]) + ", which this TensorRT cannot take: it "
                             "computes the model's int64 as int32");
    }
    const auto narrow = static_cast<int32_t>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(narrow), &narrow, sizeof(narrow));
  }
  return bytes;
}

// Options that permit a precision; whether a layer uses it is TensorRT's choice.
struct AskedPrecision {
  std::string_view key;
  std::string_view name;  ///< as in LayerPrecisions
};
constexpr AskedPrecision kAskedPrecisions[] = {
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

std::string LinearFormatProblem(const nvinfer1::ICudaEngine& engine, const char* name) {
  if (engine.getTensorFormat(name) == nvinfer1::TensorFormat::kLINEAR) return {};
  return std::string("a layout that is not linear: ") + engine.getTensorFormatDesc(name);
}

}  // namespace

// TensorRT asks for memory when it knows how much an output needs, and tells its shape.
class TrtSession::Output final : public nvinfer1::IOutputAllocator {
 public:
  Output(std::string name, int32_t type, TrtSession& session)
      : name_(std::move(name)), type_(type), session_(session) {}
  ~Output() override { session_.shared_.cuda->Free(buffer_.memory); }

  void* reallocateOutput(const char*, void*, uint64_t size, uint64_t) noexcept override {
    const Status reserved = session_.Reserve(buffer_, size);
    if (reserved.ok()) return reinterpret_cast<void*>(buffer_.memory);
    failure_ = reserved;
    return nullptr;
  }
  void notifyShape(const char*, const nvinfer1::Dims& dims) noexcept override {
    shape_ = ShapeOf(dims);
  }

  std::string name_;
  int32_t type_;
  TrtSession& session_;
  DeviceBuffer buffer_;
  std::vector<int64_t> shape_;
  Status failure_;
  // The host's copy, used again as soon as nobody reads it any more.
  std::shared_ptr<std::byte> pinned_;
  size_t pinned_size_ = 0;
};

Result<std::unique_ptr<sdk::Session>> TrtSession::Open(const Shared& shared, const vn_model& model,
                                                       const sdk::Options& options) {
  VERNIER_TRY(shared.cuda->MakeCurrent());
  if (const auto option = ValueOf(options, "not_offered")) {
    return Unimplemented(*option + " is not available in this version of vernier");
  }
  VERNIER_TRY(LoadPlugins(options));
  std::unique_ptr<TrtSession> session(new TrtSession(shared));
  if (ValueOf(options, "model_type") == "engine") {
    VERNIER_ASSIGN_OR_RETURN(const std::string plan, ReadWhole(std::string(sdk::View(model.path))));
    VERNIER_TRY(session->Deserialize(plan.data(), plan.size(), IsOn(options, "allow_engine_code"),
                                     options));
  } else {
    VERNIER_ASSIGN_OR_RETURN(BuiltEngine built,
                             BuildEngine(shared.library, model, options, shared.logger));
    session->not_exposed_ = std::move(built.not_exposed);
    VERNIER_TRY(SaveEngineFiles(*built.plan, built.timing_cache, options, shared.logger));
    VERNIER_TRY(session->Deserialize(built.plan->data(), built.plan->size(), true, options));
  }
  VERNIER_TRY(session->ReadSignature(model));
  VERNIER_TRY(session->Activate(options));
  return std::unique_ptr<sdk::Session>(std::move(session));
}

TrtSession::TrtSession(const Shared& shared) : shared_(shared) {}

TrtSession::~TrtSession() {
  context_.reset();
  outputs_.clear();
  for (const Input& input : inputs_) shared_.cuda->Free(input.buffer.memory);
  if (stream_ != nullptr) shared_.cuda->DestroyStream(stream_);
}

Status TrtSession::Deserialize(const void* plan, size_t size, bool trusted,
                               const sdk::Options& options) {
  runtime_ = shared_.library.CreateRuntime(shared_.logger);
  if (runtime_ == nullptr) {
    return BackendError("TensorRT made no runtime: " + shared_.logger.TakeError());
  }
  AllowEngineCode(*runtime_, trusted);
  if (IsOn(options, "use_dla")) runtime_->setDLACore(0);
  engine_.reset(runtime_->deserializeCudaEngine(plan, size));
  if (engine_ != nullptr) return {};
  return Malformed("this engine cannot be used by TensorRT " +
                   VersionText(shared_.library.version()) + " on this " +
                   shared_.cuda->device_name() + ": " + shared_.logger.TakeError());
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
  const std::string problem = LinearFormatProblem(*engine_, name);
  if (!problem.empty() && is_input) {
    return Unimplemented("input '" + spec.name + "' has " + problem);
  }
  if (spec.dtype == DType::kUndefined) spec.skipped = "TensorRT's type " + std::to_string(type);
  if (!problem.empty()) spec.skipped = problem;
  if (!is_input) {
    outputs_.push_back(std::make_unique<Output>(spec.name, type, *this));
    output_specs_.push_back(std::move(spec));
    return {};
  }
  Input input;
  input.name = spec.name;
  input.type = type;
  input.host = engine_->isShapeInferenceIO(name);
  for (size_t i = 0; i < model.input_count; ++i) {
    if (sdk::View(model.inputs[i]->name) != spec.name) continue;
    input.narrow = spec.dtype == DType::kInt32 &&
                   sdk::SpecOf(*model.inputs[i]).dtype == DType::kInt64;
  }
  if (input.narrow) spec.dtype = DType::kInt64;
  inputs_.push_back(std::move(input));
  input_specs_.push_back(std::move(spec));
  return {};
}

Status TrtSession::Activate(const sdk::Options& options) {
  context_.reset(engine_->createExecutionContext());
  if (context_ == nullptr) {
    return BackendError("TensorRT made no execution context: " + shared_.logger.TakeError());
  }
  VERNIER_ASSIGN_OR_RETURN(stream_, shared_.cuda->CreateStream());
  VERNIER_ASSIGN_OR_RETURN(const auto profile,
                           NumberOf(options, "optimization_profile", "--optimization-profile"));
  if (profile && !context_->setOptimizationProfileAsync(static_cast<int32_t>(*profile), stream_)) {
    return InvalidArgument("--optimization-profile: Failed to set optimization profile to: " +
                           std::to_string(*profile) + " (the engine has " +
                           std::to_string(engine_->getNbOptimizationProfiles()) + ")");
  }
  VERNIER_TRY(shared_.cuda->Synchronize(stream_));
  for (const auto& output : outputs_) {
    if (!context_->setOutputAllocator(output->name_.c_str(), output.get())) {
      return BackendError("TensorRT refused the memory for output '" + output->name_ + "'");
    }
  }
  const LayerPrecisions layers = ReadLayerPrecisions(*engine_);
  precision_ = layers.summary;
  shared_.logger.host().Log(10, "Precision of each layer, as built:\n" + layers.table);
  for (const AskedPrecision& asked : kAskedPrecisions) {
    if (!IsOn(options, asked.key) || layers.table.empty() ||
        layers.summary.find(asked.name) != std::string::npos) {
      continue;
    }
    shared_.logger.host().Warning("--" + std::string(asked.key) + ": no layer of the engine gives " +
                                  std::string(asked.name) + "; TensorRT chose " + layers.summary);
  }
  return {};
}

Status TrtSession::Reserve(DeviceBuffer& buffer, size_t bytes) {
  if (buffer.memory != 0 && buffer.capacity >= bytes) return {};
  shared_.cuda->Free(buffer.memory);
  buffer = {};
  VERNIER_ASSIGN_OR_RETURN(buffer.memory, shared_.cuda->Allocate(bytes));
  buffer.capacity = bytes;
  return {};
}

Status TrtSession::SetInput(Input& input, const vn_tensor& tensor) {
  const void* bytes = tensor.data;
  size_t size = tensor.byte_size;
  if (input.narrow) {
    VERNIER_ASSIGN_OR_RETURN(input.host_bytes, Narrowed(tensor));
    bytes = input.host_bytes.data();
    size = input.host_bytes.size();
  }
  VERNIER_ASSIGN_OR_RETURN(const nvinfer1::Dims dims, DimsOf(tensor));
  if (!context_->setInputShape(input.name.c_str(), dims)) {
    return InvalidArgument("input '" + input.name + "': the engine does not take this shape: " +
                           shared_.logger.TakeError());
  }
  if (input.host) {
    // Aligned, and alive until the inference has ended.
    if (!input.narrow) {
      const auto* begin = static_cast<const std::byte*>(bytes);
      input.host_bytes.assign(begin, begin + size);
    }
    return context_->setTensorAddress(input.name.c_str(), input.host_bytes.data())
               ? Status()
               : BackendError("TensorRT refused input '" + input.name + "'");
  }
  VERNIER_TRY(Reserve(input.buffer, size));
  VERNIER_TRY(shared_.cuda->CopyToDevice(input.buffer.memory, bytes, size, stream_));
  return context_->setTensorAddress(input.name.c_str(),
                                    reinterpret_cast<void*>(input.buffer.memory))
             ? Status()
             : BackendError("TensorRT refused input '" + input.name + "'");
}

Status TrtSession::SetInputs(std::span<const vn_tensor* const> inputs) {
  for (Input& input : inputs_) {
    const vn_tensor* tensor = FindInput(inputs, input.name);
    if (tensor == nullptr) return InvalidArgument("input '" + input.name + "' was not supplied");
    VERNIER_TRY(SetInput(input, *tensor));
  }
  return {};
}

Result<sdk::OutputTensor> TrtSession::Fetch(Output& output) {
  sdk::OutputTensor tensor;
  tensor.name = output.name_;
  tensor.dtype = DTypeOf(output.type_);
  tensor.shape = output.shape_;
  const std::string problem = LinearFormatProblem(*engine_, output.name_.c_str());
  if (!problem.empty() || tensor.dtype == DType::kUndefined) {
    tensor.skipped = problem.empty() ? "an element type that is not supported" : problem;
    return tensor;
  }
  size_t count = 1;
  for (const int64_t extent : tensor.shape) count *= static_cast<size_t>(extent);
  tensor.byte_size = static_cast<size_t>(ByteSize(tensor.dtype, count).value_or(0));
  if (output.pinned_.use_count() != 1 || output.pinned_size_ < tensor.byte_size) {
    VERNIER_ASSIGN_OR_RETURN(output.pinned_, shared_.cuda->AllocatePinned(tensor.byte_size));
    output.pinned_size_ = tensor.byte_size;
  }
  VERNIER_TRY(shared_.cuda->CopyToHost(output.pinned_.get(), output.buffer_.memory,
                                       tensor.byte_size, stream_));
  tensor.data = output.pinned_.get();
  tensor.keep_alive = output.pinned_;
  return tensor;
}

Result<sdk::RunOutcome> TrtSession::Run(std::span<const vn_tensor* const> inputs) {
  VERNIER_TRY(shared_.cuda->MakeCurrent());
  const auto start = std::chrono::steady_clock::now();
  VERNIER_TRY(SetInputs(inputs));
  const bool enqueued = context_->enqueueV3(stream_);
  for (const auto& output : outputs_) VERNIER_TRY(output->failure_);
  if (!enqueued) {
    return BackendError("TensorRT could not run the engine: " + shared_.logger.TakeError());
  }
  sdk::RunOutcome outcome;
  for (const auto& output : outputs_) {
    VERNIER_ASSIGN_OR_RETURN(sdk::OutputTensor tensor, Fetch(*output));
    outcome.outputs.push_back(std::move(tensor));
  }
  VERNIER_TRY(shared_.cuda->Synchronize(stream_));
  // Polygraphy's time for a TensorRT runner includes the copies, too.
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  outcome.inference_seconds = elapsed.count();
  return outcome;
}

}  // namespace vernier::trt
