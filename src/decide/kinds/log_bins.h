// How many values lie where, in constant memory: bins of an eighth of an octave.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace vernier {

/// Values are numbers >= 0, infinity included. Bins are in the order of their values.
class LogBins {
 public:
  static size_t BinOf(double value) { return std::bit_cast<uint64_t>(value) >> kDroppedBits; }
  /// Above all values of a bin.
  static double EndOf(size_t bin) {
    return std::bit_cast<double>(static_cast<uint64_t>(bin + 1) << kDroppedBits);
  }

  void Add(double value) { ++counts_[BinOf(value)]; }

  size_t size() const { return counts_.size(); }
  int64_t operator[](size_t bin) const { return counts_[bin]; }
  int64_t All() const { return Count(0, kBins); }
  /// In the bins below that of a limit.
  int64_t Below(double limit) const {
    return Count(0, limit > 0 ? std::min(BinOf(limit), kBins) : 0);
  }
  /// In the bins above that of a limit.
  int64_t Beyond(double limit) const { return Count(std::min(BinOf(limit), kBins - 1) + 1, kBins); }

 private:
  // The sign, the exponent and three bits of the fraction stay.
  static constexpr int kDroppedBits = 49;
  static constexpr size_t kBins = size_t{1} << (63 - kDroppedBits);

  int64_t Count(size_t first, size_t end) const {
    return std::accumulate(counts_.begin() + static_cast<std::ptrdiff_t>(first),
                           counts_.begin() + static_cast<std::ptrdiff_t>(end), int64_t{0});
  }

  std::vector<int64_t> counts_ = std::vector<int64_t>(kBins);
};

}  // namespace vernier
