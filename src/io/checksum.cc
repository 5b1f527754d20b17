#include "io/checksum.h"

#include <charconv>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace vernier {

struct Checksum::State {
  XXH3_state_t xxh3;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh3); }
Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum& Checksum::operator=(Checksum&&) noexcept = default;

void Checksum::Add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

uint64_t Checksum::value() const { return XXH3_64bits_digest(&state_->xxh3); }

std::string ChecksumText(uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value, 16).ptr;
  return {digits, end};
}

std::optional<uint64_t> ParseChecksum(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

uint64_t HashFeed(const TensorMap& feed) {
  Checksum checksum;
  const auto add = [&](std::span<const std::byte> bytes) {
    const uint64_t size = bytes.size();  // where one ends and the next begins
    checksum.Add(std::as_bytes(std::span(&size, 1)));
    checksum.Add(bytes);
  };
  for (const auto& [name, tensor] : feed) {
    add(std::as_bytes(std::span(name)));
    add(std::as_bytes(std::span(DTypeName(tensor.dtype()))));
    add(std::as_bytes(std::span(tensor.dims())));
    add(tensor.bytes());
  }
  return checksum.value();
}

}  // namespace vernier
