// Memory that other processes can map: filled once, then sealed against any change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "util/files/unique_fd.h"
#include "vernier/status.h"

namespace vernier {

/// Not for several threads at once before it is sealed.
class SharedMemory {
 public:
  /// The seals of what may be sent: no process can change, shrink or grow it.
  static const int kSeals;

  /// Empty. kInternal when the system has none to give.
  static Result<std::shared_ptr<SharedMemory>> Create();

  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Room for `size` bytes more, which are zero. Where they begin: at a multiple of the page size.
  Result<uint64_t> Extend(uint64_t size);
  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes);

  /// As Extend, and a place in this process where the bytes can be read once they are sealed. Until
  /// then Write is the only way to fill them: it is the cheapest one too, since no page is mapped
  /// or cleared for it.
  Result<std::span<std::byte>> Reserve(size_t size);
  Status Write(std::span<std::byte> place, std::span<const std::byte> bytes);

  /// For a reserved place of many pages, before it is filled: memory_pages.h says what comes of it.
  Status MakeHugePages(std::span<const std::byte> place);

  /// As Reserve, and the place can be written to until the memory is sealed. Its pages are made at
  /// once, or one by one as they are touched, unless MakePages() did it before.
  enum class Pages { kMade, kToBeMade };
  Result<std::span<std::byte>> Allocate(size_t size, Pages pages = Pages::kMade);

  /// After this nothing can be changed. Every place stays where it is.
  Status Seal();
  bool sealed() const { return sealed_; }

  /// Where `bytes` begin, if they lie in one of the places.
  std::optional<uint64_t> OffsetOf(std::span<const std::byte> bytes) const;

  int descriptor() const { return fd_.get(); }
  uint64_t size() const { return size_; }

 private:
  struct Place {
    std::byte* address;
    size_t size;
    uint64_t offset;
    bool writable;
  };

  explicit SharedMemory(UniqueFd fd) : fd_(std::move(fd)) {}
  Status Map(const Place& place, int protection);
  Status Hide(const Place& place);
  Status AddSeals();

  UniqueFd fd_;
  uint64_t size_ = 0;
  bool sealed_ = false;
  std::vector<Place> places_;
};

}  // namespace vernier
