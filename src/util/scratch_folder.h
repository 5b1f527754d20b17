// A folder that is gone when the object is.
#pragma once

#include <string>

#include "vernier/status.h"

namespace vernier {

class ScratchFolder {
 public:
  /// A new folder in $TMPDIR. kIo.
  static Result<ScratchFolder> Create();

  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;
  /// Removes the folder with all that is in it.
  ~ScratchFolder();

  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace vernier
