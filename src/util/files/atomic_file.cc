#include "util/files/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kWritebackStep = uint64_t{16} << 20;

std::string ParentOf(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::string TemporaryNameFor(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  const fs::path target(path);
  const std::string name = "." + target.filename().string() + "." + std::to_string(::getpid()) +
                           "." + std::to_string(counter++) + ".tmp";
  return (fs::path(ParentOf(path)) / name).string();
}

}  // namespace

Status CreateDirectories(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  // create_directories reports success for an existing file of that name.
  if (!error && !fs::is_directory(path, error) && !error) {
    return IoError("'" + path + "' cannot be created: a file of that name is in the way");
  }
  if (error) return IoError("'" + path + "' cannot be created: " + error.message());
  return {};
}

Result<AtomicFile> AtomicFile::Create(std::string path) {
  if (path.empty()) return IoError("the name of the file to be written is empty");
  VERNIER_TRY(CreateDirectories(ParentOf(path)));
  std::error_code ignored;
  const fs::file_status present = fs::status(path, ignored);
  if (fs::is_directory(present)) return IoError("'" + path + "' is a directory");
  // Renaming over a pipe or a device would replace it.
  if (fs::exists(present) && !fs::is_regular_file(present)) {
    return IoError("'" + path + "' cannot be replaced: it is not a regular file");
  }
  AtomicFile file;
  // A link keeps pointing where it points: the file that it names is what gets replaced.
  const fs::path resolved = fs::weakly_canonical(path, ignored);
  file.path_ = ignored || resolved.empty() ? std::move(path) : resolved.string();
  file.temporary_ = TemporaryNameFor(file.path_);
  file.fd_ = ::open(file.temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.fd_ < 0) {
    return IoError("'" + file.path_ + "' cannot be written: " + std::strerror(errno));
  }
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this == &other) return *this;
  Discard();
  path_ = std::move(other.path_);
  temporary_ = std::move(other.temporary_);
  fd_ = std::exchange(other.fd_, -1);
  size_ = other.size_;
  return *this;
}

AtomicFile::~AtomicFile() { Discard(); }

void AtomicFile::Discard() {
  if (fd_ < 0) return;
  ::close(std::exchange(fd_, -1));
  ::unlink(temporary_.c_str());
}

Status AtomicFile::Fail(std::string_view doing) const {
  return IoError("'" + path_ + "' cannot be " + std::string(doing) + ": " + std::strerror(errno));
}

Status AtomicFile::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail("written");
    bytes = bytes.subspan(static_cast<size_t>(written));
    size_ += static_cast<uint64_t>(written);
  }
  return {};
}

Status AtomicFile::Write(std::string_view text) {
  return Write(std::as_bytes(std::span(text.data(), text.size())));
}

Status AtomicFile::WriteAt(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail("written");
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return {};
}

Status AtomicFile::CopyFrom(int fd, uint64_t offset, uint64_t size) {
  const Status status = CopyBytes(fd, offset, size, fd_, size_);
  if (!status.ok()) return IoError("'" + path_ + "' cannot be written: " + status.message());
  size_ += size;
  // Write() goes on where the file's own position is.
  return ::lseek(fd_, static_cast<off_t>(size_), SEEK_SET) < 0 ? Fail("written") : Status();
}

Status AtomicFile::Commit(Durability durability) {
  Status status = SyncAndRename(fd_, temporary_, path_, durability);
  ::close(std::exchange(fd_, -1));
  if (!status.ok()) ::unlink(temporary_.c_str());
  return status;
}

Status CopyBytes(int from, uint64_t offset, uint64_t size, int to, uint64_t to_offset) {
  auto position = static_cast<off_t>(offset);
  auto to_position = static_cast<off_t>(to_offset);
  const Status shorter = IoError("its source became shorter");
  while (size > 0) {
    const size_t step = static_cast<size_t>(std::min(size, kWritebackStep));
    const ssize_t copied = ::copy_file_range(from, &position, to, &to_position, step, 0);
    if (copied < 0 && errno == EINTR) continue;
    if (copied < 0) break;  // another file system, or a kernel without it: copy by hand
    if (copied == 0) return shorter;
    size -= static_cast<uint64_t>(copied);
    StartWriteback(to, static_cast<uint64_t>(to_position - copied), static_cast<uint64_t>(copied));
  }
  std::vector<std::byte> block(size > 0 ? size_t{1} << 20 : 0);
  while (size > 0) {
    const ssize_t count =
        ::pread(from, block.data(), std::min<uint64_t>(size, block.size()), position);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return IoError(std::strerror(errno));
    if (count == 0) return shorter;
    for (ssize_t done = 0; done < count;) {
      const ssize_t written =
          ::pwrite(to, block.data() + done, static_cast<size_t>(count - done), to_position + done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return IoError(std::strerror(errno));
      done += written;
    }
    position += count;
    to_position += count;
    size -= static_cast<uint64_t>(count);
  }
  return {};
}

void StartWriteback(int fd, uint64_t offset, uint64_t size) {
  ::sync_file_range(fd, static_cast<off_t>(offset), static_cast<off_t>(size),
                    SYNC_FILE_RANGE_WRITE);
}

bool CanRenameOver(const std::string& path) {
  std::error_code ignored;
  const fs::file_status present = fs::symlink_status(path, ignored);
  return !fs::exists(present) || fs::is_regular_file(present);
}

Status SyncAndRename(int fd, const std::string& from, const std::string& path,
                     Durability durability) {
  const auto fail = [&path](std::string_view doing) {
    return IoError("'" + path + "' cannot be " + std::string(doing) + ": " + std::strerror(errno));
  };
  const bool synced = durability == Durability::kSynced;
  if (synced && ::fsync(fd) != 0) return fail("synced");
  // Some file systems report a full disk only when a descriptor is closed.
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0 && ::close(copy) != 0) return fail("closed");
  if (::rename(from.c_str(), path.c_str()) != 0) return fail("renamed into place");
  if (!synced) return {};
  const int directory = ::open(ParentOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
  return {};
}

Status WriteFileAtomically(const std::string& path, std::string_view text, Durability durability) {
  VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  VERNIER_TRY(file.Write(text));
  return file.Commit(durability);
}

}  // namespace vernier
