#include "util/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
    const ssize_t written =
        ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail("written");
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return {};
}

Status AtomicFile::CopyFrom(int fd, uint64_t offset, uint64_t size) {
  auto position = static_cast<off_t>(offset);
  while (size > 0) {
    const ssize_t copied = ::copy_file_range(fd, &position, fd_, nullptr, size, 0);
    if (copied > 0) {
      size -= static_cast<uint64_t>(copied);
      size_ += static_cast<uint64_t>(copied);
      continue;
    }
    if (copied < 0 && errno == EINTR) continue;
    if (copied == 0) return IoError("'" + path_ + "' cannot be written: its source became shorter");
    break;  // another file system, or a kernel without it: copy by hand
  }
  std::vector<std::byte> block(size > 0 ? size_t{1} << 20 : 0);
  while (size > 0) {
    const ssize_t count = ::pread(fd, block.data(), std::min<uint64_t>(size, block.size()), position);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail("written from its source");
    if (count == 0) return IoError("'" + path_ + "' cannot be written: its source became shorter");
    VERNIER_TRY(Write(std::span(block).first(static_cast<size_t>(count))));
    position += count;
    size -= static_cast<uint64_t>(count);
  }
  return {};
}

Status AtomicFile::Commit() {
  if (::fsync(fd_) != 0) return Fail("synced");
  // Some file systems report a full disk only here.
  if (::close(std::exchange(fd_, -1)) != 0) {
    const Status status = Fail("closed");
    ::unlink(temporary_.c_str());
    return status;
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const Status status = Fail("renamed into place");
    ::unlink(temporary_.c_str());
    return status;
  }
  const int directory = ::open(ParentOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
  return {};
}

Status WriteFileAtomically(const std::string& path, std::string_view text) {
  VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  VERNIER_TRY(file.Write(text));
  return file.Commit();
}

}  // namespace vernier
