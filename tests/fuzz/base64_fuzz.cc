// Decoding of any text, whole and in part; what decodes can be encoded again.
#include <algorithm>
#include <string_view>
#include <vector>

#include "fuzz_target.h"
#include "io/base64.h"

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
  fuzz::Require(DecodeBase64(sink.text(), again).ok(), "that decodes");
  fuzz::Require(std::ranges::equal(again, decoded), "to the same bytes");
}

void CheckRange(std::string_view text, std::span<const std::byte> decoded) {
  const size_t first = decoded.size() / 3;
  std::vector<std::byte> part(decoded.size() / 2);
  fuzz::Require(DecodeBase64Range(text, first, part).ok(), "a part of good text decodes");
  fuzz::Require(std::equal(part.begin(), part.end(), decoded.begin() + static_cast<long>(first)),
                "a part decodes to what the whole does");
}

}  // namespace
}  // namespace vernier

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vernier;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto decoded_size = Base64DecodedSize(text);
  if (!decoded_size.ok()) return 0;
  std::vector<std::byte> decoded(static_cast<size_t>(*decoded_size));
  if (!DecodeBase64(text, decoded).ok()) return 0;
  CheckEncoding(decoded);
  CheckRange(text, decoded);
  return 0;
}
