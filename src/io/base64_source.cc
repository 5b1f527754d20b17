#include "io/base64_source.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "io/base64.h"
#include "io/npy.h"

namespace vernier {
namespace {

// Bytes that are decoded at a time: their characters stay in the cache between reading and
// decoding.
constexpr uint64_t kBlockBytes = uint64_t{96} << 10;

// What the end of a text of `length` characters must look like, so that its size can be told
// without reading all of it.
constexpr uint64_t kTail = 8;

}  // namespace

Result<Base64Source> Base64Source::Open(JsonRange text) {
  char tail[kTail];
  // As many characters of the last groups as tell the padding: a multiple of four, or all.
  const uint64_t cut = text.size() < kTail ? 0 : (text.size() - 4) / 4 * 4;
  const std::span<char> end(tail, static_cast<size_t>(text.size() - cut));
  VERNIER_TRY(text.text->ReadAt(text.begin + cut, end));
  Result<uint64_t> rest = Base64DecodedSize({end.data(), end.size()});
  if (!rest.ok()) {
    return Malformed("the base64 text has " + std::to_string(text.size()) +
                     " characters, which end in an incomplete group of four");
  }
  return Base64Source(text, cut / 4 * 3 + *rest);
}

Status Base64Source::ReadBlock(uint64_t first, std::span<std::byte> out) const {
  const uint64_t begin = first / 3 * 4;
  const uint64_t end = std::min(text_.size(), (first + out.size() + 2) / 3 * 4);
  const auto size = static_cast<size_t>(end - begin);
  const auto block = std::make_unique_for_overwrite<char[]>(size);
  VERNIER_TRY(text_.text->ReadAt(text_.begin + begin, {block.get(), size}));
  return DecodeBase64Range({block.get(), size}, first % 3, out, begin);
}

Status Base64Source::Read(std::span<std::byte> out) {
  if (out.size() > remaining()) return Malformed("the data end too early");
  while (!out.empty()) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(out.size(), kBlockBytes));
    VERNIER_TRY(ReadBlock(position_, out.first(size)));
    position_ += size;
    out = out.subspan(size);
  }
  return {};
}

std::optional<uint64_t> NpyPayloadLength(std::string_view start) {
  start = start.substr(0, start.find('"'));
  std::vector<std::byte> bytes(start.size() / 4 * 3);
  if (!DecodeBase64Range(start.substr(0, start.size() / 4 * 4), 0, bytes).ok()) return std::nullopt;
  const std::optional<uint64_t> size = NpySizeFromStart(bytes);
  return size ? std::optional((*size + 2) / 3 * 4) : std::nullopt;
}

}  // namespace vernier
