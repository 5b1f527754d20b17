// Arrays of codes of at most eight bits, block by block, and counts of their pairs. Internal to
// kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/elements/element_blocks.h"

namespace vernier {

/// Of codes; their index is (code in A) << 8 | code in B.
inline constexpr size_t kCodePairs = 65536;
/// Elements that are taken together.
inline constexpr int64_t kCodeChunk = 64 * static_cast<int64_t>(kBlockSize);

/// Elements [start, start + n) as bytes, one each.
inline const uint8_t* LoadCodes(const ElementSpan& elements, int64_t start, size_t n,
                                uint8_t* scratch) {
  const auto first = static_cast<size_t>(start);
  const auto* bytes = reinterpret_cast<const uint8_t*>(elements.bytes.data());
  if (BitsOf(elements.dtype) == 8) return bytes + first;
  for (size_t i = 0; i < n; ++i) {
    const size_t place = first + i;
    scratch[i] = static_cast<uint8_t>((bytes[place / 2] >> (4 * (place % 2))) & 0xf);
  }
  return scratch;
}

/// Calls `function(start, a_codes, b_codes, n)` for the blocks of a chunk until it returns false.
template <typename Function>
void ForEachCodeBlock(const ElementSpan& a, const ElementSpan& b, int64_t chunk,
                      Function function) {
  uint8_t a_scratch[kBlockSize];
  uint8_t b_scratch[kBlockSize];
  const int64_t end = std::min(a.count, (chunk + 1) * kCodeChunk);
  for (int64_t start = chunk * kCodeChunk; start < end; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, end - start));
    const uint8_t* a_codes = LoadCodes(a, start, n, a_scratch);
    const uint8_t* b_codes = LoadCodes(b, start, n, b_scratch);
    if (!function(start, a_codes, b_codes, n)) return;
  }
}

inline size_t PairOf(uint8_t a, uint8_t b) { return (static_cast<size_t>(a) << 8) | b; }

inline constexpr size_t kPairGroup = 64;  ///< of pairs that are processed together

/// How often each pair occurs. Two tables in turn: the same pair twice in a row would wait for its
/// own store. In one piece, which the allocator keeps for the next comparison.
class CodeCounts {
 public:
  /// So many pairs fit into the tables' counters; a test takes fewer.
  explicit CodeCounts(uint64_t most = std::numeric_limits<uint32_t>::max()) : most_(most) {}

  void Add(const uint8_t* a, const uint8_t* b, size_t n) {
    if (seen_ + n > most_) Carry();
    seen_ += n;
    uint32_t* const x = tables_.data();
    uint32_t* const y = x + kCodePairs;
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
      ++x[PairOf(a[i], b[i])];
      ++y[PairOf(a[i + 1], b[i + 1])];
    }
    if (i < n) ++x[PairOf(a[i], b[i])];
  }

  /// Most pairs do not occur in arrays that are not long.
  bool AnyIn(size_t first) const {
    if (!carried_.empty()) return true;
    uint32_t any = 0;
    for (size_t i = first; i < first + kPairGroup; ++i) any |= tables_[i] | tables_[kCodePairs + i];
    return any != 0;
  }

  int64_t CountOf(size_t pair) const {
    const int64_t carried = carried_.empty() ? 0 : carried_[pair];
    return carried + int64_t{tables_[pair]} + int64_t{tables_[kCodePairs + pair]};
  }

 private:
  void Carry() {
    std::vector<int64_t> counts(kCodePairs);
    for (size_t pair = 0; pair < kCodePairs; ++pair) counts[pair] = CountOf(pair);
    carried_ = std::move(counts);
    std::fill(tables_.begin(), tables_.end(), 0);
    seen_ = 0;
  }

  std::vector<uint32_t> tables_ = std::vector<uint32_t>(2 * kCodePairs);
  std::vector<int64_t> carried_;  ///< of pairs that were taken out of the tables
  uint64_t most_;
  uint64_t seen_ = 0;  ///< in the tables
};

}  // namespace vernier
