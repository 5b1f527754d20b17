// The header of safetensors files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"
#include "vernier/dtype.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kUndefined;
  Dims dims;
  uint64_t begin = 0;  ///< offsets from the end of the header
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< in the header's order
  std::map<std::string, std::string> metadata;
  uint64_t data_offset = 0;
};

/// kMalformed for headers beyond 100 MB, duplicate names, unknown types, sizes that do not fit
/// type and shape, and tensors that overlap or leave a hole or bytes behind the last. `file` must
/// be at its beginning; its data are not read.
Result<SafetensorsHeader> ReadSafetensorsHeader(ByteSource& file);

/// The type that safetensors has for `dtype`; nullopt where it has none.
std::optional<std::string_view> SafetensorsTypeName(DType dtype);

/// Length and header text, padded so that the data begin at a multiple of 8. Entries must have a
/// type with a name. Shorter ones are filled with blanks up to `room` bytes, a multiple of 8. kIo
/// when the header would be longer than 100 MB.
Result<std::string> FormatSafetensorsHeader(std::span<const SafetensorsEntry> entries,
                                            const std::map<std::string, std::string>& metadata,
                                            uint64_t room = 0);

}  // namespace vernier
