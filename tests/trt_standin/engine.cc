// The stand-in's runtime, engines and their execution: outputs are zeros of the right shape, or the
// first input where the network only copies.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "plan.h"

namespace trt_standin {
namespace {

constexpr int64_t kFound = 3;  // what a dimension that depends on data is
constexpr int64_t kMemory = 4096;
constexpr int64_t kStreamable = 1 << 20;

size_t SizeOf(DataType type) {
  switch (type) {
    case DataType::kINT64:
      return 8;
    case DataType::kHALF:
    case DataType::kBF16:
      return 2;
    case DataType::kINT8:
    case DataType::kUINT8:
    case DataType::kBOOL:
    case DataType::kFP8:
      return 1;
    default:
      return 4;
  }
}

bool IsOpen(const Dims& dims) {
  return std::any_of(dims.d, dims.d + dims.nbDims, [](int64_t extent) { return extent < 0; });
}

class Inspector final : public NotedEngineInspector {
 public:
  explicit Inspector(const Plan& plan) : plan_(plan) {}
  char const* getLayerInformation(int32_t layer, LayerInformationFormat) const noexcept override {
    return plan_.layers[static_cast<size_t>(layer)].c_str();
  }

 private:
  const Plan& plan_;
};

class Context final : public NotedExecutionContext {
 public:
  Context(const Plan& plan, ILogger* logger) : plan_(plan), logger_(logger) {}

  int32_t getOptimizationProfile() const noexcept override { return profile_; }
  bool setOptimizationProfileAsync(int32_t profile, cudaStream_t) noexcept override {
    Note("setOptimizationProfileAsync", profile);
    if (profile < 0 || profile >= plan_.profiles) return false;
    profile_ = profile;
    return true;
  }

  bool setInputShape(char const* name, Dims const& dims) noexcept override {
    Note("setInputShape", name, dims);
    const PlanTensor* tensor = plan_.Find(name);
    if (tensor == nullptr || tensor->dims.nbDims != dims.nbDims) return false;
    for (int32_t i = 0; i < dims.nbDims; ++i) {
      if (!Fits(*tensor, i, dims.d[i])) {
        Complain(logger_, "Set dimension [" + std::to_string(dims.d[i]) + "] for tensor " +
                              tensor->name + " does not satisfy any optimization profiles.");
        return false;
      }
      const std::string& symbol = tensor->symbols.empty() ? "" : Symbol(*tensor, i);
      if (!symbol.empty()) symbols_[symbol] = dims.d[i];
    }
    shapes_[name] = dims;
    return true;
  }

  Dims getTensorShape(char const* name) const noexcept override {
    const auto noted = shapes_.find(name);
    if (noted != shapes_.end()) return noted->second;
    const PlanTensor* tensor = plan_.Find(name);
    if (tensor == nullptr) return Dims{-1, {}};
    Dims dims = tensor->dims;
    const PlanTensor* shape = ShapeInput(dims.nbDims);
    for (int32_t i = 0; i < dims.nbDims; ++i) {
      if (dims.d[i] >= 0) continue;
      const auto known = symbols_.find(Symbol(*tensor, i));
      if (known != symbols_.end()) {
        dims.d[i] = known->second;
      } else if (shape != nullptr) {
        dims.d[i] = static_cast<const int64_t*>(addresses_.at(shape->name))[i];
      }
    }
    return dims;
  }

  bool setTensorAddress(char const* name, void* data) noexcept override {
    Note("setTensorAddress", name);
    addresses_[name] = data;
    return plan_.Find(name) != nullptr;
  }
  bool setOutputAllocator(char const* name, IOutputAllocator* allocator) noexcept override {
    Note("setOutputAllocator", name);
    allocators_[name] = allocator;
    return true;
  }
  bool setDebugListener(IDebugListener* listener) noexcept override {
    Note("setDebugListener");
    listener_ = listener;
    return true;
  }
  size_t updateDeviceMemorySizeForShapes() noexcept override {
    Note("updateDeviceMemorySizeForShapes");
    return kMemory;
  }

