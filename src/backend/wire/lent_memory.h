// Memory that this process fills, lends to another and fills again once it is back, so that no
// pages are allocated, mapped or freed for each message. See loans.h for the other side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "util/files/unique_fd.h"

namespace vernier {

/// Not thread-safe. Holds at most kMost bytes, however often it lends.
class LentMemory {
 public:
  /// More is worth pages of its own.
  static constexpr size_t kLargest = size_t{2} << 20;
  static constexpr size_t kMost = size_t{16} << 20;

  /// One piece: only this process has it mapped for writing.
  class Piece {
   public:
    Piece(UniqueFd fd, std::span<std::byte> bytes, uint64_t number)
        : fd_(std::move(fd)), bytes_(bytes), number_(number) {}
    ~Piece();
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;

    int descriptor() const { return fd_.get(); }
    std::span<std::byte> bytes() const { return bytes_; }
    /// By which it is taken back: the inode's, never 0.
    uint64_t number() const { return number_; }

    /// What a device needs to write here by itself; goes before the memory does.
    void AttachLock(std::shared_ptr<void> lock) {
      lock_ = std::move(lock);
      lock_tried_ = true;
    }
    bool locked() const { return lock_ != nullptr; }
    bool lock_tried() const { return lock_tried_; }

   private:
    friend class LentMemory;
    UniqueFd fd_;
    std::span<std::byte> bytes_;
    uint64_t number_;
    std::shared_ptr<void> lock_;
    bool lock_tried_ = false;
    bool lent_ = false;
  };

  LentMemory() = default;
  LentMemory(const LentMemory&) = delete;
  LentMemory& operator=(const LentMemory&) = delete;

  /// Room for `size` bytes, lent until it is taken back. Null where there is none: for
  /// no bytes, for more than kLargest, where everything is lent, where the system has no more.
  Piece* Lend(size_t size);

  /// Its reader has released it. Unknown numbers, and what is not lent, are ignored.
  void TakeBack(uint64_t number);

  /// The piece that all of `bytes` lie in; null where there is none.
  Piece* Find(std::span<const std::byte> bytes);

  /// All that it has, lent or not.
  size_t size() const;

 private:
  bool MakeRoom(size_t size);

  std::vector<std::unique_ptr<Piece>> pieces_;
};

}  // namespace vernier
