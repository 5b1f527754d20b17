// Which format a file of saved tensors has.
#pragma once

#include <cstdint>
#include <string>

#include "vernier/status.h"

namespace vernier {

enum class FileKind : uint8_t { kJson, kNpz, kNpy, kSafetensors, kProtobuf };

/// By the extension where it is one of ours, else by the first bytes; JSON when nothing else fits.
/// kMalformed when the file cannot be read.
Result<FileKind> DetectFileKind(const std::string& path);

/// By the extension alone, for files that will be written: anything unknown is JSON.
FileKind FileKindForWriting(const std::string& path);

/// Whether what is written there as JSON would later be read as something else, by the extension
/// (.npy, .pb).
bool IsReadAsAnotherKind(const std::string& path);

/// Whether Polygraphy takes the path for a file: it has an extension. Others are directories of one
/// file per iteration.
bool NamesSingleFile(const std::string& path);

}  // namespace vernier
