// In which form outputs are saved at a path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vernier {

enum class ResultsFormat : uint8_t { kJson, kJsonDirectory, kNpz, kSafetensors };

/// By the path alone, as --save-outputs takes it.
ResultsFormat ResultsFormatFor(const std::string& path);

/// "json", "json-directory", "npz", "safetensors".
std::string_view ResultsFormatName(ResultsFormat format);
std::optional<ResultsFormat> ResultsFormatFromName(std::string_view name);

}  // namespace vernier