  bool enqueueV3(cudaStream_t stream) noexcept override {
    Note("enqueueV3");
    for (const PlanTensor& tensor : plan_.tensors) {
      if (tensor.role == 'd' && listener_ != nullptr) TellDebugTensor(tensor, stream);
      if (tensor.role == 'o' && !Produce(tensor)) return false;
    }
    return true;
  }

 private:
  static std::string Symbol(const PlanTensor& tensor, int32_t i) {
    const auto place = static_cast<size_t>(i);
    return place < tensor.symbols.size() ? tensor.symbols[place] : std::string();
  }

  bool Fits(const PlanTensor& tensor, int32_t i, int64_t extent) const {
    const PlanShape* least = plan_.ShapeOf(tensor.name, profile_, 0);
    const PlanShape* most = plan_.ShapeOf(tensor.name, profile_, 2);
    if (tensor.role == 's' || least == nullptr || most == nullptr) {
      return tensor.dims.d[i] < 0 || tensor.dims.d[i] == extent;
    }
    return extent >= least->dims.d[i] && extent <= most->dims.d[i];
  }

  // A shape input with a value for each of so many dimensions.
  const PlanTensor* ShapeInput(int32_t count) const {
    for (const PlanTensor& tensor : plan_.tensors) {
      const bool fits = tensor.role == 's' && tensor.dims.nbDims == 1 && tensor.dims.d[0] == count;
      if (fits && addresses_.count(tensor.name) > 0) return &tensor;
    }
    return nullptr;
  }

  bool Produce(const PlanTensor& tensor) {
    Dims dims = getTensorShape(tensor.name.c_str());
    if (IsOpen(dims)) std::replace(dims.d, dims.d + dims.nbDims, int64_t{-1}, kFound);
    const size_t size = BytesOf(dims, tensor.type);
    IOutputAllocator* const allocator = allocators_[tensor.name];
    if (allocator == nullptr) return false;
    void* memory = allocator->reallocateOutput(tensor.name.c_str(), nullptr, size, 256);
    allocator->notifyShape(tensor.name.c_str(), dims);
    if (memory == nullptr) return false;
    const auto first = std::find_if(plan_.tensors.begin(), plan_.tensors.end(),
                                    [](const PlanTensor& each) { return each.role == 'i'; });
    if (plan_.copies && first != plan_.tensors.end()) {
      std::memcpy(memory, addresses_[first->name], size);
    } else {
      std::memset(memory, 0, size);
    }
    return true;
  }

  void TellDebugTensor(const PlanTensor& tensor, cudaStream_t stream) {
    const Dims dims = getTensorShape(tensor.name.c_str());
    const std::string zeros(BytesOf(dims, tensor.type), '\0');
    listener_->processDebugTensor(zeros.data(), TensorLocation::kHOST, tensor.type, dims,
                                  tensor.name.c_str(), stream);
  }

  static size_t BytesOf(const Dims& dims, DataType type) {
    size_t bytes = SizeOf(type);
    for (int32_t i = 0; i < dims.nbDims; ++i) bytes *= static_cast<size_t>(dims.d[i]);
    return bytes;
  }

  const Plan& plan_;
  ILogger* logger_;
  int32_t profile_ = 0;
  std::map<std::string, Dims> shapes_;
  std::map<std::string, int64_t> symbols_;
  std::map<std::string, void*> addresses_;
  std::map<std::string, IOutputAllocator*> allocators_;
  IDebugListener* listener_ = nullptr;
};

class Engine final : public NotedCudaEngine {
 public:
  Engine(Plan plan, ILogger* logger) : plan_(std::move(plan)), logger_(logger) {
    for (const PlanTensor& tensor : plan_.tensors) {
      if (tensor.role != 'd') shown_.push_back(&tensor);
    }
  }

