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

/// What distinguishes one feed from another: its tensors' names, types, shapes and bytes, in order.
uint64_t HashFeed(const TensorMap& feed);

/// What saved outputs keep of the feed that they were made from: 24 bits of its tensors' names and
/// types, and the lower 40 bits of HashFeed(), which is all that earlier versions have kept.
uint64_t MarkFeed(const TensorMap& feed);

/// Whether --resume may take two marks for those of one feed, also where an earlier version has
/// made one of them.
bool AreOfOneFeed(uint64_t a, uint64_t b);

/// Whether two marks are of feeds with the same names and types, and with other shapes or values.
/// False where names or types differ, or an earlier version has made one: nothing is known then.
bool AreOfOtherValues(uint64_t a, uint64_t b);

}  // namespace vernier
