// A fast checksum against bytes that were lost, not against malice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vernier/tensor.h"

namespace vernier {

/// XXH3 with 64 bits, the same on every machine.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;

  void Add(std::span<const std::byte> bytes);

  /// Of everything so far.
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A checksum in files: hexadecimal, without leading zeros.
std::string ChecksumText(uint64_t value);
std::optional<uint64_t> ParseChecksum(std::string_view text);

/// What tells one feed from another: its tensors' names, types, shapes and bytes, in order.
uint64_t HashFeed(const TensorMap& feed);

}  // namespace vernier
