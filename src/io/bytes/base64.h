// Base64 with the standard alphabet and padding (RFC 4648 section 4), on one line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "io/bytes/byte_sink.h"
#include "vernier/status.h"

namespace vernier {

/// Bytes that `text` decodes to, judged by its length and padding alone. Accepts what Python's
/// b64decode(validate=True) accepts: a complete last group, and one or two '=' after a full one.
/// kMalformed otherwise.
Result<uint64_t> Base64DecodedSize(std::string_view text);

/// Decodes the bytes [first, first + out.size()) of what `text` stands for. Only the characters
/// that hold them are checked. kMalformed names the position of the first character that is not in
/// the alphabet, and `out` is then unspecified; also when the range ends beyond the decoded size.
/// `text_begin` is where `text` begins in the whole text, for messages.
Status DecodeBase64Range(std::string_view text, uint64_t first, std::span<std::byte> out,
                         uint64_t text_begin = 0);

/// Encodes everything written to it into `target`, in blocks of 192 KiB, so that no second copy of
/// a tensor exists. Finish() writes the last group; nothing may be written after it.
class Base64Sink final : public ByteSink {
 public:
  explicit Base64Sink(ByteSink& target) : target_(target) {}

  Status Write(std::span<const std::byte> bytes) override;
  Status Finish();

 private:
  ByteSink& target_;
  std::array<std::byte, 3> pending_{};
  size_t pending_count_ = 0;
};

}  // namespace vernier
