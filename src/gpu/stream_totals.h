// The records that the blocks of a kernel leave, added up: the host's half of the statistics.
#pragma once

#include <cstdint>
#include <span>

#include "gpu/kernel_records.h"
#include "kernels/measures/statistics.h"

namespace vernier::gpu {

/// How a record's extrema are stored.
enum class StreamType : uint8_t { kFloating, kSigned, kUnsigned };

/// The records of one stream in the order of their blocks.
class StreamTotals {
 public:
  explicit StreamTotals(StreamType type) : type_(type) {}

  void Add(const StreamRecord& record);

  int64_t nan_count() const { return total_.nan_count; }

  /// A sum of finite numbers is too large for a double. The CPU scales such sums; we do not.
  bool overflows() const;

  enum class Sign : uint8_t { kNeverNegative, kAny };
  /// All but median and quantiles, which read as NaN and empty. `pilot` is what deviations were
  /// taken from.
  ValueStatistics Finish(int64_t count, Sign sign, double pilot) const;

 private:
  double Number(uint64_t raw) const;
  bool Less(uint64_t a, uint64_t b) const;

  StreamType type_;
  bool any_ = false;
  StreamRecord total_{};
};

/// Exact addition: the pair's value grows by `value` to within the rounding of `low`.
void Accumulate(WideSum& sum, double value);
void Accumulate(WideSum& sum, const WideSum& other);
double ValueOf(const WideSum& sum);

}  // namespace vernier::gpu
