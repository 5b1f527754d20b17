#include "io/bytes/checksum.h"

#include <algorithm>
#include <charconv>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "util/files/shared_memory.h"
#include "util/threads/memory_pages.h"

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

namespace {

constexpr uint64_t kValueBits = (uint64_t{1} << 40) - 1;

// Adds a tensor's bytes without keeping those of shared memory among this process's pages: the
// processes that were given them have them there already.
void AddInPassing(const Tensor& tensor, Checksum& checksum) {
  constexpr size_t kStep = size_t{16} << 20;
  std::span<const std::byte> rest = tensor.bytes();
  while (!rest.empty()) {
    const std::span<const std::byte> part = rest.first(std::min(kStep, rest.size()));
    checksum.Add(part);
    if (tensor.memory() != nullptr && part.size() == kStep) DropPagesWithin(part);
    rest = rest.subspan(part.size());
  }
}

}  // namespace

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
    const uint64_t size = tensor.bytes().size();
    checksum.Add(std::as_bytes(std::span(&size, 1)));
    AddInPassing(tensor, checksum);
  }
  return checksum.value();
}

uint64_t MarkFeed(const TensorMap& feed) {
  Checksum kinds;
  for (const auto& [name, tensor] : feed) {
    for (const std::string_view text : {std::string_view(name), DTypeName(tensor.dtype())}) {
      kinds.Add(std::as_bytes(std::span(text)));
      kinds.Add(std::as_bytes(std::span("")));  // a NUL, where one ends and the next begins
    }
  }
  return (kinds.value() & ~kValueBits) | (HashFeed(feed) & kValueBits);
}

bool AreOfOneFeed(uint64_t a, uint64_t b) { return ((a ^ b) & kValueBits) == 0; }

bool AreOfOtherValues(uint64_t a, uint64_t b) { return a != b && ((a ^ b) & ~kValueBits) == 0; }

}  // namespace vernier
