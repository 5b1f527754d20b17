// The header of safetensors files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/archive/archive_metadata.h"
#include "io/archive/archive_name_table.h"
#include "io/bytes/byte_sink.h"
#include "io/json/json_text.h"
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

/// 40 bytes a tensor, of which there may be very many.
struct SafetensorsHeader {
  struct Place {
    uint64_t begin = 0;  ///< offsets from the end of the header
    uint64_t end = 0;
    uint32_t type = 0;  ///< in types
  };

  ArchiveNameTable names;     ///< in the header's order
  std::vector<Place> places;  ///< parallel to names
  StoredTypeTable types;
  std::optional<ArchiveMetadata> metadata;  ///< what kSafetensorsMetadataKey says
  uint64_t data_offset = 0;
};

/// `file` is all of the file; its data are not read. kMalformed for headers beyond 100 MB,
/// duplicate names, unknown types, sizes that do not fit type and shape, tensors that overlap or
/// leave a hole or bytes after the last, and metadata that ReadArchiveMetadata() refuses.
Result<SafetensorsHeader> ReadSafetensorsHeader(const JsonText& file);

/// The type that safetensors has for `dtype`; nullopt where it has none.
std::optional<std::string_view> SafetensorsTypeName(DType dtype);

/// What a header is written from; its tensors may be too many for memory.
struct SafetensorsHeaderParts {
  Sequence<SafetensorsEntry> entries;  ///< of types that have a name

  /// Writes the file's metadata of the key `metadata_key`, in ASCII; none where it is null.
  std::function<Status(ByteSink&)> metadata;
  std::string metadata_key;
};

/// Bytes of length and header text, padded so that the data begin at a multiple of 8. kIo when the
/// header would be longer than 100 MB.
Result<uint64_t> SafetensorsHeaderSize(const SafetensorsHeaderParts& parts);

/// Writes them, filled with blanks up to `size`, which is no less and a multiple of 8.
Status WriteSafetensorsHeader(const SafetensorsHeaderParts& parts, uint64_t size, ByteSink& sink);

}  // namespace vernier
