/* Preloaded: makes one system call of saving fail, or the process die there.
 *
 *   FAIL_UNDER=FOLDER   calls on files below it, and on memory that is shared, are counted
 *   FAIL_AT=N           the N-th of them, from 1, goes wrong; 0: none
 *   FAIL_HOW=ERRNO|kill|short   it fails with that number; or SIGKILL comes instead; or a write
 *                       takes half of what it is given, which is allowed (other calls: EINTR)
 *   FAIL_LOG=FILE       gets a line for each counted call: its name
 *
 * Only the process that was started is concerned, not those that it starts itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
  char under[PATH_MAX];
  long at;
  int how; /* an errno, or one of these */
  int log;
  long count;
  int active;
  pthread_mutex_t lock;
} state = {.log = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

enum { kKill = -1, kShort = -2 };

__attribute__((constructor)) static void Begin(void) {
  const char* under = getenv("FAIL_UNDER");
  const char* owner = getenv("FAIL_OWNER");
  char self[32];
  snprintf(self, sizeof(self), "%d", (int)getpid());
  if (under == NULL || (owner != NULL && strcmp(owner, self) != 0)) return;
  setenv("FAIL_OWNER", self, 1);
  if (realpath(under, state.under) == NULL) return;
  const char* at = getenv("FAIL_AT");
  const char* how = getenv("FAIL_HOW");
  const char* log = getenv("FAIL_LOG");
  state.at = at != NULL ? atol(at) : 0;
  state.how = how == NULL                 ? ENOSPC
              : strcmp(how, "kill") == 0  ? kKill
              : strcmp(how, "short") == 0 ? kShort
                                          : atoi(how);
  if (log != NULL) {
    state.log =
        (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  }
  state.active = 1;
}

static int IsUnder(const char* path) {
  const size_t size = strlen(state.under);
  return strncmp(path, state.under, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

/* Paths of this program are absolute in the tests. */
static int IsCountedPath(const char* path) { return state.active && path != NULL && IsUnder(path); }

static int IsCountedFile(int fd) {
  char link[40], path[PATH_MAX];
  if (!state.active || fd < 0) return 0;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof(path) - 1);
  if (size <= 0) return 0;
  path[size] = '\0';
  return IsUnder(path) || strncmp(path, "/memfd:", 7) == 0;
}

/* 0: go on; else what goes wrong. */
static int Counted(const char* name) {
  pthread_mutex_lock(&state.lock);
  const long number = ++state.count;
  pthread_mutex_unlock(&state.lock);
  if (state.log >= 0) {
    char line[64];
    const int size = snprintf(line, sizeof(line), "%s\n", name);
    (void)!syscall(SYS_write, state.log, line, (size_t)size);
  }
  if (number != state.at) return 0;
  if (state.how == kKill) {
    kill(getpid(), SIGKILL);
    pause();
  }
  return state.how;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
/* Fails unless this call is one that goes through; a short one is told as an interruption. */
#define FAIL_IF_COUNTED(condition, name)         \
  do {                                           \
    if (condition) {                             \
      const int wrong = Counted(name);           \
      if (wrong != 0) {                          \
        errno = wrong == kShort ? EINTR : wrong; \
        return -1;                               \
      }                                          \
    }                                            \
  } while (0)

static size_t HalfOf(size_t size) { return size > 1 ? size / 2 : size; }

ssize_t write(int fd, const void* data, size_t size) {
  if (IsCountedFile(fd)) {
    const int wrong = Counted("write");
    if (wrong == kShort) return REAL(write)(fd, data, HalfOf(size));
    if (wrong != 0) return errno = wrong, -1;
  }
  return REAL(write)(fd, data, size);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  if (IsCountedFile(fd)) {
    const int wrong = Counted("pwrite");
    if (wrong == kShort) return REAL(pwrite)(fd, data, HalfOf(size), offset);
    if (wrong != 0) return errno = wrong, -1;
  }
  return REAL(pwrite)(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  return pwrite(fd, data, size, offset);
}

ssize_t writev(int fd, const struct iovec* pieces, int count) {
  FAIL_IF_COUNTED(IsCountedFile(fd), "writev");
  return REAL(writev)(fd, pieces, count);
}

ssize_t pwritev(int fd, const struct iovec* pieces, int count, off_t offset) {
  FAIL_IF_COUNTED(IsCountedFile(fd), "pwritev");
  return REAL(pwritev)(fd, pieces, count, offset);
}

ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at, size_t size,
                        unsigned flags) {
  FAIL_IF_COUNTED(IsCountedFile(to), "copy_file_range");
  return REAL(copy_file_range)(from, from_at, to, to_at, size, flags);
}

static int IsCountedOpen(const char* path, int flags) {
  return IsCountedPath(path) && (flags & (O_WRONLY | O_RDWR | O_CREAT | O_DIRECTORY)) != 0;
}

#define MODE_OF(flags)                     \
  mode_t mode = 0;                         \
  if ((flags) & (O_CREAT | __O_TMPFILE)) { \
    va_list list;                          \
    va_start(list, flags);                 \
    mode = va_arg(list, mode_t);           \
    va_end(list);                          \
  }

int open(const char* path, int flags, ...) {
  MODE_OF(flags)
  FAIL_IF_COUNTED(IsCountedOpen(path, flags), "open");
  return REAL(open)(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  MODE_OF(flags)
  FAIL_IF_COUNTED(IsCountedOpen(path, flags), "open");
  return REAL(open64)(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  FAIL_IF_COUNTED(IsCountedOpen(path, flags), "openat");
  return REAL(openat)(folder, path, flags, mode);
}

int close(int fd) {
  if (IsCountedFile(fd)) {
    const int wrong = Counted("close");
    if (wrong != 0) {
      REAL(close)(fd); /* it is closed all the same, as the system does it */
      return errno = wrong == kShort ? EINTR : wrong, -1;
    }
  }
  return REAL(close)(fd);
}

int fsync(int fd) {
  FAIL_IF_COUNTED(IsCountedFile(fd), "fsync");
  return REAL(fsync)(fd);
}

int fdatasync(int fd) {
  FAIL_IF_COUNTED(IsCountedFile(fd), "fdatasync");
  return REAL(fdatasync)(fd);
}

int sync_file_range(int fd, off64_t offset, off64_t size, unsigned flags) {
  FAIL_IF_COUNTED(IsCountedFile(fd), "sync_file_range");
  return REAL(sync_file_range)(fd, offset, size, flags);
}

int ftruncate(int fd, off_t size) {
  FAIL_IF_COUNTED(IsCountedFile(fd), "ftruncate");
  return REAL(ftruncate)(fd, size);
}

int ftruncate64(int fd, off64_t size) {
  FAIL_IF_COUNTED(IsCountedFile(fd), "ftruncate");
  return REAL(ftruncate64)(fd, size);
}

int fallocate(int fd, int mode, off_t offset, off_t size) {
  FAIL_IF_COUNTED(IsCountedFile(fd), "fallocate");
  return REAL(fallocate)(fd, mode, offset, size);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t size) {
  FAIL_IF_COUNTED(IsCountedFile(fd), "fallocate");
  return REAL(fallocate64)(fd, mode, offset, size);
}

int flock(int fd, int operation) {
  FAIL_IF_COUNTED(IsCountedFile(fd), "flock");
  return REAL(flock)(fd, operation);
}

int rename(const char* from, const char* to) {
  FAIL_IF_COUNTED(IsCountedPath(from) || IsCountedPath(to), "rename");
  return REAL(rename)(from, to);
}

int mkdir(const char* path, mode_t mode) {
  FAIL_IF_COUNTED(IsCountedPath(path), "mkdir");
  return REAL(mkdir)(path, mode);
}

int unlink(const char* path) {
  FAIL_IF_COUNTED(IsCountedPath(path), "unlink");
  return REAL(unlink)(path);
}

int unlinkat(int folder, const char* path, int flags) {
  FAIL_IF_COUNTED(state.active && (IsCountedPath(path) || IsCountedFile(folder)), "unlinkat");
  return REAL(unlinkat)(folder, path, flags);
}

int remove(const char* path) {
  FAIL_IF_COUNTED(IsCountedPath(path), "remove");
  return REAL(remove)(path);
}

int memfd_create(const char* name, unsigned flags) {
  FAIL_IF_COUNTED(state.active, "memfd_create");
  return REAL(memfd_create)(name, flags);
}

static int IsCountedMap(int fd) { return fd >= 0 && IsCountedFile(fd); }

void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  if (IsCountedMap(fd)) {
    const int wrong = Counted("mmap");
    if (wrong != 0) return errno = wrong == kShort ? ENOMEM : wrong, MAP_FAILED;
  }
  return REAL(mmap)(address, size, protection, flags, fd, offset);
}

void* mmap64(void* address, size_t size, int protection, int flags, int fd, off64_t offset) {
  return mmap(address, size, protection, flags, fd, offset);
}
