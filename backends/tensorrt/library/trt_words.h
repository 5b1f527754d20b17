// The words of TensorRT's enumerations as Polygraphy's options spell them: the enumerator's name
// without its k, in any case.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vernier/dtype.h"
#include "vernier/status.h"

namespace vernier::trt {

struct Word {
  std::string_view name;
  std::optional<int32_t> value;  ///< nothing: not in the release that this was compiled against
};

std::span<const Word> TacticSourceWords();
std::span<const Word> MemoryPoolWords();
std::span<const Word> PreviewFeatureWords();
std::span<const Word> QuantizationFlagWords();
std::span<const Word> ProfilingVerbosityWords();
std::span<const Word> HardwareCompatibilityWords();
std::span<const Word> RuntimePlatformWords();
std::span<const Word> TilingWords();
std::span<const Word> EngineCapabilityWords();
std::span<const Word> OnnxFlagWords();
std::span<const Word> LayerTypeWords();
std::span<const Word> DataTypeWords();
std::span<const Word> TensorFormatWords();

/// The value of a word. kInvalidArgument names the option and the words that there are;
/// kUnavailable, with the release, for a word that this release does not have.
Result<int32_t> LookUp(std::span<const Word> words, std::string_view word, std::string_view option);

/// The word of a value, or its number as text.
std::string NameOf(std::span<const Word> words, int32_t value);

/// TensorRT's element types: their numbers are the same in every release, new ones are appended.
DType DTypeOf(int32_t trt_type);
/// "float32", "fp8", "bf16" and the other words of --layer-precisions and --tensor-dtypes.
Result<int32_t> TrtTypeOfWord(std::string_view word, std::string_view option);

}  // namespace vernier::trt
