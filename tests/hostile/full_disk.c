/* A library to preload: it makes one call that stores something fail, or lets the disk fill up.
 *
 *   FAULT_CALL=K    the K-th such call fails: with EIO if it syncs, else with ENOSPC
 *   FAULT_BYTES=N   after N written bytes there is no space left; the last write is a short one
 *
 * Counted are calls on regular files and folders, not on pipes, terminals and shared memory. A
 * call that is made to fail is named on stderr, so that a test knows when it has seen them all. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;
static atomic_long written;

static long limit(const char* variable) {
  const char* text = getenv(variable);
  return text == NULL ? -1 : atol(text);
}

static void say(const char* name) { dprintf(STDERR_FILENO, "full_disk: %s fails\n", name); }

static int counts(int fd) {
  struct stat info;
  char link[40], path[64];
  if (fd <= STDERR_FILENO || fstat(fd, &info) != 0) return 0;
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  return size > 0 && strncmp(path, "/memfd:", 7) != 0;
}

/* Whether this call is the one. */
static int chosen(const char* name, int error) {
  const long wanted = limit("FAULT_CALL");
  if (wanted < 0 || atomic_fetch_add(&calls, 1) + 1 != wanted) return 0;
  say(name);
  errno = error;
  return 1;
}

/* How many of `size` bytes still fit; -1 when none does. */
static ssize_t fitting(const char* name, size_t size) {
  const long space = limit("FAULT_BYTES");
  if (space < 0 || size == 0) return (ssize_t)size;
  const long before = atomic_fetch_add(&written, (long)size);
  if (before + (long)size <= space) return (ssize_t)size;
  if (before < space) return space - before;
  say(name);
  errno = ENOSPC;
  return -1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* data, size_t size) {
  if (!counts(fd)) return NEXT(write)(fd, data, size);
  if (chosen("write", ENOSPC)) return -1;
  const ssize_t fit = fitting("write", size);
  return fit < 0 ? -1 : NEXT(write)(fd, data, (size_t)fit);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  if (!counts(fd)) return NEXT(pwrite)(fd, data, size, offset);
  if (chosen("pwrite", ENOSPC)) return -1;
  const ssize_t fit = fitting("pwrite", size);
  return fit < 0 ? -1 : NEXT(pwrite)(fd, data, (size_t)fit, offset);
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  return pwrite(fd, data, size, offset);
}

ssize_t copy_file_range(int in, off64_t* from, int out, off64_t* to, size_t size, unsigned flags) {
  if (!counts(out)) return NEXT(copy_file_range)(in, from, out, to, size, flags);
  if (chosen("copy_file_range", ENOSPC)) return -1;
  const ssize_t fit = fitting("copy_file_range", size);
  return fit < 0 ? -1 : NEXT(copy_file_range)(in, from, out, to, (size_t)fit, flags);
}

int ftruncate(int fd, off_t size) {
  if (counts(fd) && chosen("ftruncate", ENOSPC)) return -1;
  return NEXT(ftruncate)(fd, size);
}

int fsync(int fd) {
  if (counts(fd) && chosen("fsync", EIO)) return -1;
  return NEXT(fsync)(fd);
}

int fdatasync(int fd) {
  if (counts(fd) && chosen("fdatasync", EIO)) return -1;
  return NEXT(fdatasync)(fd);
}

int rename(const char* from, const char* to) {
  return chosen("rename", ENOSPC) ? -1 : NEXT(rename)(from, to);
}

int mkdir(const char* path, mode_t mode) {
  return chosen("mkdir", ENOSPC) ? -1 : NEXT(mkdir)(path, mode);
}

static mode_t mode_of(int flags, va_list list) {
  return (flags & O_CREAT) != 0 ? (mode_t)va_arg(list, int) : 0;
}

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  if ((flags & O_CREAT) != 0 && chosen("open", ENOSPC)) return -1;
  return NEXT(open)(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  if ((flags & O_CREAT) != 0 && chosen("openat", ENOSPC)) return -1;
  return NEXT(openat)(folder, path, flags, mode);
}
