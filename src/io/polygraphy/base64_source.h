// The bytes that a base64 text stands for, wherever the text is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "io/bytes/byte_source.h"
#include "io/json/json_tape.h"
#include "vernier/status.h"

namespace vernier {

class Base64Source final : public ByteSource {
 public:
  /// kMalformed when the text's length or padding is wrong; its characters are checked as they are
  /// read. The document of `text` must outlive the object.
  /// Large pieces are decoded by all of `threads`, which may be null.
  static Result<Base64Source> Open(JsonRange text, ThreadPool* threads = nullptr);

  uint64_t remaining() const override { return size_ - position_; }

  /// kMalformed names the position of the first character that is not in the alphabet.
  Status Read(std::span<std::byte> out) override;

 private:
  Base64Source(JsonRange text, uint64_t size, ThreadPool* threads)
      : text_(text), size_(size), threads_(threads) {}
  Status ReadPiece(uint64_t first, std::span<std::byte> out) const;

  JsonRange text_;
  uint64_t size_;
  ThreadPool* threads_;
  uint64_t position_ = 0;
};

/// How many characters the payload has that begins with `start`, if it is the base64 of an .npy
/// file without anything behind its elements.
std::optional<uint64_t> NpyPayloadLength(std::string_view start);

}  // namespace vernier
