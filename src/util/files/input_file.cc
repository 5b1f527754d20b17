#include "util/files/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace vernier {
namespace {

std::optional<FileStamp> StampOfRegular(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileStamp{static_cast<uint64_t>(info.st_size), info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

}  // namespace

Result<std::shared_ptr<const InputFile>> InputFile::Open(const std::string& path) {
  // O_NONBLOCK: opening a pipe without a writer must not hang.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return Malformed("'" + path + "' cannot be read: " + std::strerror(errno));
  const auto stamp = StampOfRegular(fd.get());
  if (!stamp) return Malformed("'" + path + "' is not a regular file");
  return std::shared_ptr<const InputFile>(new InputFile(path, std::move(fd), *stamp));
}

Result<std::shared_ptr<const InputFile>> InputFile::FromDescriptor(int fd, std::string path) {
  UniqueFd own(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  const auto stamp = own.valid() ? StampOfRegular(own.get()) : std::nullopt;
  if (!stamp) return Malformed("'" + path + "' is not a regular file that can be read");
  return std::shared_ptr<const InputFile>(new InputFile(std::move(path), std::move(own), *stamp));
}

Status InputFile::ReadAt(uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return Malformed("reading at byte " + std::to_string(offset) +
                       " failed: " + std::strerror(errno));
    }
    if (count == 0) {
      return Malformed("the file became shorter while it was read: it ends at byte " +
                       std::to_string(offset) + " and had " + std::to_string(size()) +
                       " bytes when it was opened");
    }
    out = out.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return {};
}

Status InputFile::CheckIntact() const {
  const std::optional<FileStamp> now = StampOfRegular(fd_.get());
  if (!now || *now == stamp_) return {};
  if (now->size < size()) {
    return Malformed("'" + path_ + "' became shorter while it was read: it has " +
                     std::to_string(now->size) + " bytes and had " + std::to_string(size()));
  }
  return Malformed("'" + path_ + "' was written to while it was read");
}

}  // namespace vernier
