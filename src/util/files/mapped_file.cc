#include "util/files/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "util/files/input_file.h"
#include "util/threads/memory_pages.h"

namespace vernier {

// The one place where state is shared by the whole process: a signal handler has nothing else. It
// may run on any thread at any time, so there are only atomics of fixed number.
struct MappedFile::Guard {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> lost{false};

  // As many parts of shards as `vernier merge` takes at once, and some.
  static constexpr size_t kMostMapped = 4096;
  static std::array<Guard, kMostMapped> all;
  static struct sigaction previous;
};

std::array<MappedFile::Guard, MappedFile::Guard::kMostMapped> MappedFile::Guard::all;
struct sigaction MappedFile::Guard::previous;

void MappedFile::OnBusError(int signal, siginfo_t* info, void*) {
  const int saved_errno = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const auto page = address - address % static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (Guard& guard : Guard::all) {
    if (address < guard.begin || address >= guard.end) continue;
    // Everything from here on, so that a file that is gone costs one signal and not one a page.
    void* zeros = ::mmap(reinterpret_cast<void*>(page), guard.end - page, PROT_READ,
                         MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (zeros == MAP_FAILED) break;
    guard.lost = true;
    errno = saved_errno;
    return;
  }
  // Not ours: the access happens again and meets whoever was there before us.
  ::sigaction(signal, &Guard::previous, nullptr);
  errno = saved_errno;
}

bool MappedFile::InstallHandler() {
  struct sigaction action {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  return ::sigaction(SIGBUS, &action, &Guard::previous) == 0;
}

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
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const InputFile> file, InputFile::Open(path));
  return Map(std::move(file));
}

Result<std::shared_ptr<const MappedFile>> MappedFile::Map(std::shared_ptr<const InputFile> file) {
  VERNIER_ASSIGN_OR_RETURN(
      auto map, FromDescriptor(file->fd(), static_cast<size_t>(file->size()), file->path()));
  auto* opened = const_cast<MappedFile*>(map.get());
  opened->file_ = std::move(file);
  VERNIER_TRY(opened->StartGuard());
  return map;
}

Status MappedFile::StartGuard() {
  static const bool installed = InstallHandler();
  if (!installed || size_ == 0) return {};
  for (Guard& guard : Guard::all) {
    if (guard.taken.exchange(true)) continue;
    guard.lost = false;
    guard.begin = reinterpret_cast<uintptr_t>(data_);
    guard.end = guard.begin + size_;
    guard_ = &guard;
    return {};
  }
  return Internal(
      "'" + path_ + "': more than " + std::to_string(Guard::kMostMapped) +
      " files are read at once: take fewer of them (`vernier merge --partial` joins parts "
      "of shards in groups)");
}

// The kernel maps pages by groups around the one that is touched.
std::span<const std::byte> MappedFile::PagesAround(std::span<const std::byte> part) const {
  constexpr size_t kGroup = size_t{64} << 10;
  const auto begin = static_cast<size_t>(part.data() - data_) / kGroup * kGroup;
  const size_t end = static_cast<size_t>(part.data() - data_) + part.size();
  return bytes().subspan(begin, std::min((end + kGroup - 1) / kGroup * kGroup, size_) - begin);
}

void MappedFile::Prepare(std::span<const std::byte> part) const {
  const std::span<const std::byte> pages = PagesAround(part);
  // More is read ahead of what is touched, should it have to come from a disk.
  ::madvise(const_cast<std::byte*>(pages.data()), pages.size(), MADV_SEQUENTIAL);
  MapPages(pages);
}

void MappedFile::Release(std::span<const std::byte> part) const { DropPages(PagesAround(part)); }

Status MappedFile::CheckIntact() const {
  if (file_ != nullptr) VERNIER_TRY(file_->CheckIntact());
  if (guard_ != nullptr && guard_->lost) {
    return Malformed(
        "'" + path_ +
        "' could not be read to its end: it changed meanwhile, or its disk is failing");
  }
  return {};
}

MappedFile::~MappedFile() {
  if (guard_ != nullptr) {
    guard_->end = 0;
    guard_->begin = 0;
    guard_->taken = false;
  }
  if (data_ == nullptr) return;
  UnmapPages(bytes());
  ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace vernier
