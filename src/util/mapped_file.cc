#include "util/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace vernier {

Result<std::shared_ptr<const MappedFile>> MappedFile::FromDescriptor(int fd, size_t size,
                                                                     std::string name) {
  const std::byte* data = nullptr;
  if (size > 0) {
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) {
      return Malformed("'" + name + "' cannot be mapped: " + std::strerror(errno));
    }
    data = static_cast<const std::byte*>(address);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(std::move(name), data, size));
}

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  // O_NONBLOCK: opening a pipe without a writer must not hang.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Malformed("'" + path + "' cannot be read: " + std::strerror(errno));
  struct stat info {};
  Result<std::shared_ptr<const MappedFile>> file = Malformed("'" + path + "' is not a regular file");
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    file = FromDescriptor(fd, static_cast<size_t>(info.st_size), path);
  }
  ::close(fd);
  return file;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace vernier
