// Stands in for TensorRT's libraries, under all their names: writes down what is called of them.
// With $VERNIER_TRT_REAL, the folder of the real ones, calls are made; with $VERNIER_TRT_REPLAY
// they are looked up in a recording, and no GPU is needed.
#include <NvInfer.h>
#include <NvInferPlugin.h>
#include <NvOnnxParser.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tape.h"

namespace vernier::trace {
template <typename I>
inline constexpr std::string_view kNameOf = {};
template <typename I>
class Traced;
}  // namespace vernier::trace

#include "trt_proxies.h"

namespace vernier::trace {
namespace {

void* RealLibrary(const char* name) {
  const char* folder = std::getenv("VERNIER_TRT_REAL");
  const std::string path = std::string(folder == nullptr ? "." : folder) + "/" + name;
  void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) std::fprintf(stderr, "%s\n", ::dlerror());
  return library;
}

template <typename Function>
Function RealSymbol(const char* library, const char* name) {
  void* handle = RealLibrary(library);
  return reinterpret_cast<Function>(handle == nullptr ? nullptr : ::dlsym(handle, name));
}

constexpr const char* kInfer = "libnvinfer.so.8";

// TensorRT's callbacks pass through here.
class TracedAllocator final : public IOutputAllocator {
 public:
  explicit TracedAllocator(IOutputAllocator* real) : real_(real) {}

  void* reallocateOutput(char const* tensor, void* memory, uint64_t size,
                         uint64_t alignment) noexcept override {
    void* result = real_->reallocateOutput(tensor, memory, size, alignment);
    TheTape().Write(
        "back", Prefix(tensor) + "reallocateOutput(" + Text(size) + ", " + Text(alignment) + ")",
        "");
    return result;
  }
  void notifyShape(char const* tensor, Dims const& dims) noexcept override {
    real_->notifyShape(tensor, dims);
    TheTape().Write("back", Prefix(tensor) + "notifyShape(" + Text(dims) + ")", "");
  }

 private:
  static std::string Prefix(const char* tensor) {
    return "IOutputAllocator(" + QuotedText(tensor) + ").";
  }
  IOutputAllocator* real_;
};

std::map<std::string, IOutputAllocator*>& Allocators() {
  static std::map<std::string, IOutputAllocator*> allocators;
  return allocators;
}

}  // namespace

Objects& TheObjects() {
  static Objects objects;
  return objects;
}

IOutputAllocator* RealAllocator(IOutputAllocator* allocator) {
  static std::deque<TracedAllocator> allocators;
  return allocator == nullptr ? nullptr : &allocators.emplace_back(allocator);
}

void KeepAllocator(const char* tensor, IOutputAllocator* allocator) {
  Allocators()[tensor] = allocator;
}

// IOutputAllocator("Y").notifyShape([1,2])
void CallBack(const std::string& line) {
  const size_t open = line.find("(\""), close = line.find("\").");
  if (open == std::string::npos || close == std::string::npos) return;
  const std::string tensor = UnquotedText(line.substr(open + 1, close - open));
  IOutputAllocator* allocator = Allocators()[tensor];
  const std::string call = line.substr(close + 3);
  const std::string arguments = call.substr(call.find('(') + 1);
  if (allocator == nullptr) return;
  if (call.starts_with("notifyShape")) {
    allocator->notifyShape(tensor.c_str(), DimsFrom(arguments));
  } else {
    const uint64_t size = std::strtoull(arguments.c_str(), nullptr, 10);
    allocator->reallocateOutput(tensor.c_str(), nullptr, size, 256);
  }
}

// Of paths only the file's name: they differ between machines.
std::string QuotedText(const char* text) {
  if (text[0] == '/' && std::strchr(text, '\n') == nullptr) text = std::strrchr(text, '/') + 1;
  std::string quoted = "\"";
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == '"' || *c == '\\') quoted += '\\';
    quoted += *c == '\n' ? std::string("\\n") : std::string(1, *c);
  }
  return quoted + "\"";
}

const char* UnquotedText(const std::string& text) {
  static std::deque<std::string> kept;
  std::string& result = kept.emplace_back();
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\' && i + 2 < text.size()) {
      ++i;
      result += text[i] == 'n' ? '\n' : text[i];
    } else {
      result += text[i];
    }
  }
  return result.c_str();
}

std::string CalibratorText(IInt8Calibrator* calibrator) {
  switch (calibrator->getAlgorithm()) {
    case CalibrationAlgoType::kLEGACY_CALIBRATION: {
      auto* legacy = static_cast<IInt8LegacyCalibrator*>(calibrator);
      return "kLEGACY_CALIBRATION " + Text(legacy->getQuantile()) + " " +
             Text(legacy->getRegressionCutoff());
    }
    case CalibrationAlgoType::kENTROPY_CALIBRATION:
      return "kENTROPY_CALIBRATION";
    case CalibrationAlgoType::kENTROPY_CALIBRATION_2:
      return "kENTROPY_CALIBRATION_2";
    case CalibrationAlgoType::kMINMAX_CALIBRATION:
      return "kMINMAX_CALIBRATION";
  }
  return "?";
}

Dims DimsFrom(const std::string& text) {
  Dims dims{};
  const char* place = text.c_str() + 1;
  while (*place != ']' && *place != '\0' && dims.nbDims < Dims::MAX_DIMS) {
    char* end = nullptr;
    dims.d[dims.nbDims++] = static_cast<int32_t>(std::strtol(place, &end, 10));
    place = *end == ',' ? end + 1 : end;
  }
  return dims;
}

void* ReplayedBytes() {
  static std::byte bytes[size_t{64} << 20];  // more than any engine of the recordings
  return bytes;
}

}  // namespace vernier::trace

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace vernier::trace;

EXPORT int32_t getInferLibVersion() noexcept { return NV_TENSORRT_VERSION; }

EXPORT void* createInferBuilder_INTERNAL(void* logger, int32_t version) noexcept {
  return Call<IBuilder*>("", "createInferBuilder", Kind::kCall, [&] {
    const auto create =
        RealSymbol<void* (*)(void*, int32_t)>(kInfer, "createInferBuilder_INTERNAL");
    return static_cast<IBuilder*>(create(logger, version));
  });
}

EXPORT void* createInferRuntime_INTERNAL(void* logger, int32_t version) noexcept {
  return Call<IRuntime*>("", "createInferRuntime", Kind::kCall, [&] {
    const auto create =
        RealSymbol<void* (*)(void*, int32_t)>(kInfer, "createInferRuntime_INTERNAL");
    return static_cast<IRuntime*>(create(logger, version));
  });
}

EXPORT void* createNvOnnxParser_INTERNAL(void* network, void* logger, int version) {
  auto* traced = static_cast<INetworkDefinition*>(network);
  return Call<IParser*>(
      "", "createNvOnnxParser", Kind::kCall,
      [&] {
        const auto create = RealSymbol<void* (*)(void*, void*, int)>("libnvonnxparser.so.8",
                                                                     "createNvOnnxParser_INTERNAL");
        return static_cast<IParser*>(create(Real(traced), logger, version));
      },
      traced);
}

EXPORT bool initLibNvInferPlugins(void* logger, char const* name_space) {
  return Call<bool>(
      "", "initLibNvInferPlugins", Kind::kCall,
      [&] {
        const auto initialize = RealSymbol<bool (*)(void*, char const*)>("libnvinfer_plugin.so.8",
                                                                         "initLibNvInferPlugins");
        return initialize != nullptr && initialize(logger, name_space);
      },
      name_space);
}