  int32_t getNbLayers() const noexcept override {
    return static_cast<int32_t>(plan_.layers.size());
  }
  int32_t getNbIOTensors() const noexcept override { return static_cast<int32_t>(shown_.size()); }
  char const* getIOTensorName(int32_t i) const noexcept override {
    return shown_[static_cast<size_t>(i)]->name.c_str();
  }
  char const* getName() const noexcept override { return "stand-in"; }
  bool isRefittable() const noexcept override { return plan_.refittable; }
  int32_t getNbOptimizationProfiles() const noexcept override { return plan_.profiles; }
  ProfilingVerbosity getProfilingVerbosity() const noexcept override { return plan_.verbosity; }
  TensorIOMode getTensorIOMode(char const* name) const noexcept override {
    return plan_.Find(name)->role == 'o' ? TensorIOMode::kOUTPUT : TensorIOMode::kINPUT;
  }
  Dims getTensorShape(char const* name) const noexcept override { return plan_.Find(name)->dims; }
  DataType getTensorDataType(char const* name) const noexcept override {
    return plan_.Find(name)->type;
  }
  TensorFormat getTensorFormat(char const* name) const noexcept override {
    return static_cast<TensorFormat>(plan_.Find(name)->format);
  }
  char const* getTensorFormatDesc(char const*) const noexcept override { return "of its own"; }
  bool isShapeInferenceIO(char const* name) const noexcept override {
    return plan_.Find(name)->role == 's';
  }
  Dims getProfileShape(char const* name, int32_t profile,
                       OptProfileSelector select) const noexcept override {
    const PlanShape* shape = plan_.ShapeOf(name, profile, static_cast<int32_t>(select));
    return shape == nullptr ? plan_.Find(name)->dims : shape->dims;
  }
  int64_t getDeviceMemorySizeV2() const noexcept override { return kMemory; }
  int64_t getDeviceMemorySizeForProfileV2(int32_t) const noexcept override { return kMemory; }
  int64_t getStreamableWeightsSize() const noexcept override {
    return plan_.streams_weights ? kStreamable : 0;
  }
  int64_t getWeightStreamingAutomaticBudget() const noexcept override { return kStreamable / 4; }

  IEngineInspector* createEngineInspector() const noexcept override {
    return new Object<IEngineInspector, Inspector>(plan_);
  }
  IExecutionContext* createExecutionContext(
      ExecutionContextAllocationStrategy strategy) noexcept override {
    Note("createExecutionContext", strategy);
    return new Object<IExecutionContext, Context>(plan_, logger_);
  }

 private:
  const Plan plan_;
  ILogger* logger_;
  std::vector<const PlanTensor*> shown_;
};

class Runtime final : public NotedRuntime {
 public:
  explicit Runtime(ILogger* logger) : logger_(logger) {}

  ICudaEngine* deserializeCudaEngine(void const* bytes, size_t size) noexcept override {
    Note("deserializeCudaEngine");
    std::optional<Plan> plan = Plan::Read({static_cast<const char*>(bytes), size});
    if (!plan) {
      Complain(logger_, "IRuntime::deserializeCudaEngine: Serialization assertion failed.");
      return nullptr;
    }
    return new Object<ICudaEngine, Engine>(*std::move(plan), logger_);
  }
  IRuntime* loadRuntime(char const*) noexcept override {
    Note("loadRuntime");
    Complain(logger_, "IRuntime::loadRuntime: cannot load the library");
    return nullptr;
  }

 private:
  ILogger* logger_;
};

}  // namespace
}  // namespace trt_standin

extern "C" __attribute__((visibility("default"))) void* createInferRuntime_INTERNAL(
    void* logger, int32_t) noexcept {
  using namespace trt_standin;
  return static_cast<IRuntime*>(
      new Object<IRuntime, Runtime>(static_cast<nvinfer1::ILogger*>(logger)));
}
