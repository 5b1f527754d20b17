// What a thread knows of the elements that fail.
#pragma once

#include <cstdint>

#include "gpu/kernel_records.h"
#include "gpu/stream_state.cuh"

namespace vernier::gpu {

// NaN, as of 0 / 0, counts as infinite.
__device__ inline double Ratio(double value, double tolerance) {
  const double ratio = __ddiv_rn(value, tolerance);
  return ratio == ratio ? ratio : Infinity();
}

__device__ __noinline__ static double ExactRatio(double absolute, double relative, double atol,
                                                 double rtol) {
  return fmin(Ratio(absolute, atol), Ratio(relative, rtol));
}

struct Verdict {
  uint32_t mismatches = 0;
  uint32_t zeros = 0;
  int64_t first_mismatch = kNowhere;
  double worst = 0;
  float worst_bound = 0;  ///< a little below `worst`

  // An element outside both tolerances, behind all that were added. `relative` may be off by a
  // millionth; `exact()` is not.
  template <typename Absolute, typename Relative, typename Exact>
  __device__ void Add(const PairArgs& args, Absolute absolute, Relative relative, int64_t place,
                      Exact exact) {
    if (mismatches++ == 0) first_mismatch = place;
    // Products of floats are near enough to say that an exact quotient would not be a new maximum.
    const float estimate = fminf(static_cast<float>(absolute) * args.inverse_atol,
                                 static_cast<float>(relative) * args.inverse_rtol);
    if (absolute == absolute && relative == relative && estimate <= worst_bound) return;
    const double ratio = ExactRatio(static_cast<double>(absolute), static_cast<double>(exact()),
                                    args.atol, args.rtol);
    if (ratio <= worst) return;
    worst = ratio;
    // What a float cannot hold is no bound, unless nothing can be larger.
    worst_bound = ratio == Infinity() ? static_cast<float>(ratio)
                                      : static_cast<float>(fmin(ratio, 1e38)) * (1 - 1e-5f);
  }
};

// Of several threads.
struct MergedVerdict {
  int64_t mismatches;
  int64_t first_mismatch;
  int64_t zeros;
  double worst;

  static __device__ MergedVerdict Of(const Verdict& v) {
    return {v.mismatches, v.first_mismatch, v.zeros, v.worst};
  }
  __device__ void Merge(const MergedVerdict& other) {
    mismatches += other.mismatches;
    first_mismatch = min(first_mismatch, other.first_mismatch);
    zeros += other.zeros;
    worst = other.worst > worst ? other.worst : worst;
  }
};

}  // namespace vernier::gpu
