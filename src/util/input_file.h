// A regular file that is read by position into the caller's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "util/unique_fd.h"
#include "vernier/status.h"

namespace vernier {

/// An open file. Its bytes are never mapped: one that shrinks or whose disk fails while it is read
/// is a Status, not a signal, and pages of the file never count as this process's memory. Reading
/// is thread-safe.
class InputFile {
 public:
  /// kMalformed, naming the path and the reason, when the file is missing, unreadable or not a
  /// regular file (directories, pipes and devices are refused).
  static Result<std::shared_ptr<const InputFile>> Open(const std::string& path);

  /// An open descriptor of a regular file, which stays the caller's: it is duplicated.
  static Result<std::shared_ptr<const InputFile>> FromDescriptor(int fd, std::string path);

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }

  /// Size when it was opened.
  uint64_t size() const { return size_; }

  /// Fills `out` with the bytes from `offset` on. kMalformed, without the path, when the file has
  /// become shorter than that or cannot be read.
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const;

 private:
  InputFile(std::string path, UniqueFd fd, uint64_t size)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

  std::string path_;
  UniqueFd fd_;
  uint64_t size_;
};

}  // namespace vernier
