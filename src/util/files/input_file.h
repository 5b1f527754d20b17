// A regular file that is read by position into the caller's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "util/files/unique_fd.h"
#include "vernier/status.h"

namespace vernier {

/// What shows whether a file was written to: a program that writes changes one of them.
struct FileStamp {
  uint64_t size = 0;
  int64_t seconds = 0;  ///< of the last write
  int64_t nanoseconds = 0;

  bool operator==(const FileStamp&) const = default;
};

/// An open file. Reading it by position is never a signal: one that shrinks or whose disk fails
/// meanwhile is a Status, and pages of the file never count as this process's memory. Reading is
/// thread-safe. Whoever takes the place of the file at its path does not matter.
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
  uint64_t size() const { return stamp_.size; }
  const FileStamp& stamp() const { return stamp_; }

  /// Fills `out` with the bytes from `offset` on. kMalformed, without the path, when the file has
  /// become shorter than that or cannot be read.
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const;

  /// Whether the file is what it was when it was opened. kMalformed, naming the path, when it is
  /// shorter by now or was written to: what was made from its bytes must not be used.
  Status CheckIntact() const;

 private:
  InputFile(std::string path, UniqueFd fd, FileStamp stamp)
      : path_(std::move(path)), fd_(std::move(fd)), stamp_(stamp) {}

  std::string path_;
  UniqueFd fd_;
  FileStamp stamp_;
};

}  // namespace vernier
