// Decoding of any text, whole and in part; what decodes can be encoded again.
#include <algorithm>
#include <string_view>
#include <vector>

#include "fuzz_target.h"
#include "io/bytes/base64.h"

namespace vernier {
namespace {

// Not the same text: padding may be longer than it has to be, and bits behind the last byte set.
void CheckEncoding(std::span<const std::byte> decoded) {
  StringSink sink;
  Base64Sink encoder(sink);
  fuzz::Require(encoder.Write(decoded).ok() && encoder.Finish().ok(), "bytes encode");
  const auto size = Base64DecodedSize(sink.text());
  fuzz::Require(size.ok() && *size == decoded.size(), "to text of the right length");
  std::vector<std::byte> again(decoded.size());
  fuzz::Require(DecodeBase64Range(sink.text(), 0, again).ok(), "that decodes");
  fuzz::Require(std::ranges::equal(again, decoded), "to the same bytes");
}

void CheckRange(std::string_view text, std::span<const std::byte> decoded, size_t first,
                size_t count) {
  std::vector<std::byte> part(count);
  fuzz::Require(DecodeBase64Range(text, first, part).ok(), "a part of good text decodes");
  fuzz::Require(std::ranges::equal(part, decoded.subspan(first, count)),
                "a part decodes to what the whole does");
}

// Parts in the middle and, up to the last byte, at the end.
void CheckRanges(std::string_view text, std::span<const std::byte> decoded) {
  CheckRange(text, decoded, decoded.size() / 3, decoded.size() / 2);
  for (size_t count = 0; count <= std::min<size_t>(decoded.size(), 7); ++count) {
    CheckRange(text, decoded, decoded.size() - count, count);
    CheckRange(text, decoded, decoded.size() - count, count / 2);
  }
}

}  // namespace
}  // namespace vernier

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vernier;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto decoded_size = Base64DecodedSize(text);
  if (!decoded_size.ok()) return 0;
  std::vector<std::byte> decoded(static_cast<size_t>(*decoded_size));
  if (!DecodeBase64Range(text, 0, decoded).ok()) return 0;
  CheckEncoding(decoded);
  CheckRanges(text, decoded);
  return 0;
}
