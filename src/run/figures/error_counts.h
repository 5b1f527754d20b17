// How the errors of all elements of an output are distributed, over all iterations of a pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/shards/shard_lines.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

struct IterationComparison;

/// How often each error occurs. Of more than kMost different ones the last bits are dropped, as few
/// as will do: that depends on the errors alone, not on their order or on which shard counted them.
class ErrorCounts {
 public:
  static constexpr size_t kMost = size_t{1} << 16;  // 2 MiB

  /// Errors as numbers from 0 to infinity; NaN is counted beside them.
  void Add(std::span<const double> errors);
  /// Those that Keep() gave. kMalformed for what it cannot have given.
  Status Add(const CountedErrors& kept);
  CountedErrors Keep() const;

  /// As NumPy's over all elements that are numbers; rounded down where bits were dropped, and
  /// infinite where one of two neighbours is.
  QuantilesRecord Quantiles(std::string_view statistic) const;
  /// By which share of itself the largest of them may be too small; 0: they are exact.
  double rounding() const;
  bool empty() const { return used_ == 0; }

 private:
  struct Slot {
    uint64_t key = 0;  // 1 more than the bits of the error; 0: not in use
    int64_t count = 0;
  };
  void Count(uint64_t bits, int64_t times);
  Slot& SlotOf(uint64_t key);
  void Rebuild(size_t size, int dropped);

  std::vector<Slot> slots_ = std::vector<Slot>(256);
  size_t used_ = 0;
  int dropped_ = 0;  // bits
  int64_t nan_ = 0;
};

/// The same of all outputs of a pair whose median or quantile is checked (--check-error-stat).
class ElementErrors {
 public:
  /// One more iteration, whose outputs are here.
  void Add(const IterationComparison& comparison);

  /// For the part of a shard, as those of the pair number `pair`; and back, of one shard after the
  /// other. kMalformed for what cannot have been kept.
  std::vector<ShardErrors> Keep(size_t pair) const;
  Status Add(const ShardErrors& kept);

  /// Adds the quantiles to outputs of `record`. Sentences on those that are rounded, or not known.
  std::vector<std::string> AddTo(PairRecord& record) const;

 private:
  struct Output {
    std::string name;
    int64_t uncounted = 0;  // iterations, of which some elements were not compared
    ErrorCounts absolute, relative;
  };
  Output& OutputOf(const std::string& name);

  std::vector<Output> outputs_;
};

}  // namespace vernier
