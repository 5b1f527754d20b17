// Kernels over two arrays. Compiled to PTX once for each VERNIER_VARIANT that CMakeLists.txt lists.
#include <type_traits>

#include "gpu/pair_policies.cuh"
#include "gpu/rank_digits.cuh"
#include "gpu/stream_state.cuh"

namespace vernier::gpu {
namespace {

using Policy = VERNIER_VARIANT;
using Value = Policy::Value;
using Absolute = Policy::Absolute;
using Relative = Policy::Relative;
constexpr int kWidth = Policy::kWidth;
// Groups loaded before the first is used, so that memory always has something to do.
constexpr int kUnroll = kWidth == 1 ? 1 : kWidth == 8 ? 2 : 4;

// Calls `visitor.template Visit<n>(a, b, start)` for every group of elements, in rising order
// within a thread. What does not fill a group comes last, in the grid's first thread.
template <typename Visitor>
__device__ void ForEachGroup(const PairArgs& args, Visitor& visitor) {
  const int64_t groups = args.count / kWidth;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
  int64_t group = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (; group + (kUnroll - 1) * stride < groups; group += kUnroll * stride) {
    Value a[kUnroll][kWidth];
    Value b[kUnroll][kWidth];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      Policy::Load(args, (group + u * stride) * kWidth, a[u], b[u]);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      visitor.template Visit<kWidth>(a[u], b[u], (group + u * stride) * kWidth);
    }
  }
  for (; group < groups; group += stride) {
    Value a[kWidth];
    Value b[kWidth];
    Policy::Load(args, group * kWidth, a, b);
    visitor.template Visit<kWidth>(a, b, group * kWidth);
  }
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  for (int64_t i = groups * kWidth; i < args.count; ++i) {
    Value a;
    Value b;
    Policy::One(args, i, a, b);
    visitor.template Visit<1>(&a, &b, i);
  }
}

// What a thread keeps in shared memory: see StreamPlaces.
struct PairPlaces {
  StreamPlaces absolute;
  StreamPlaces relative;
};

// What is known without the statistics of the differences.
struct Verdict {
  uint32_t mismatches = 0;
  uint32_t zeros = 0;
  int64_t first_mismatch = kNowhere;
  double worst = 0;
  float worst_bound = 0;  ///< a little below `worst`
};

// NaN, as of 0 / 0, counts as infinite.
__device__ inline double Ratio(double value, double tolerance) {
  const double ratio = __ddiv_rn(value, tolerance);
  return ratio == ratio ? ratio : Infinity();
}

__device__ __noinline__ double ExactRatio(double absolute, double relative, double atol,
                                          double rtol) {
  return fmin(Ratio(absolute, atol), Ratio(relative, rtol));
}

template <bool kMoments>
struct TallyVisitor {
  const PairArgs& args;
  Verdict verdict;
  StreamState<Absolute, false> absolute;
  StreamState<Relative, false> relative;

  __device__ void AddFailure(Absolute x, Relative y, int64_t place) {
    if (verdict.mismatches++ == 0) verdict.first_mismatch = place;
    // Products of floats are near enough to say that an exact quotient would not be a new maximum.
    const float estimate =
        fminf(static_cast<float>(x) * args.inverse_atol, static_cast<float>(y) * args.inverse_rtol);
    if (x == x && y == y && estimate <= verdict.worst_bound) return;
    const double ratio =
        ExactRatio(static_cast<double>(x), static_cast<double>(y), args.atol, args.rtol);
    if (ratio <= verdict.worst) return;
    verdict.worst = ratio;
    // What a float cannot hold is no bound, unless nothing can be larger.
    verdict.worst_bound = ratio == Infinity() ? static_cast<float>(ratio)
                                              : static_cast<float>(fmin(ratio, 1e38)) * (1 - 1e-5f);
  }

