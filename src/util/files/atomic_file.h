// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "vernier/status.h"

namespace vernier {

/// What Commit() waits for.
enum class Durability : uint8_t {
  kSynced,   ///< the bytes have reached the disk: for results
  kRenamed,  ///< the kernel will see to that: for what can be made again, in great numbers
};

/// Writes to a temporary file beside `path`; Commit() syncs it and renames it over `path`. Without
/// Commit() the old file keeps its bytes and the temporary one is removed. Errors are kIo and name
/// the path.
class AtomicFile {
 public:
  /// What exists at `path` must be a regular file. Missing parent directories are created.
  /// Permissions are those of a file that open() creates.
  static Result<AtomicFile> Create(std::string path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  Status Write(std::span<const std::byte> bytes);
  Status Write(std::string_view text);

  /// Appends `size` bytes of `fd` from `offset`, by the kernel where it can.
  Status CopyFrom(int fd, uint64_t offset, uint64_t size);

  /// Overwrites earlier bytes; the position of the next Write stays at the end.
  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes);

  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  Status Commit(Durability durability = Durability::kSynced);

 private:
  AtomicFile() = default;
  Status Fail(std::string_view doing) const;
  void Discard();

  std::string path_;
  std::string temporary_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

/// Appends `size` bytes of `from`, beginning at `offset`, to `to` at `to_offset`, by the kernel
/// where it can. kIo with the reason alone.
Status CopyBytes(int from, uint64_t offset, uint64_t size, int to, uint64_t to_offset);

/// Asks for the range to be written to the disk without waiting for it, so that syncing the file
/// later takes no time.
void StartWriteback(int fd, uint64_t offset, uint64_t size);

/// Whether a file beside `path` can become `path` by renaming: what is there, if anything, is a
/// regular file and no link.
bool CanRenameOver(const std::string& path);

/// Syncs the file at `from`, open as `fd`, and renames it to `path`. kIo names `path`, which then
/// is as it was.
Status SyncAndRename(int fd, const std::string& from, const std::string& path,
                     Durability durability = Durability::kSynced);

/// Writes all of `text` to `path` through an AtomicFile.
Status WriteFileAtomically(const std::string& path, std::string_view text,
                           Durability durability = Durability::kSynced);

/// Creates a directory and its parents. kIo, naming the path, when that fails.
Status CreateDirectories(const std::string& path);

}  // namespace vernier
