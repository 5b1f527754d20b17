#include "model/onnx/byte_pieces.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace vernier {
namespace {

Status WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return IoError(std::string("the edited model cannot be kept in memory: ") +
                     std::strerror(errno));
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

// Opens the files of external slices; neighbours mostly share one.
class SliceSource {
 public:
  explicit SliceSource(const ExternalFolder* folder) : folder_(folder) {}

  Result<const ExternalFile*> FileOf(const ExternalSlice& slice) {
    if (folder_ == nullptr) return Internal("external data without a folder");
    if (!open_ || location_ != slice.location) {
      VERNIER_ASSIGN_OR_RETURN(ExternalFile opened, folder_->OpenFile(slice.location));
      open_.emplace(std::move(opened));
      location_ = slice.location;
    }
    return &*open_;
  }

  Status Read(const ExternalSlice& slice, uint64_t at, std::span<std::byte> out) {
    VERNIER_ASSIGN_OR_RETURN(const ExternalFile* file, FileOf(slice));
    size_t done = 0;
    while (done < out.size()) {
      const ssize_t count = ::pread(file->fd(), out.data() + done, out.size() - done,
                                    static_cast<off_t>(slice.offset + at + done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return Malformed("'" + file->path() + "' ended while it was read");
      done += static_cast<size_t>(count);
    }
    return {};
  }

 private:
  const ExternalFolder* folder_;
  std::string location_;
  std::optional<ExternalFile> open_;
};

// Multiples of eight floats, small beside the caches.
constexpr size_t kChunk = size_t{256} * 1024;

constexpr size_t kReadAhead = size_t{16} << 20;

// Of a file that is mapped: asks for what comes next. Pages that are not there yet are otherwise
// fetched a few at a time, each time they are missed.
void AskFor(std::string_view bytes, size_t at) {
  if (at % kReadAhead != 0 || bytes.size() < kReadAhead) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const size_t size = std::min(2 * kReadAhead, bytes.size() - at);
  const auto address = reinterpret_cast<uintptr_t>(bytes.data() + at);
  const uintptr_t begin = address / page * page;
  (void)::madvise(reinterpret_cast<void*>(begin), size + (address - begin), MADV_WILLNEED);
}

// Gives a piece to `write` chunk by chunk, as it is to be written.
template <typename Write>
Status ForEachChunk(const BytePiece& piece, SliceSource& source, const Write& write) {
  if (!piece.external && !piece.narrowing && piece.bytes.size() < kReadAhead) {
    return write(std::as_bytes(std::span(piece.bytes.data(), piece.bytes.size())));
  }
  std::vector<std::byte> chunk(std::min<uint64_t>(kChunk, piece.source_size()));
  std::vector<std::byte> halfs(piece.narrowing ? chunk.size() / 2 : 0);
  for (uint64_t at = 0; at < piece.source_size(); at += chunk.size()) {
    const size_t size = std::min<uint64_t>(chunk.size(), piece.source_size() - at);
    std::span<const std::byte> bytes(chunk.data(), size);
    if (piece.external) {
      VERNIER_TRY(source.Read(*piece.external, at, std::span(chunk.data(), size)));
    } else {
      AskFor(piece.bytes, at);
      bytes = std::as_bytes(std::span(piece.bytes.substr(at, size)));
    }
    if (piece.narrowing) {
      NarrowToFloat16(bytes, halfs.data(), *piece.narrowing);
      bytes = std::span<const std::byte>(halfs.data(), size / 2);
    }
    VERNIER_TRY(write(bytes));
  }
  return {};
}

}  // namespace

void BytePieces::AddNarrowedView(std::string_view floats, std::shared_ptr<Float16Losses> losses) {
  if (floats.empty()) return;
  pieces_.push_back({floats, nullptr, std::nullopt, std::move(losses)});
  size_ += pieces_.back().size();
}

void BytePieces::AddNarrowedExternal(ExternalSlice floats, std::shared_ptr<Float16Losses> losses) {
  pieces_.push_back({{}, nullptr, std::move(floats), std::move(losses)});
  size_ += pieces_.back().size();
}

void BytePieces::AddView(std::string_view bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  pieces_.push_back({bytes, nullptr, std::nullopt, nullptr});
}

void BytePieces::AddOwned(std::string bytes) {
  if (bytes.empty()) return;
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  size_ += owner->size();
  pieces_.push_back({*owner, owner, std::nullopt, nullptr});
}

void BytePieces::AddExternal(ExternalSlice slice) {
  size_ += slice.size;
  pieces_.push_back({{}, nullptr, std::move(slice), nullptr});
}

void BytePieces::Append(const BytePieces& other) {
  size_ += other.size_;
  pieces_.insert(pieces_.end(), other.pieces_.begin(), other.pieces_.end());
}

Status WritePieces(const BytePieces& pieces, const ExternalFolder* folder, AtomicFile& file) {
  SliceSource source(folder);
  for (const BytePiece& piece : pieces.pieces()) {
    if (piece.external && !piece.narrowing) {
      VERNIER_ASSIGN_OR_RETURN(const ExternalFile* from, source.FileOf(*piece.external));
      VERNIER_TRY(file.CopyFrom(from->fd(), piece.external->offset, piece.external->size));
      continue;
    }
    VERNIER_TRY(ForEachChunk(piece, source, [&](auto bytes) { return file.Write(bytes); }));
  }
  return {};
}

Result<std::vector<std::byte>> ToBytes(const BytePieces& pieces, const ExternalFolder* folder) {
  std::vector<std::byte> bytes;
  try {
    bytes.resize(pieces.size());
  } catch (const std::bad_alloc&) {
    return Internal("no memory for " + std::to_string(pieces.size()) + " bytes of model");
  }
  SliceSource source(folder);
  size_t at = 0;
  const auto append = [&](std::span<const std::byte> chunk) -> Status {
    std::memcpy(bytes.data() + at, chunk.data(), chunk.size());
    at += chunk.size();
    return {};
  };
  for (const BytePiece& piece : pieces.pieces()) VERNIER_TRY(ForEachChunk(piece, source, append));
  return bytes;
}

Result<int> ToMemfd(const BytePieces& pieces, const ExternalFolder* folder) {
  const int fd = ::memfd_create("vernier-model", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return IoError(std::string("memfd_create failed: ") + std::strerror(errno));
  SliceSource source(folder);
  Status status;
  for (const BytePiece& piece : pieces.pieces()) {
    if (!status.ok()) break;
    status = ForEachChunk(piece, source, [&](auto bytes) { return WriteAll(fd, bytes); });
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
