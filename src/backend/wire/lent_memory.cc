#include "backend/wire/lent_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "backend/wire/loans.h"

namespace vernier {
namespace {

// Shapes that vary a little find the same pieces again.
constexpr size_t kSmallest = size_t{64} << 10;

std::unique_ptr<LentMemory::Piece> MakePiece(size_t size) {
  UniqueFd fd(::memfd_create("vernier-lent", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  struct stat info {};
  if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0 ||
      ::fstat(fd.get(), &info) != 0) {
    return nullptr;
  }
  void* const map = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (map == MAP_FAILED) return nullptr;
  // Owned from here on.
  auto piece = std::make_unique<LentMemory::Piece>(
      std::move(fd), std::span(static_cast<std::byte*>(map), size), info.st_ino);
  // After this no other process can map it for writing. A kernel before 5.1 does not know how.
  if (::fcntl(piece->descriptor(), F_ADD_SEALS, SealsOfLoans()) != 0) return nullptr;
  return piece;
}

}  // namespace

LentMemory::Piece::~Piece() {
  lock_.reset();
  ::munmap(bytes_.data(), bytes_.size());
}

LentMemory::Piece* LentMemory::Lend(size_t size) {
  if (size == 0 || size > kLargest) return nullptr;
  const size_t wanted = std::max(kSmallest, std::bit_ceil(size));
  const auto fits = [&](const auto& piece) {
    return !piece->lent_ && piece->bytes().size() == wanted;
  };
  auto found = std::find_if(pieces_.begin(), pieces_.end(), fits);
  if (found == pieces_.end()) {
    if (!MakeRoom(wanted)) return nullptr;
    std::unique_ptr<Piece> piece = MakePiece(wanted);
    if (piece == nullptr) return nullptr;
    found = pieces_.insert(pieces_.end(), std::move(piece));
  }
  (*found)->lent_ = true;
  return found->get();
}

// Of pieces that are not lent, the oldest go first.
bool LentMemory::MakeRoom(size_t size) {
  while (this->size() + size > kMost) {
    const auto idle = std::find_if(pieces_.begin(), pieces_.end(),
                                   [](const auto& piece) { return !piece->lent_; });
    if (idle == pieces_.end()) return false;
    pieces_.erase(idle);
  }
  return true;
}

void LentMemory::TakeBack(uint64_t number) {
  for (const auto& piece : pieces_) {
    if (piece->number() == number) piece->lent_ = false;
  }
}

LentMemory::Piece* LentMemory::Find(std::span<const std::byte> bytes) {
  for (const auto& piece : pieces_) {
    const std::span<std::byte> all = piece->bytes();
    if (bytes.data() < all.data() || bytes.data() > all.data() + all.size()) continue;
    const auto offset = static_cast<size_t>(bytes.data() - all.data());
    if (bytes.size() <= all.size() - offset) return piece.get();
  }
  return nullptr;
}

size_t LentMemory::size() const {
  size_t sum = 0;
  for (const auto& piece : pieces_) sum += piece->bytes().size();
  return sum;
}

}  // namespace vernier
