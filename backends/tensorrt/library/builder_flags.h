// The builder's flags that options set, and which of them this release has: made of options.def.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "tensorrt/library/trt_version.h"

namespace vernier::trt {

struct FlagRow {
  std::string_view key;
  std::string_view option;  ///< of the command line, for messages
  std::string_view help;
  std::optional<int32_t> flag;  ///< nothing: not in this release
  struct {
    int place = 256;  ///< of what Polygraphy does not have: behind all that it has
    std::string_view argument = {};
    bool plugin_only = false;
  } python;
};

#define FLAGS(...) \
  { __VA_ARGS__ }
#define PYTHON(...) \
  { __VA_ARGS__ }
#define VERNIER_TRT_FLAG(group, key, name, flags, help, row, python)           \
  FlagRow{#key, *std::initializer_list<std::string_view>(flags).begin(), help, \
          VERNIER_TRT_ENUMERATOR(nvinfer1::BuilderFlag, k##name), python},
/// In the order in which Polygraphy sets them.
inline constexpr auto kBuilderFlags = [] {
  auto rows = std::to_array<FlagRow>({
#include "tensorrt/options.def"
  });
  std::ranges::sort(rows, {}, [](const FlagRow& row) { return row.python.place; });
  return rows;
}();

}  // namespace vernier::trt
