#include "util/files/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <string>
#include <thread>

#include "core/memory_limit.h"
#include "util/threads/memory_pages.h"

namespace vernier {
namespace {

Status CannotHave(uint64_t size) {
  return Internal("shared memory of " + std::to_string(size) +
                  " bytes cannot be allocated: " + std::strerror(errno));
}

uint64_t RoundUp(uint64_t size, uint64_t step) { return (size + step - 1) / step * step; }

uint64_t ToPages(uint64_t size) {
  return RoundUp(size, static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
}

// Addresses for `size` bytes, beginning at a multiple of kHugePage where they are as many.
std::byte* HoldAddresses(size_t size) {
  const size_t whole = ToPages(size);
  const size_t slack = size < kHugePage ? 0 : kHugePage;
  // Asking for them as writable has the kernel refuse what it can never give, which it does not for
  // shared memory.
  void* const address =
      ::mmap(nullptr, whole + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return nullptr;
  if (slack == 0) return static_cast<std::byte*>(address);
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const size_t before = RoundUp(begin, kHugePage) - begin;
  auto* const first = static_cast<std::byte*>(address) + before;
  if (before > 0) ::munmap(address, before);
  if (slack > before) ::munmap(first + whole, slack - before);
  return first;
}

}  // namespace

const int SharedMemory::kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

Result<std::shared_ptr<SharedMemory>> SharedMemory::Create() {
  UniqueFd fd(::memfd_create("vernier-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) {
    return Internal(std::string("shared memory cannot be allocated: ") + std::strerror(errno));
  }
  return std::shared_ptr<SharedMemory>(new SharedMemory(std::move(fd)));
}

SharedMemory::~SharedMemory() {
  for (const Place& place : places_) ::munmap(place.address, ToPages(place.size));
}

Result<uint64_t> SharedMemory::Extend(uint64_t size) {
  // What is skipped has no pages.
  const uint64_t begin = size < kHugePage ? ToPages(size_) : RoundUp(size_, kHugePage);
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
  std::byte* const first = HoldAddresses(size);
  if (first == nullptr) return CannotHave(size);
  const Result<uint64_t> offset = Extend(size);
  if (!offset.ok()) {
    ::munmap(first, ToPages(size));
    return offset.status();
  }
  places_.push_back({first, size, *offset, false});
  return std::span(first, size);
}

Status SharedMemory::MakeHugePages(std::span<const std::byte> place) {
  const auto found = std::find_if(places_.begin(), places_.end(), [&place](const Place& one) {
    return one.address == place.data() && one.size == place.size();
  });
  if (found == places_.end()) return Internal("pages for what is no place");
  VERNIER_TRY(Map(*found, PROT_READ | PROT_WRITE));
  vernier::MakeHugePages(place);
  return Hide(*found);
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

// Its addresses stay taken.
Status SharedMemory::Hide(const Place& place) {
  UnmapPages({place.address, place.size});
  void* const address = ::mmap(place.address, ToPages(place.size), PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  return address == MAP_FAILED ? CannotHave(place.size) : Status();
}

Status SharedMemory::Seal() {
  // Memory that is mapped for writing cannot be sealed.
  for (const Place& place : places_) {
    if (place.writable) VERNIER_TRY(Hide(place));
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
