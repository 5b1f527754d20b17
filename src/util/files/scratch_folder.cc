#include "util/files/scratch_folder.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "util/text/number_text.h"

namespace vernier {

namespace fs = std::filesystem;

std::optional<uint64_t> FreeTemporaryBytes() {
  std::error_code error;
  const std::string folder = fs::temp_directory_path(error).string();
  struct statvfs space = {};
  if (error || ::statvfs(folder.c_str(), &space) != 0) return std::nullopt;
  return uint64_t{space.f_bavail} * space.f_frsize;
}

std::string TemporarySpaceFault(uint64_t free_bytes) {
  if (free_bytes >= kLeastTemporarySpace) return std::string();
  std::error_code ignored;
  return "only " + FormatBytes(free_bytes) + " are free in '" +
         fs::temp_directory_path(ignored).string() +
         "', the folder for temporary files: make room, or name another one with TMPDIR";
}

std::string TemporarySpaceFault() {
  const std::optional<uint64_t> free_bytes = FreeTemporaryBytes();
  return free_bytes ? TemporarySpaceFault(*free_bytes) : std::string();
}

Result<ScratchFolder> ScratchFolder::Create() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string name = (error ? fs::path("/tmp") : parent) / "vernier-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    return IoError("a temporary folder cannot be made: '" + name + "': " + std::strerror(errno) +
                   " (set TMPDIR)");
  }
  return ScratchFolder(std::move(name));
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

ScratchFolder& ScratchFolder::operator=(ScratchFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace vernier
