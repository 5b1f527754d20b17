#include "io/results/results_format.h"

#include <array>

#include "io/results/file_kind.h"

namespace vernier {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"json", "json-directory", "npz", "safetensors"};

}  // namespace

ResultsFormat ResultsFormatFor(const std::string& path) {
  if (!NamesSingleFile(path)) return ResultsFormat::kJsonDirectory;
  switch (FileKindForWriting(path)) {
    case FileKind::kNpz:
      return ResultsFormat::kNpz;
    case FileKind::kSafetensors:
      return ResultsFormat::kSafetensors;
    default:
      return ResultsFormat::kJson;
  }
}

std::string_view ResultsFormatName(ResultsFormat format) {
  return kNames[static_cast<size_t>(format)];
}

std::optional<ResultsFormat> ResultsFormatFromName(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<ResultsFormat>(i);
  }
  return std::nullopt;
}

}  // namespace vernier