  template <int kCount>
  __device__ void Visit(const Value* a, const Value* b, int64_t start) {
    Absolute x[kCount];
    bool any = false;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      x[i] = Policy::AbsoluteOf(args, a[i], b[i]);
      any |= Policy::Outside(args, x[i]);
      verdict.zeros += Policy::Replaces(args, b[i]) ? 1 : 0;
    }
    // A verdict alone needs no quotient where the absolute difference passes.
    if (!kMoments && !any) return;
    Relative y[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) y[i] = Policy::RelativeOf(args, x[i], b[i]);
    if (any) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const bool outside =
            Policy::Outside(args, x[i]) && !(y[i] <= static_cast<Relative>(args.relative_limit));
        if (outside) AddFailure(x[i], y[i], start + i);
      }
    }
    if constexpr (kMoments) {
      absolute.template Add<kCount>(x, start);
      relative.template Add<kCount>(y, start);
    }
  }
};

// Of several threads.
struct MergedVerdict {
  int64_t mismatches;
  int64_t first_mismatch;
  int64_t zeros;
  double worst;

  __device__ void Merge(const MergedVerdict& other) {
    mismatches += other.mismatches;
    first_mismatch = min(first_mismatch, other.first_mismatch);
    zeros += other.zeros;
    worst = other.worst > worst ? other.worst : worst;
  }
};

template <bool kMoments>
__device__ void RunTally(const PairArgs& args, const double* pilots, PairRecord* out) {
  __shared__ PairPlaces places[kMoments ? kThreads : 1];
  PairPlaces* own = &places[kMoments ? threadIdx.x : 0];
  if constexpr (kMoments) {
    own->absolute.Clear();
    own->relative.Clear();
  }
  TallyVisitor<kMoments> tally{args, {}, {&own->absolute, pilots[0]}, {&own->relative, pilots[1]}};
  ForEachGroup(args, tally);
  const Verdict& v = tally.verdict;
  MergedVerdict verdict{v.mismatches, v.first_mismatch, v.zeros, v.worst};
  MergeBlock(verdict);
  PairRecord record{
      verdict.mismatches, verdict.first_mismatch, verdict.zeros, verdict.worst, {}, {}};
  if constexpr (kMoments) {
    auto absolute = MergedStream<Absolute>::Of(tally.absolute);
    MergeBlock(absolute);
    auto relative = MergedStream<Relative>::Of(tally.relative);
    MergeBlock(relative);
    record.absolute = absolute.Record();
    record.relative = relative.Record();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = record;
}

// Shows both differences of every element to a visitor of each stream.
template <typename AbsoluteVisitor, typename RelativeVisitor>
struct DifferenceVisitor {
  const PairArgs& args;
  AbsoluteVisitor absolute;
  RelativeVisitor relative;

  template <int kCount>
  __device__ void Visit(const Value* a, const Value* b, int64_t) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Absolute x = Policy::AbsoluteOf(args, a[i], b[i]);
      absolute.Add(x);
      relative.Add(Policy::RelativeOf(args, x, b[i]));
    }
  }
};

struct MergedProducts {
  WideSum dot;
  WideSum a_squared;
  WideSum b_squared;
  WideSum difference_squared;
  double a_max;
  int64_t nan_count;

  __device__ void Merge(const MergedProducts& other) {
    gpu::Merge(dot, other.dot);
    gpu::Merge(a_squared, other.a_squared);
    gpu::Merge(b_squared, other.b_squared);
    gpu::Merge(difference_squared, other.difference_squared);
    a_max = other.a_max > a_max ? other.a_max : a_max;
    nan_count += other.nan_count;
  }
};

struct ProductVisitor {
  double dot = 0;
  double a_squared = 0;
  double b_squared = 0;
  double difference_squared = 0;
  Value a_max = Limits<Value>::Lowest();
  uint32_t nan_count = 0;

  template <int kCount>
  __device__ void Visit(const Value* a, const Value* b, int64_t) {
    double dots = 0, a_squares = 0, b_squares = 0, difference_squares = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const auto x = static_cast<double>(a[i]);
      const auto y = static_cast<double>(b[i]);
      const auto difference = static_cast<double>(a[i] - b[i]);
      dots = __fma_rn(x, y, dots);
      a_squares = __fma_rn(x, x, a_squares);
      b_squares = __fma_rn(y, y, b_squares);
      difference_squares = __fma_rn(difference, difference, difference_squares);
      nan_count += a[i] != a[i] ? 1 : 0;
      a_max = a[i] > a_max ? a[i] : a_max;
    }
    dot = __dadd_rn(dot, dots);
    a_squared = __dadd_rn(a_squared, a_squares);
    b_squared = __dadd_rn(b_squared, b_squares);
    difference_squared = __dadd_rn(difference_squared, difference_squares);
  }
};

}  // namespace

