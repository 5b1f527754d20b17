// Where decoders take their bytes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "util/files/input_file.h"
#include "util/threads/thread_pool.h"
#include "vernier/status.h"

namespace vernier {

/// Gives bytes in order, straight into the memory where they are wanted.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Bytes that are still to be read.
  virtual uint64_t remaining() const = 0;

  /// Fills `out` with the next bytes, of which at least so many must remain. kMalformed when what
  /// they are made from is damaged; nothing may be read after that.
  virtual Status Read(std::span<std::byte> out) = 0;
};

/// Bytes in memory, which must outlive the object.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint64_t remaining() const override { return bytes_.size(); }
  Status Read(std::span<std::byte> out) override;

 private:
  std::span<const std::byte> bytes_;
};

/// A range of a file, which must lie inside of it.
class FileSource final : public ByteSource {
 public:
  /// Large pieces are read by all of `threads`, which may be null.
  FileSource(std::shared_ptr<const InputFile> file, uint64_t begin, uint64_t size,
             ThreadPool* threads = nullptr)
      : file_(std::move(file)), position_(begin), remaining_(size), threads_(threads) {}
  uint64_t remaining() const override { return remaining_; }
  Status Read(std::span<std::byte> out) override;

 private:
  std::shared_ptr<const InputFile> file_;
  uint64_t position_;
  uint64_t remaining_;
  ThreadPool* threads_;
};

/// Calls `read` with the pieces of `out` and where in it they begin, on all threads when there is
/// much to do. Returns the error of the first piece that has one.
Status ReadInPieces(std::span<std::byte> out, ThreadPool* threads,
                    const std::function<Status(uint64_t begin, std::span<std::byte> piece)>& read);

/// Passes on another source's bytes and keeps their CRC-32.
class ChecksumSource final : public ByteSource {
 public:
  /// `source` must outlive the object.
  explicit ChecksumSource(ByteSource& source) : source_(source) {}
  uint64_t remaining() const override { return source_.remaining(); }
  Status Read(std::span<std::byte> out) override;

  /// Reads what is left and gives the checksum of everything.
  Result<uint32_t> Finish();

 private:
  ByteSource& source_;
  uint32_t crc_ = 0;
};

}  // namespace vernier
