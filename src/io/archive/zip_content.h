// Reads the content of a ZIP member.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/archive/zip_reader.h"
#include "io/bytes/byte_source.h"
#include "vernier/status.h"

namespace vernier {

/// kMalformed: `what` is wrong with the member.
Status DamagedMember(const std::string& name, std::string_view what);

/// `packed` is what the archive holds of the member. kInternal when zlib cannot be used.
Result<std::unique_ptr<ZipContent>> OpenZipContent(const ZipMember& member,
                                                   std::unique_ptr<ByteSource> packed);

}  // namespace vernier
