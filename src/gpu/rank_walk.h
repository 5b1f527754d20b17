// The host's half of a rank selection on the GPU: which digits to count, and the walk down the
// counts. Keys are found one digit at a time, from the top.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/kernel_records.h"

namespace vernier::gpu {

/// One digit of the keys.
struct Digit {
  unsigned shift = 0;
  unsigned bits = 0;
};

/// The digits of keys of `key_bits` bits, from the top, without gaps.
std::vector<Digit> DigitsOf(unsigned key_bits);

/// The ranks asked for of one stream of values.
class RankWalk {
 public:
  /// `ranks`: each within [0, count). Duplicates are fine.
  explicit RankWalk(std::vector<int64_t> ranks);

  bool empty() const { return wanted_.empty(); }

  /// The prefixes that the next digit must be counted under, without duplicates, in rising order.
  /// Before the first digit that is one empty prefix, or none when no ranks were asked for.
  std::vector<uint64_t> Prefixes() const;

  /// Goes one digit down. `counts` holds, for each of Prefixes() in order, 2^bits counts.
  void Descend(Digit digit, std::span<const uint64_t> counts);

  /// How many keys have one of the prefixes.
  uint64_t candidates() const;

  /// Finds the keys at once, from all that have one of the prefixes, in any order. `below`: the
  /// bits of a key that come after its prefix.
  void Finish(std::span<const uint64_t> keys, unsigned below);

  /// The key of that rank, after the last digit or Finish.
  uint64_t KeyOf(int64_t rank) const;

 private:
  struct Wanted {
    int64_t rank;
    uint64_t prefix;
    uint64_t below;       ///< the rank among the keys with that prefix
    uint64_t population;  ///< how many those are; unknown before the first digit
  };
  std::vector<Wanted> wanted_;
};

}  // namespace vernier::gpu
