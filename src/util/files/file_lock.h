// Locks that say whether a living process uses a file.
#pragma once

#include <cstdint>

namespace vernier {

enum class FileLock : uint8_t {
  kOurs,     ///< as long as the file stays open
  kOthers,   ///< another open file has it: that of another process, as a rule
  kUnknown,  ///< the file system has no locks
};

/// Takes the lock of the file that is open as `fd`, without waiting for it.
FileLock TakeFileLock(int fd);

}  // namespace vernier
