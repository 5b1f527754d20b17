#include "util/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace vernier {

namespace fs = std::filesystem;

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
