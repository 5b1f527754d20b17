#include "model/byte_pieces.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

namespace vernier {
namespace {

Status NoExternalSlices(const BytePieces& pieces) {
  for (const BytePiece& piece : pieces.pieces()) {
    if (piece.external) return Internal("external data cannot be part of a model in memory");
  }
  return {};
}

Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return IoError(std::string("the edited model cannot be kept in memory: ") +
                     std::strerror(errno));
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace

void BytePieces::AddView(std::string_view bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  pieces_.push_back({bytes, nullptr, std::nullopt});
}

void BytePieces::AddOwned(std::string bytes) {
  if (bytes.empty()) return;
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  size_ += owner->size();
  pieces_.push_back({*owner, owner, std::nullopt});
}

void BytePieces::AddExternal(ExternalSlice slice) {
  size_ += slice.size;
  pieces_.push_back({{}, nullptr, std::move(slice)});
}

void BytePieces::Append(const BytePieces& other) {
  size_ += other.size_;
  pieces_.insert(pieces_.end(), other.pieces_.begin(), other.pieces_.end());
}

Status WritePieces(const BytePieces& pieces, const ExternalFolder* folder, AtomicFile& file) {
  std::string open_location;
  std::optional<ExternalFile> open;  // neighbours mostly share a file
  for (const BytePiece& piece : pieces.pieces()) {
    if (!piece.external) {
      VERNIER_TRY(file.Write(piece.bytes));
      continue;
    }
    if (folder == nullptr) return Internal("external data without a folder");
    const ExternalSlice& slice = *piece.external;
    if (!open || open_location != slice.location) {
      VERNIER_ASSIGN_OR_RETURN(ExternalFile opened, folder->OpenFile(slice.location));
      open.emplace(std::move(opened));
      open_location = slice.location;
    }
    VERNIER_TRY(file.CopyFrom(open->fd(), slice.offset, slice.size));
  }
  return {};
}

Result<std::vector<std::byte>> ToBytes(const BytePieces& pieces) {
  VERNIER_TRY(NoExternalSlices(pieces));
  std::vector<std::byte> bytes;
  try {
    bytes.resize(pieces.size());
  } catch (const std::bad_alloc&) {
    return Internal("no memory for " + std::to_string(pieces.size()) + " bytes of model");
  }
  size_t at = 0;
  for (const BytePiece& piece : pieces.pieces()) {
    std::memcpy(bytes.data() + at, piece.bytes.data(), piece.bytes.size());
    at += piece.bytes.size();
  }
  return bytes;
}

Result<int> ToMemfd(const BytePieces& pieces) {
  VERNIER_TRY(NoExternalSlices(pieces));
  const int fd = ::memfd_create("vernier-model", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return IoError(std::string("memfd_create failed: ") + std::strerror(errno));
  Status status;
  for (const BytePiece& piece : pieces.pieces()) {
    if (status.ok()) status = WriteAll(fd, piece.bytes);
  }
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (status.ok() && ::fcntl(fd, F_ADD_SEALS, kSeals) != 0) {
    status = IoError(std::string("a memfd cannot be sealed: ") + std::strerror(errno));
  }
  if (status.ok()) return fd;
  ::close(fd);
  return status;
}

}  // namespace vernier
