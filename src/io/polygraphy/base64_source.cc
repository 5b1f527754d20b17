#include "io/polygraphy/base64_source.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "io/archive/npy.h"
#include "io/bytes/base64.h"

namespace vernier {
namespace {

// Bytes that are decoded at a time: their characters stay in the cache between reading and
// decoding.
constexpr size_t kDecodedBlockBytes = size_t{96} << 10;

// What the end of a text of `length` characters must look like, so that its size is known
// without reading all of it.
constexpr uint64_t kTail = 8;

}  // namespace

Result<Base64Source> Base64Source::Open(JsonRange text, ThreadPool* threads) {
  char tail[kTail];
  // As many characters of the last groups as show the padding: a multiple of four, or all.
  const uint64_t cut = text.size() < kTail ? 0 : (text.size() - 4) / 4 * 4;
  const std::span<char> end(tail, static_cast<size_t>(text.size() - cut));
  VERNIER_TRY(text.text->ReadAt(text.begin + cut, end));
  Result<uint64_t> rest = Base64DecodedSize({end.data(), end.size()});
  if (!rest.ok()) {
    return Malformed("the base64 text has " + std::to_string(text.size()) +
                     " characters, which end in an incomplete group of four");
  }
  return Base64Source(text, cut / 4 * 3 + *rest, threads);
}

Status Base64Source::ReadPiece(uint64_t first, std::span<std::byte> out) const {
  const size_t most = std::min(kDecodedBlockBytes, out.size());
  const auto characters = std::make_unique_for_overwrite<char[]>((most + 4) / 3 * 4 + 4);
  while (!out.empty()) {
    const auto block = out.first(std::min(out.size(), most));
    const uint64_t begin = first / 3 * 4;
    const uint64_t end = std::min(text_.size(), (first + block.size() + 2) / 3 * 4);
    const std::span<char> text(characters.get(), static_cast<size_t>(end - begin));
    VERNIER_TRY(text_.text->ReadAt(text_.begin + begin, text));
    VERNIER_TRY(DecodeBase64Range({text.data(), text.size()}, first % 3, block, begin));
    first += block.size();
    out = out.subspan(block.size());
  }
  return {};
}

Status Base64Source::Read(std::span<std::byte> out) {
  if (out.size() > remaining()) return Malformed("the data end too early");
  VERNIER_TRY(ReadInPieces(out, threads_, [this](uint64_t begin, std::span<std::byte> piece) {
    return ReadPiece(position_ + begin, piece);
  }));
  position_ += out.size();
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
