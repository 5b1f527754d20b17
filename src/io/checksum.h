// A fast checksum against bytes that were lost, not against malice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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

}  // namespace vernier
