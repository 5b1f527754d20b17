#include "tensorrt/builder/tactic_sources.h"

#include <dlfcn.h>

#include "tensorrt/library/trt_version.h"
#include "tensorrt/library/trt_words.h"

namespace vernier::trt {
namespace {

struct SourceLibrary {
  std::string_view word;
  const char* library;  ///< of TensorRT for CUDA 11
  const char* newer;    ///< of TensorRT for CUDA 12
  const char* symbol;
};

// TensorRT 10 has no external sources by default and 11 none at all.
constexpr SourceLibrary kLibraries[] = {
    {"CUBLAS", "libcublas.so.11", "libcublas.so.12", "cublasCreate_v2"},
    {"CUBLAS_LT", "libcublasLt.so.11", "libcublasLt.so.12", "cublasLtCreate"},
    {"CUDNN", "libcudnn.so.8", "libcudnn.so.8", "cudnnCreate"},
};

// TensorRT's plug-in layers are linked with those of its CUDA, and were loaded before.
const char* LibraryOf(const SourceLibrary& source) {
  void* loaded = ::dlopen(source.newer, RTLD_LAZY | RTLD_NOLOAD);
  if (loaded == nullptr) return source.library;
  ::dlclose(loaded);
  return source.newer;
}

std::string WhyUnusable(const SourceLibrary& source) {
  const char* const name = LibraryOf(source);
  void* library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return ::dlerror();
  const bool real = ::dlsym(library, source.symbol) != nullptr;
  return real ? "" : std::string(name) + ": has no " + source.symbol;
}

}  // namespace

UsableSources ClearUnusableSources(uint32_t mask) {
  UsableSources usable{mask, {}};
  if (kHeaderMajor > 8) return usable;
  for (const SourceLibrary& source : kLibraries) {
    const Result<int32_t> bit = LookUp(TacticSourceWords(), source.word, "--tactic-sources");
    if (!bit.ok() || (mask >> *bit & 1u) == 0) continue;
    const std::string why = WhyUnusable(source);
    if (why.empty()) continue;
    usable.mask &= ~(1u << *bit);
    usable.cleared.push_back(std::string(source.word) + " (" + why + ")");
  }
  return usable;
}

}  // namespace vernier::trt
