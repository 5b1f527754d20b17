#include "util/files/file_lock.h"

#include <sys/file.h>

#include <cerrno>

namespace vernier {

FileLock TakeFileLock(int fd) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    return errno == EWOULDBLOCK ? FileLock::kOthers : FileLock::kUnknown;
  }
  return FileLock::kOurs;
}

}  // namespace vernier
