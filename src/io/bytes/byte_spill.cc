#include "io/bytes/byte_spill.h"

#include <span>

namespace vernier {

ByteSpill::Piece ByteSpill::Append(std::string bytes) {
  Piece piece;
  piece.size_ = bytes.size();
  if (!file_ && !no_file_) {
    Result<PartFile> file = PartFile::CreateUnnamed(directory_);
    if (file.ok()) file_ = *std::move(file);
  }
  if (!no_file_ && file_) piece.offset_ = file_->size();
  no_file_ = no_file_ || !file_ || !file_->Write(std::as_bytes(std::span(bytes))).ok();
  if (no_file_) piece.kept_ = std::move(bytes);
  return piece;
}

Result<std::string> ByteSpill::Read(const Piece& piece) const {
  if (piece.kept_) return *piece.kept_;
  std::string bytes(piece.size_, '\0');
  VERNIER_TRY(file_->ReadAt(piece.offset_, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

}  // namespace vernier
