// Writes .npz files: stored members, ZIP64, every array's data at a multiple of 64 bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_sink.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// A finished member: the bytes [offset, end) of its file are header and data.
struct ZipEntry {
  std::string name;
  uint32_t crc = 0;
  uint64_t size = 0;
  uint64_t offset = 0;
  uint64_t end = 0;
};

/// Appends a tensor as the member `name`, an .npy file. One pass over the data; the header's
/// checksum and size are patched afterwards. kInvalidArgument for names beyond 65,535 bytes.
Result<ZipEntry> AppendZipTensor(OutputFile& file, std::string name, const Tensor& tensor);

/// Appends a member of plain bytes.
Result<ZipEntry> AppendZipText(OutputFile& file, std::string name, std::string_view text);

/// Ends the archive with the directory of `entries`.
Status AppendZipDirectory(OutputFile& file, std::span<const ZipEntry> entries);

}  // namespace vernier
