// A file that is written piece by piece before it is known what will become of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "io/bytes/byte_sink.h"
#include "io/bytes/checksum.h"
#include "util/files/unique_fd.h"
#include "vernier/status.h"

namespace vernier {

/// All errors are kIo and name the path.
class PartFile final : public OutputFile {
 public:
  /// A new file; one that is in the way is an error.
  static Result<PartFile> Create(const std::string& path);

  /// A file without a name in `directory`, gone with the object.
  static Result<PartFile> CreateUnnamed(const std::string& directory);

  Status Write(std::span<const std::byte> bytes) override;
  /// Between the two calls a checksum (XXH3) is kept of what Write() gets.
  void BeginChecksum();
  uint64_t EndChecksum();

  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override;
  /// Fills `out` from there on.
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const;
  Status CopyFrom(int fd, uint64_t offset, uint64_t size) override;
  uint64_t size() const override { return size_; }

  /// What is written from now on is sent to the disk soon: the part will become the target.
  void WriteBackEarly() { written_back_ = size_; }

  /// Makes the part, which has a name, the file at `path`; see SyncAndRename.
  Status PublishAs(const std::string& path);

  /// Drops everything from `size` on.
  Status Truncate(uint64_t size);

  /// Gives the disk space of the range back where the file system can; its content is then zeros.
  void Release(uint64_t begin, uint64_t end);

  int fd() const { return fd_.get(); }

  /// The one in which it was made.
  const std::string& directory() const { return directory_; }

 private:
  PartFile(std::string path, std::string directory, UniqueFd fd)
      : path_(std::move(path)), directory_(std::move(directory)), fd_(std::move(fd)) {}
  Status Fail() const;
  void Grow(uint64_t size);

  std::string path_;
  std::string directory_;
  UniqueFd fd_;
  uint64_t size_ = 0;
  std::optional<Checksum> checksum_;
  std::optional<uint64_t> written_back_;
};

}  // namespace vernier
