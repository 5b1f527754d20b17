// The paired bootstrap of means.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace vernier {

/// The numbers of NumPy's default_rng(seed) (PCG64), for `seed` >= 0.
class Pcg64 {
 public:
  explicit Pcg64(uint64_t seed);

  /// As Generator.integers(0, bound), for 2 <= bound < 2^32.
  uint32_t Below(uint32_t bound);

  /// As many of these as there are values.
  void FillBelow(uint32_t bound, std::span<uint32_t> values);

 private:
  uint64_t Next64();
  uint32_t Next32();
  void Step();

  __extension__ using State = unsigned __int128;
  State state_ = 0;
  State increment_ = 0;
  uint32_t kept_ = 0;  // the upper half of the last 64 bits
  bool has_kept_ = false;
};

/// 95 % intervals of the means of two scores of the same samples, and of their difference.
struct PairedMeans {
  std::pair<double, double> first, second, difference;
};

/// The 2.5 and 97.5 % quantiles (NumPy's, linear) of at least one value; changes their order.
std::pair<double, double> MiddleOfDraws(std::vector<double>& values);

/// The 2.5 and 97.5 % quantiles (NumPy's, linear) of the means over `draws` resamples: draw d takes
/// the samples that default_rng(seed).integers(0, n) gives for [d * n, (d + 1) * n). Both spans
/// have one length, below 2^32; NaN without samples.
PairedMeans BootstrapMeans(std::span<const double> first, std::span<const double> second,
                           uint64_t seed, size_t draws = 10'000);

/// The same of errors: sum of errors / sum of `sizes`, the square root of that with `is_root`.
/// `sizes` may be empty: all are 1. Draws without a size are left out; NaN if all are.
struct ErrorColumns {
  std::span<const double> first, second, sizes;
  bool is_root = false;

  double Figure(double errors, double size) const;
};
PairedMeans BootstrapErrors(const ErrorColumns& columns, uint64_t seed, size_t draws = 10'000);

}  // namespace vernier
