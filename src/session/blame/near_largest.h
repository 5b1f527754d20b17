// Which of many errors that are within their bounds to look at.
#pragma once

#include <cstdint>
#include <vector>

namespace vernier {

/// The first iteration whose error is near the largest. Where a fault is in every step, it is in
/// the first of them, and which error is the largest is chance. The first is at least half as large
/// as the largest, and all before it are below 0.71 times the largest.
class NearLargest {
 public:
  struct Error {
    int64_t iteration = -1;  ///< -1: there is none
    double times = 0;        ///< of a bound
  };

  /// The next iteration; may it be the first that is near the largest?
  bool Add(const Error& error);
  Error first() const { return kept_.empty() ? Error() : kept_.front(); }
  const Error& largest() const { return largest_; }
  /// May this iteration still be the first? Of two at most.
  bool MayBeFirst(int64_t iteration) const;

 private:
  std::vector<Error> kept_;  // each larger than the one before it by a factor
  Error largest_;
};

}  // namespace vernier
