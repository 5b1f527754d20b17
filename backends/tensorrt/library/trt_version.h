// What differs between the TensorRT releases whose headers this plug-in can be compiled against
// (8.5 to 11). Everything else asks here, so that no other file knows a version number.
//
// Enumerators and methods come and go. Their presence is asked of the header itself, by `requires`
// in a template, rather than derived from version numbers.
#pragma once

#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <cstdint>
#include <optional>
#include <string>

namespace vernier::trt {

/// "8.5.3" of 8503, "10.13.3" of 101303: the number's layout changed with TensorRT 10.
inline std::string VersionText(int32_t version) {
  const int32_t major = version >= 10000 ? version / 10000 : version / 1000;
  const int32_t rest = version >= 10000 ? version % 10000 : version % 1000;
  return std::to_string(major) + "." + std::to_string(rest / 100) + "." +
         std::to_string(rest % 100);
}
inline int32_t VersionMajor(int32_t version) {
  return version >= 10000 ? version / 10000 : version / 1000;
}

inline constexpr int32_t kHeaderVersion = NV_TENSORRT_VERSION;
inline constexpr int32_t kHeaderMajor = NV_TENSORRT_MAJOR;

/// For enumerations that a release does not have at all. (NV_TENSORRT_VERSION is no preprocessor
/// number before 10.)
#define VERNIER_TRT_AT_LEAST(major, minor) \
  (NV_TENSORRT_MAJOR > (major) || (NV_TENSORRT_MAJOR == (major) && NV_TENSORRT_MINOR >= (minor)))

/// The value of an enumerator, or nothing where this release's header does not have it.
#define VERNIER_TRT_ENUMERATOR(Enum, name)  \
  [](auto tag) -> std::optional<int32_t> {  \
    using E = decltype(tag);                \
    if constexpr (requires { E::name; }) {  \
      return static_cast<int32_t>(E::name); \
    } else {                                \
      return std::nullopt;                  \
    }                                       \
  }(Enum{})

/// Networks with explicit batch dimensions: a flag until TensorRT 9, the only kind since.
template <typename Flag = nvinfer1::NetworkDefinitionCreationFlag>
uint32_t NetworkFlags(bool strongly_typed) {
  uint32_t flags = 0;
  if constexpr (kHeaderMajor < 10 && requires { Flag::kEXPLICIT_BATCH; }) {
    flags |= 1u << static_cast<uint32_t>(Flag::kEXPLICIT_BATCH);
  }
  if constexpr (requires { Flag::kSTRONGLY_TYPED; }) {
    if (strongly_typed) flags |= 1u << static_cast<uint32_t>(Flag::kSTRONGLY_TYPED);
  }
  return flags;
}

/// Lets the runtime execute what a version-compatible engine brings along. Engines that this run
/// built are trusted; others need --allow-engine-code.
template <typename Runtime>
void AllowEngineCode(Runtime& runtime, bool allow) {
  if constexpr (requires { runtime.setEngineHostCodeAllowed(allow); }) {
    runtime.setEngineHostCodeAllowed(allow);
  }
}

/// Objects are deleted since 8.0; `destroy` is gone with 10.
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    delete object;
  }
};

}  // namespace vernier::trt
