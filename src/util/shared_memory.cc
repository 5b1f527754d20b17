#include "util/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <string>
#include <thread>

#include "core/memory_limit.h"
#include "util/page_work.h"

namespace vernier {
namespace {

Status CannotHave(uint64_t size) {
  return Internal("shared memory of " + std::to_string(size) +
                  " bytes cannot be had: " + std::strerror(errno));
}

uint64_t ToPages(uint64_t size) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

}  // namespace

const int SharedMemory::kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

Result<std::shared_ptr<SharedMemory>> SharedMemory::Create() {
  UniqueFd fd(::memfd_create("vernier-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) {
    return Internal(std::string("no shared memory can be had: ") + std::strerror(errno));
  }
  return std::shared_ptr<SharedMemory>(new SharedMemory(std::move(fd)));
}

SharedMemory::~SharedMemory() {
  for (const Place& place : places_) ::munmap(place.address, ToPages(place.size));
}

Result<uint64_t> SharedMemory::Extend(uint64_t size) {
  const uint64_t begin = ToPages(size_);
  // A sum that wraps around would make the memory smaller.
  if (size > static_cast<uint64_t>(std::numeric_limits<off_t>::max()) - begin) {
    errno = EFBIG;
    return CannotHave(size);
  }
  if (begin + size > MemoryLimit()) {
    errno = ENOMEM;
    return CannotHave(size);
  }
  if (::ftruncate(fd_.get(), static_cast<off_t>(begin + size)) != 0) return CannotHave(size);
  size_ = begin + size;
  return begin;
}

Status SharedMemory::WriteAt(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return Internal(std::string("shared memory for tensors cannot be filled: ") +
                      std::strerror(errno));
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return {};
}

Result<std::span<std::byte>> SharedMemory::Reserve(size_t size) {
  // Memory of the process's own holds the place; asking for it as writable has the kernel refuse
  // what it can never give, which it does not for shared memory.
  void* const address =
      ::mmap(nullptr, ToPages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return CannotHave(size);
  auto* const first = static_cast<std::byte*>(address);
  const Result<uint64_t> offset = Extend(size);
  if (!offset.ok()) {
    ::munmap(address, ToPages(size));
    return offset.status();
  }
  places_.push_back({first, size, *offset, false});
  return std::span(first, size);
}

Status SharedMemory::Write(std::span<std::byte> place, std::span<const std::byte> bytes) {
  const std::optional<uint64_t> offset = OffsetOf(place);
  if (!offset || bytes.size() > place.size()) return Internal("bytes outside shared memory");
  return WriteAt(*offset, bytes);
}

Result<std::span<std::byte>> SharedMemory::Allocate(size_t size, Pages pages) {
  VERNIER_ASSIGN_OR_RETURN(const std::span<std::byte> bytes, Reserve(size));
  places_.back().writable = true;
  VERNIER_TRY(Map(places_.back(), PROT_READ | PROT_WRITE));
  if (pages == Pages::kMade) MakePages(bytes);
  return bytes;
}

Status SharedMemory::Map(const Place& place, int protection) {
  void* const address = ::mmap(place.address, ToPages(place.size), protection,
                               MAP_SHARED | MAP_FIXED, fd_.get(), static_cast<off_t>(place.offset));
  return address == MAP_FAILED ? CannotHave(place.size) : Status();
}

Status SharedMemory::Seal() {
  // Memory that is mapped for writing cannot be sealed.
  for (const Place& place : places_) {
    if (!place.writable) continue;
    UnmapPages({place.address, place.size});
    void* const address = ::mmap(place.address, ToPages(place.size), PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) return CannotHave(place.size);
  }
  VERNIER_TRY(AddSeals());
  sealed_ = true;
  for (const Place& place : places_) VERNIER_TRY(Map(place, PROT_READ));
  return {};
}

// While the kernel itself holds one of the pages, as it does when it looks for memory to reclaim or
// sends a page elsewhere, it answers that the memory is busy (fcntl(2), F_SEAL_WRITE), after having
// waited for a tenth of a second.
Status SharedMemory::AddSeals() {
  constexpr int kAttempts = 40;
  for (int attempt = 1; ::fcntl(fd_.get(), F_ADD_SEALS, kSeals) != 0; ++attempt) {
    if (errno != EBUSY || attempt == kAttempts) {
      return Internal(std::string("shared memory cannot be sealed: ") + std::strerror(errno));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(attempt));
  }
  return {};
}

std::optional<uint64_t> SharedMemory::OffsetOf(std::span<const std::byte> bytes) const {
  for (const Place& place : places_) {
    if (bytes.data() < place.address || bytes.data() > place.address + place.size) continue;
    const auto distance = static_cast<size_t>(bytes.data() - place.address);
    if (bytes.size() <= place.size - distance) return place.offset + distance;
  }
  return std::nullopt;
}

}  // namespace vernier
