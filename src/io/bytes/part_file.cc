#include "io/bytes/part_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "util/files/atomic_file.h"

namespace vernier {
namespace {

// Small enough to be in the cache still when it is written after its checksum was taken, and for
// the kernel to find memory for without a search: writing 8 MiB at once took several times as long.
constexpr size_t kStep = size_t{256} << 10;
constexpr size_t kWritebackStep = size_t{8} << 20;

Status CannotWrite(const std::string& path) {
  return IoError("'" + path + "' cannot be written: " + std::strerror(errno));
}

}  // namespace

Status PartFile::Fail() const { return CannotWrite(path_); }

Result<PartFile> PartFile::Create(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid()) return CannotWrite(path);
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return PartFile(path, parent.empty() ? "." : parent, std::move(fd));
}

Result<PartFile> PartFile::CreateUnnamed(const std::string& directory) {
  UniqueFd fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.valid()) return PartFile(directory, directory, std::move(fd));
  // Not every file system has O_TMPFILE.
  std::string name = directory + "/.vernier-XXXXXX";
  fd.Reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid()) return CannotWrite(directory);
  ::unlink(name.c_str());
  return PartFile(directory, directory, std::move(fd));
}

Status PartFile::WriteAt(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail();
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return {};
}

Status PartFile::ReadAt(uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const std::string why = got < 0 ? std::strerror(errno) : "it ends too early";
      return IoError("a temporary file in '" + directory_ + "' cannot be read: " + why);
    }
    out = out.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return {};
}

void PartFile::BeginChecksum() { checksum_.emplace(); }

uint64_t PartFile::EndChecksum() {
  const uint64_t value = checksum_->value();
  checksum_.reset();
  return value;
}

Status PartFile::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto block = bytes.first(std::min(bytes.size(), kStep));
    if (checksum_) checksum_->Add(block);
    VERNIER_TRY(WriteAt(size_, block));
    Grow(block.size());
    bytes = bytes.subspan(block.size());
  }
  return {};
}

void PartFile::Grow(uint64_t size) {
  size_ += size;
  if (!written_back_ || size_ - *written_back_ < kWritebackStep) return;
  StartWriteback(fd(), *written_back_, size_ - *written_back_);
  written_back_ = size_;
}

Status PartFile::CopyFrom(int fd, uint64_t offset, uint64_t size) {
  const Status status = CopyBytes(fd, offset, size, this->fd(), size_);
  if (!status.ok()) return IoError("'" + path_ + "' cannot be written: " + status.message());
  size_ += size;
  return {};
}

Status PartFile::PublishAs(const std::string& path) { return SyncAndRename(fd(), path_, path); }

Status PartFile::Truncate(uint64_t size) {
  if (::ftruncate(fd(), static_cast<off_t>(size)) != 0) return Fail();
  size_ = size;
  if (written_back_) written_back_ = std::min(*written_back_, size);
  return {};
}

void PartFile::Release(uint64_t begin, uint64_t end) {
  if (end <= begin) return;
  ::fallocate(fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
              static_cast<off_t>(end - begin));
}

}  // namespace vernier
