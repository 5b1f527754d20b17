// A file mapped read-only.
#pragma once

#include <csignal>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "vernier/status.h"

namespace vernier {

class InputFile;

/// Maps a regular file: a model, of which little is looked at, or saved tensors, which are looked
/// at once. The bytes live as long as the object.
///
/// Where another program cuts the file short, or the disk fails, the kernel sends SIGBUS to whoever
/// touches what is gone. For files from Open() and Map() a handler puts zeros there instead and
/// remembers it: what was made of the bytes must not be believed before CheckIntact() has said so.
class MappedFile {
 public:
  /// kMalformed, naming the path and the reason, when the file is missing, unreadable or not a
  /// regular file (directories, pipes and devices are refused). Installs the handler of SIGBUS,
  /// which leaves those of other maps to whoever handled them before.
  static Result<std::shared_ptr<const MappedFile>> Open(const std::string& path);

  /// The same of a file that is open: whatever stands at its path by now, these are its bytes.
  static Result<std::shared_ptr<const MappedFile>> Map(std::shared_ptr<const InputFile> file);

  /// Maps the `size` first bytes of an open descriptor, which stays the caller's and must not
  /// shrink: sealed memory, say.
  static Result<std::shared_ptr<const MappedFile>> FromDescriptor(int fd, size_t size,
                                                                  std::string name);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

  /// Prepares for reading all of `part`, a stretch of bytes(), from its beginning to its end.
  void Prepare(std::span<const std::byte> part) const;

  /// Releases the pages of `part`: they no longer count as memory of this process, and come back
  /// when they are read again.
  void Release(std::span<const std::byte> part) const;

  /// Whether all bytes that were read were the file's. kMalformed, naming the path, otherwise, and
  /// when the file is shorter by now or was written to since it was opened.
  Status CheckIntact() const;

 private:
  struct Guard;  // what the handler knows of a map

  MappedFile(std::string path, const std::byte* data, size_t size)
      : path_(std::move(path)), data_(data), size_(size) {}
  std::span<const std::byte> PagesAround(std::span<const std::byte> part) const;
  static void OnBusError(int signal, siginfo_t* info, void* context);
  static bool InstallHandler();
  Status StartGuard();

  std::string path_;
  const std::byte* data_;
  size_t size_;
  std::shared_ptr<const InputFile> file_;  // null where it must not shrink
  Guard* guard_ = nullptr;
};

}  // namespace vernier
