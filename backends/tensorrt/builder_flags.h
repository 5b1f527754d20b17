// The builder's flags that options set, and which of them this release has.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trt_version.h"

namespace vernier::trt {

struct FlagRow {
  std::string_view key;
  std::string_view option;
  std::string_view name;
  std::string_view help;
  std::optional<int32_t> flag;  ///< nothing: not in this release
};

#define VERNIER_TRT_FLAG(key, option, name)                    \
  FlagRow {                                                    \
    key, option, #name, "builder flag " #name,                 \
        VERNIER_TRT_ENUMERATOR(nvinfer1::BuilderFlag, k##name) \
  }
/// In the order in which Polygraphy sets them.
inline constexpr FlagRow kBuilderFlags[] = {
    VERNIER_TRT_FLAG("restricted", "--trt-safety-restricted", SAFETY_SCOPE),
    VERNIER_TRT_FLAG("refittable", "--refittable", REFIT),
    VERNIER_TRT_FLAG("strip_plan", "--strip-plan", STRIP_PLAN),
    VERNIER_TRT_FLAG("direct_io", "--direct-io", DIRECT_IO),
    VERNIER_TRT_FLAG("sparse_weights", "--sparse-weights", SPARSE_WEIGHTS),
    VERNIER_TRT_FLAG("version_compatible", "--version-compatible", VERSION_COMPATIBLE),
    VERNIER_TRT_FLAG("exclude_lean_runtime", "--exclude-lean-runtime", EXCLUDE_LEAN_RUNTIME),
    VERNIER_TRT_FLAG("error_on_timing_cache_miss", "--error-on-timing-cache-miss",
                     ERROR_ON_TIMING_CACHE_MISS),
    VERNIER_TRT_FLAG("disable_compilation_cache", "--disable-compilation-cache",
                     DISABLE_COMPILATION_CACHE),
    VERNIER_TRT_FLAG("weight_streaming", "--weight-streaming", WEIGHT_STREAMING),
    VERNIER_TRT_FLAG("tf32", "--tf32", TF32),
    VERNIER_TRT_FLAG("fp16", "--fp16", FP16),
    VERNIER_TRT_FLAG("bf16", "--bf16", BF16),
    VERNIER_TRT_FLAG("fp8", "--fp8", FP8),
    VERNIER_TRT_FLAG("int8", "--int8", INT8),
};
#undef VERNIER_TRT_FLAG

}  // namespace vernier::trt
