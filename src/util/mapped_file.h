// A file mapped read-only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "vernier/status.h"

namespace vernier {

/// Maps a regular file. The bytes live as long as the object; wrap tensors on them with the
/// shared_ptr as their owner.
class MappedFile {
 public:
  /// kMalformed, naming the path and the reason, when the file is missing, unreadable or not a
  /// regular file (directories, pipes and devices are refused).
  static Result<std::shared_ptr<const MappedFile>> Open(const std::string& path);

  /// Maps the `size` first bytes of an open descriptor, which stays the caller's.
  static Result<std::shared_ptr<const MappedFile>> FromDescriptor(int fd, size_t size,
                                                                  std::string name);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  MappedFile(std::string path, const std::byte* data, size_t size)
      : path_(std::move(path)), data_(data), size_(size) {}

  std::string path_;
  const std::byte* data_;
  size_t size_;
};

}  // namespace vernier
