// A folder that is gone when the object is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vernier/status.h"

namespace vernier {

/// What a folder for temporary files needs to be usable.
inline constexpr uint64_t kLeastTemporarySpace = uint64_t{64} << 20;

/// Free bytes of $TMPDIR, for whoever may write there; nullopt where they are not known.
std::optional<uint64_t> FreeTemporaryBytes();

/// "only 3 KiB are free in '/tmp', ...: make room, or name another one with TMPDIR"; empty from
/// kLeastTemporarySpace on.
std::string TemporarySpaceFault(uint64_t free_bytes);
/// The same of $TMPDIR as it is now; empty also where nothing is known of it.
std::string TemporarySpaceFault();

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
