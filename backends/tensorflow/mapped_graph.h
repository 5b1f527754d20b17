// A graph's file in memory, without copying it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "vernier/status.h"

namespace vernier::tf {

class MappedGraph {
 public:
  /// kMalformed when the file is missing, empty or no regular file.
  static Result<MappedGraph> Open(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return Malformed("'" + path + "': " + std::strerror(errno));
    struct stat info {};
    const bool regular = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
    void* data = MAP_FAILED;
    const auto size = static_cast<size_t>(info.st_size);
    if (regular) data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (!regular) return Malformed("'" + path + "' is empty or no file");
    if (data == MAP_FAILED) return Malformed("'" + path + "' cannot be read");
    return MappedGraph(static_cast<const char*>(data), size);
  }

  MappedGraph(MappedGraph&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedGraph& operator=(MappedGraph&&) = delete;
  ~MappedGraph() {
    if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }

  std::string_view bytes() const { return bytes_; }

 private:
  MappedGraph(const char* data, size_t size) : bytes_(data, size) {}

  std::string_view bytes_;
};

}  // namespace vernier::tf
