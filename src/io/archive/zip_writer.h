// Writes .npz files: stored members, ZIP64, every array's data at a multiple of 64 bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "io/bytes/byte_sink.h"
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

/// Appends a member of the bytes that `write` gives. kIo for more than 1 GiB, which no reader of
/// ours would take.
Result<ZipEntry> AppendZipMember(OutputFile& file, std::string name,
                                 const std::function<Status(ByteSink&)>& write);

/// The end of an archive: an entry for each member, then Finish().
class ZipDirectoryWriter {
 public:
  explicit ZipDirectoryWriter(OutputFile& file) : file_(file), offset_(file.size()) {}

  Status Add(const ZipEntry& entry);
  /// kIo for a directory of more than 1 GiB, which no reader of ours would take.
  Status Finish();

 private:
  Status Flush();

  OutputFile& file_;
  uint64_t offset_;
  uint64_t count_ = 0;
  std::string buffer_;
};

}  // namespace vernier
