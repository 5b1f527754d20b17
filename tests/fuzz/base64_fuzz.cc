// Decoding of any text, whole and in part; what decodes encodes to the same text.
#include <algorithm>
#include <string_view>
#include <vector>

#include "fuzz_target.h"
#include "io/base64.h"

namespace vernier {
namespace {

void CheckEncoding(std::string_view text, std::span<const std::byte> decoded) {
  StringSink sink;
  Base64Sink encoder(sink);
  fuzz::Require(encoder.Write(decoded).ok() && encoder.Finish().ok(), "bytes encode");
  const std::string again = sink.text();
  fuzz::Require(again.size() == text.size(), "as long as before");
  // Bits behind the last byte may be set; nothing before them may differ.
  const size_t sure = again.size() < 4 ? 0 : again.size() - 4;
  fuzz::Require(text.substr(0, sure) == std::string_view(again).substr(0, sure), "the same text");
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
  CheckEncoding(text, decoded);
  CheckRange(text, decoded);
  return 0;
}
