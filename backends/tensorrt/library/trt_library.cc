#include "tensorrt/library/trt_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "vernier/framework_library.hpp"

namespace vernier::trt {
namespace {

std::string MajorSuffix() { return ".so." + std::to_string(kHeaderMajor); }

template <typename Function>
Function Symbol(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

Result<Library> Library::Load(std::string_view named) {
  const sdk::LibrarySearch search = {
      .framework = "TensorRT",
      .install_hint = "pip install tensorrt",
      .option = "--trt-lib",
      .root_variable = "TENSORRT_ROOT",
      .root_dirs = {"targets/x86_64-linux-gnu/lib", "targets/aarch64-linux-gnu/lib"},
      .python_dirs = {"tensorrt_libs", "tensorrt"},
      .stem = "libnvinfer",
      .system_names = {"libnvinfer" + MajorSuffix()},
  };
  Status misfit;
  std::string failures;
  for (const std::string& file : sdk::LibraryCandidates(search, named)) {
    void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      // A name for the dynamic linker that it does not know is no news.
      if (file.find('/') != std::string::npos) failures += std::string("; ") + ::dlerror();
      continue;
    }
    Library library;
    library.library_ = handle;
    library.path_ = file;
    if (Status fits = library.CheckVersion(); !fits.ok()) {
      // Another release may lie further along the search.
      if (misfit.ok()) misfit = fits;
      ::dlclose(handle);
      continue;
    }
    library.version_ = Symbol<int32_t (*)()>(handle, "getInferLibVersion")();
    library.LoadCompanions();
    return library;
  }
  if (!misfit.ok()) return misfit;
  if (!named.empty() && failures.empty()) return sdk::NotAtPlace(search, named);
  return Unavailable(
      "TensorRT was not found; install it with `pip install tensorrt`, or name its "
      "library with --trt-lib or $TENSORRT_ROOT" +
      failures);
}

Status Library::CheckVersion() const {
  const auto version_of = Symbol<int32_t (*)()>(library_, "getInferLibVersion");
  if (version_of == nullptr || Symbol<void*>(library_, "createInferBuilder_INTERNAL") == nullptr) {
    return Unavailable("'" + path_ + "' is not TensorRT: it has no getInferLibVersion");
  }
  const int32_t version = version_of();
  if (VersionMajor(version) == kHeaderMajor && version >= kHeaderVersion) return {};
  return Unavailable("'" + path_ + "' is TensorRT " + VersionText(version) +
                     "; this plug-in was built for " + VersionText(kHeaderVersion) +
                     " and serves that and newer releases of TensorRT " +
                     std::to_string(kHeaderMajor));
}

// The parser and the plug-in layers lie beside the library.
void Library::LoadCompanions() {
  parser_ = OpenCompanion("libnvonnxparser", parser_missing_);
  plugins_ = OpenCompanion("libnvinfer_plugin", plugins_missing_);
}

void* Library::OpenCompanion(const std::string& stem, std::string& why) const {
  const std::string name = stem + MajorSuffix();
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  for (const std::string& file : {(folder / name).string(), name}) {
    // Lazily: TensorRT 8's plug-in layers name cuBLAS and cuDNN, which few networks call.
    if (void* handle = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL)) return handle;
    if (why.empty()) why = ::dlerror();
  }
  return nullptr;
}

Owned<nvinfer1::IBuilder> Library::CreateBuilder(nvinfer1::ILogger& logger) const {
  const auto create = Symbol<void* (*)(void*, int32_t)>(library_, "createInferBuilder_INTERNAL");
  return Owned<nvinfer1::IBuilder>(
      static_cast<nvinfer1::IBuilder*>(create(&logger, kHeaderVersion)));
}

Owned<nvinfer1::IRuntime> Library::CreateRuntime(nvinfer1::ILogger& logger) const {
  const auto create = Symbol<void* (*)(void*, int32_t)>(library_, "createInferRuntime_INTERNAL");
  return Owned<nvinfer1::IRuntime>(
      static_cast<nvinfer1::IRuntime*>(create(&logger, kHeaderVersion)));
}

Result<Owned<nvonnxparser::IParser>> Library::CreateParser(nvinfer1::INetworkDefinition& network,
                                                           nvinfer1::ILogger& logger) const {
  const auto create = Symbol<void* (*)(void*, void*, int)>(parser_, "createNvOnnxParser_INTERNAL");
  if (create == nullptr) {
    return Unavailable("TensorRT's ONNX parser cannot be opened: " + parser_missing_);
  }
  return Owned<nvonnxparser::IParser>(
      static_cast<nvonnxparser::IParser*>(create(&network, &logger, NV_ONNX_PARSER_VERSION)));
}

void Library::RegisterPlugins(nvinfer1::ILogger& logger) const {
  const auto register_all = Symbol<bool (*)(void*, const char*)>(plugins_, "initLibNvInferPlugins");
  if (register_all != nullptr) register_all(&logger, "");
}

}  // namespace vernier::trt