// A mean of each stream over elements spread across the arrays: deviations are taken from it. Any
// number would do; one of the data keeps the sums of squares small.
extern "C" __global__ void __launch_bounds__(kThreads) pair_pilot(PairArgs args, double* pilots) {
  __shared__ double sums[2][kThreads];
  double sum[2] = {0, 0};
  const int64_t step = args.count / kThreads + 1;
  const int64_t place = step * threadIdx.x;
  if (place < args.count) {
    Value a;
    Value b;
    Policy::One(args, place, a, b);
    const Absolute absolute = Policy::AbsoluteOf(args, a, b);
    const Relative relative = Policy::RelativeOf(args, absolute, b);
    const double both[2] = {static_cast<double>(absolute), static_cast<double>(relative)};
    for (int k = 0; k < 2; ++k) sum[k] = fabs(both[k]) < Infinity() ? both[k] : 0;
  }
  for (int k = 0; k < 2; ++k) sums[k][threadIdx.x] = sum[k];
  __syncthreads();
  if (threadIdx.x >= 2) return;
  double total = 0;
  for (unsigned i = 0; i < kThreads; ++i) total += sums[threadIdx.x][i];
  const int64_t sampled = (args.count + step - 1) / step;
  total = __ddiv_rn(total, static_cast<double>(sampled > 0 ? sampled : 1));
  pilots[threadIdx.x] = fabs(total) < Infinity() ? total : 0;
}

extern "C" __global__ void __launch_bounds__(kThreads, 3)
    pair_moments(PairArgs args, const double* pilots, PairRecord* out) {
  RunTally<true>(args, pilots, out);
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    pair_verdict(PairArgs args, const double* pilots, PairRecord* out) {
  RunTally<false>(args, pilots, out);
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    pair_first_digit(PairArgs args, DigitArgs digits, unsigned long long* counts) {
  ClearCounters(digits);
  const uint32_t relative_base = 1u << kFirstDigitBits;
  DifferenceVisitor<FirstDigitCounter<Absolute, false>, FirstDigitCounter<Relative, false>> visitor{
      args, {digits.shift, 0}, {digits.shift, relative_base}};
  ForEachGroup(args, visitor);
  visitor.absolute.Flush();
  visitor.relative.Flush();
  StoreCounters(digits, counts);
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    pair_digit(PairArgs args, DigitArgs digits, unsigned long long* counts) {
  __shared__ SharedPrefixes shared;
  ClearCounters(digits);
  const DigitPlan plan = StartDigits(digits, shared);
  DifferenceVisitor<DigitCounter<Absolute, false, 0>, DigitCounter<Relative, false, 1>> visitor{
      args, {plan, shared}, {plan, shared}};
  ForEachGroup(args, visitor);
  visitor.absolute.Flush();
  visitor.relative.Flush();
  StoreCounters(digits, counts);
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    pair_gather(PairArgs args, DigitArgs digits, GatherArgs out) {
  __shared__ SharedPrefixes shared;
  const DigitPlan plan = StartDigits(digits, shared);
  DifferenceVisitor<KeyGatherer<Absolute, false, 0>, KeyGatherer<Relative, false, 1>> visitor{
      args, {plan, shared, out}, {plan, shared, out}};
  ForEachGroup(args, visitor);
}

extern "C" __global__ void __launch_bounds__(kThreads, 3)
    pair_products(PairArgs args, ProductRecord* out) {
  if constexpr (!Policy::kProducts) return;
  ProductVisitor visitor;
  ForEachGroup(args, visitor);
  const ProductVisitor& v = visitor;
  MergedProducts merged{{v.dot, 0},
                        {v.a_squared, 0},
                        {v.b_squared, 0},
                        {v.difference_squared, 0},
                        static_cast<double>(v.a_max),
                        v.nan_count};
  MergeBlock(merged);
  if (threadIdx.x != 0) return;
  out[blockIdx.x] = {merged.dot,   merged.a_squared, merged.b_squared, merged.difference_squared,
                     merged.a_max, merged.nan_count};
}

}  // namespace vernier::gpu
