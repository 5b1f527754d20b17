// Reads the content of a ZIP member.
#pragma once

#include <memory>

#include "io/byte_source.h"
#include "io/zip_reader.h"
#include "vernier/status.h"

namespace vernier {

/// `packed` is what the archive holds of the member. kInternal when zlib cannot be used.
Result<std::unique_ptr<ZipContent>> OpenZipContent(const ZipMember& member,
                                                   std::unique_ptr<ByteSource> packed);

}  // namespace vernier
