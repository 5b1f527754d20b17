// Kernels over two arrays. Compiled to PTX once for each VERNIER_VARIANT that CMakeLists.txt lists.
#include <type_traits>

#include "gpu/group_loop.cuh"
#include "gpu/pair_policies.cuh"
#include "gpu/rank_digits.cuh"
#include "gpu/stream_state.cuh"
#include "gpu/verdict.cuh"
#include "gpu/whole_tally.cuh"

namespace vernier::gpu {
namespace {

using Policy = VERNIER_VARIANT;
using Value = Policy::Value;
using Absolute = Policy::Absolute;
using Relative = Policy::Relative;
constexpr int kWidth = Policy::kWidth;
// Groups loaded before the first is used; which is fastest depends on the registers that there are.
constexpr bool kSixteenBitFloats = kWidth == 8 && sizeof(Relative) == 4;
constexpr int kRankUnroll = kWidth == 1 ? 1 : 2;
constexpr bool kLongIntegers = kWidth == 2 && !Limits<Absolute>::kFloating;
constexpr int kMomentUnroll =
    kLongIntegers || (kWidth > 2 && !kSixteenBitFloats) ? kAhead : kRankUnroll;
// The same where little is done to each element, and registers are few.
constexpr int kLightUnroll = kWidth == 8 ? kAhead : kRankUnroll;

// Blocks that share a multiprocessor: what moments need in registers.
constexpr int kMomentBlocks = kLongIntegers ? 2 : 3;
// Elements that are worked on together: float64 takes two registers each.
constexpr int kStep = kWidth == 8 && sizeof(Relative) == 8 ? 4 : kWidth;

template <int kUnroll, typename Visitor>
__device__ void ForEachGroup(const PairArgs& args, Visitor& visitor) {
  GroupLoop<Policy, kUnroll, kStep>::Run(args, visitor);
}

// What a thread keeps in shared memory: see StreamPlaces.
struct PairPlaces {
  StreamPlaces absolute;
  StreamPlaces relative;

  __device__ void Clear() {
    absolute.Clear();
    relative.Clear();
  }
};

template <bool kWithMoments>
struct TallyVisitor {
  using Places = PairPlaces;
  static constexpr bool kMoments = kWithMoments;

  const PairArgs& args;
  StreamState<Absolute, false> absolute;
  StreamState<Relative, false> relative;
  Verdict verdict;

  // Without moments the pilots are not read.
  __device__ TallyVisitor(const PairArgs& given, PairPlaces* places, PairBounds* bounds,
                          const double* pilots)
      : args(given),
        absolute{&places->absolute, kMoments ? pilots[0] : 0},
        relative{&places->relative, kMoments ? pilots[1] : 0} {
    absolute.bounds = &bounds->absolute;
    relative.bounds = &bounds->relative;
  }

  // Numbers of which there is one.
  template <typename X, typename Y>
  static __device__ void Widen(PairBounds& bounds, X x, Y y) {
    if constexpr (Limits<X>::kFloating) {
      bounds.absolute.Widen(static_cast<int>(Order(x)), static_cast<int>(Order(x)));
    }
    bounds.relative.Widen(static_cast<int>(Order(y)), static_cast<int>(Order(y)));
  }

  __device__ const Verdict& FoundVerdict() const { return verdict; }
  __device__ MergedStream<Absolute> AbsoluteStream() const {
    return MergedStream<Absolute>::Of(absolute);
  }
  __device__ MergedStream<Relative> RelativeStream() const {
    return MergedStream<Relative>::Of(relative);
  }

  template <int kCount>
  __device__ void Visit(const Value* a, const Value* b, int64_t start) {
    Absolute x[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) x[i] = Policy::AbsoluteOf(args, a[i], b[i]);
    const auto extent = Extent<Absolute>::template Of<kCount>(x);
    const bool any = Policy::Outside(args, extent.Upper());
    Relative y[kCount];
    if constexpr (kMoments && Policy::kAllAtOnce && kCount > 0) {
      verdict.zeros += Policy::template AllRelatives<kCount>(x, extent, b, y);
      if (any) AddFailures<kCount>(x, y, start);
      AddMoments<kCount>(x, y, start, extent);
    } else {
      VisitInSteps<kCount>(x, b, start, extent, any);
    }
  }

  template <int kCount>
  __device__ void VisitInSteps(const Absolute* x, const Value* b, int64_t start,
                               const Extent<Absolute>& extent, bool any) {
    DivisorGroup<Relative, kCount> divisors;
    verdict.zeros += Policy::template Divisors<kCount>(args, b, divisors);
    // A verdict alone needs no quotient where the absolute differences pass.
    if (!kMoments && !any) return;
    Relative y[kCount];
    const auto exact = [&](Relative* out) {
      Policy::template Relatives<kCount>(x, extent, divisors, out);
    };
    const bool near = kMoments && Policy::template NearRelatives<kCount>(x, divisors, y);
    if (!near) exact(y);
    if (any) {
      Relative exactly[kCount];
      if (near) exact(exactly);
      AddFailures<kCount>(x, near ? exactly : y, start);
    }
    if constexpr (kMoments) {
      if (!near) {
        AddMoments<kCount>(x, y, start, extent);
        return;
      }
      AddAbsolute<kCount>(x, start, extent);
      relative.template AddNear<kCount>(y, start, Extent<Relative>::template Of<kCount>(y), exact);
    }
  }

  template <int kCount>
  __device__ void AddMoments(const Absolute* x, const Relative* y, int64_t start,
                             const Extent<Absolute>& extent) {
    AddAbsolute<kCount>(x, start, extent);
    relative.template AddOrdered<kCount>(y, start, Extent<Relative>::template Of<kCount>(y));
  }

  template <int kCount>
  __device__ void AddAbsolute(const Absolute* x, int64_t start, const Extent<Absolute>& extent) {
    if constexpr (Limits<Absolute>::kFloating && kCount > 0) {
      absolute.template AddOrdered<kCount>(x, start, extent);
    } else {
      absolute.template AddWhole<kCount>(x, start, extent);
    }
  }

  __device__ bool Fails(Absolute x, Relative y) const {
    return Policy::Outside(args, x) && !(y <= static_cast<Relative>(args.relative_limit));
  }
  // Beside moments a loop, which leaves them more registers.
  template <int kCount>
  __device__ void AddFailures(const Absolute* x, const Relative* y, int64_t start) {
    if constexpr (kMoments) {
      uint32_t failing = 0;
#pragma unroll
      for (int i = 0; i < kCount; ++i) failing |= Fails(x[i], y[i]) ? 1u << i : 0u;
      for (; failing != 0; failing &= failing - 1) {
        const int i = __ffs(static_cast<int>(failing)) - 1;
        const Relative relative = Pick<kCount>(y, i);
        verdict.Add(args, Pick<kCount>(x, i), relative, start + i, [=] { return relative; });
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (Fails(x[i], y[i])) verdict.Add(args, x[i], y[i], start + i, [&] { return y[i]; });
      }
    }
  }
};

using MomentTally = std::conditional_t<Policy::kWhole, WholeTally<Policy>, TallyVisitor<true>>;

template <typename Tally>
__device__ void RunTally(const PairArgs& args, const double* pilots, PairRecord* out) {
  __shared__ typename Tally::Places places[Tally::kMoments ? kThreads : 1];
  typename Tally::Places* own = &places[Tally::kMoments ? threadIdx.x : 0];
  __shared__ PairBounds bounds;
  if constexpr (Tally::kMoments) {
    own->Clear();
    // Some of the elements tell what is no extremum from the start.
    if (threadIdx.x == 0) bounds = *reinterpret_cast<const PairBounds*>(pilots + 2);
    __syncthreads();
  }
  Tally tally(args, own, &bounds, pilots);
  ForEachGroup<Tally::kMoments ? kMomentUnroll : kLightUnroll>(args, tally);
  auto verdict = MergedVerdict::Of(tally.FoundVerdict());
  MergeBlock(verdict);
  PairRecord record{
      verdict.mismatches, verdict.first_mismatch, verdict.zeros, verdict.worst, {}, {}};
  if constexpr (Tally::kMoments) {
    auto absolute = tally.AbsoluteStream();
    MergeBlock(absolute);
    auto relative = tally.RelativeStream();
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
    Absolute x[kCount];
    Relative y[kCount];
    DivisorGroup<Relative, kCount> divisors;
#pragma unroll
    for (int i = 0; i < kCount; ++i) x[i] = Policy::AbsoluteOf(args, a[i], b[i]);
    Policy::template Divisors<kCount>(args, b, divisors);
    Policy::template Relatives<kCount>(x, Extent<Absolute>::template Of<kCount>(x), divisors, y);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      absolute.Add(x[i]);
      relative.Add(y[i]);
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
// number would do; one of the data keeps the sums of squares small. Behind the means, PairBounds.
extern "C" __global__ void __launch_bounds__(kThreads) pair_pilot(PairArgs args, double* pilots) {
  __shared__ double sums[2][kThreads];
  __shared__ PairBounds bounds;
  if (threadIdx.x == 0) bounds.Clear();
  __syncthreads();
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
    if (absolute == absolute && relative == relative) {
      MomentTally::Widen(bounds, absolute, relative);
    }
  }
  for (int k = 0; k < 2; ++k) sums[k][threadIdx.x] = sum[k];
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    for (int k = 0; k < 2; ++k) sums[k][threadIdx.x] += sums[k][threadIdx.x + half];
  }
  __syncthreads();
  if (threadIdx.x == 0) *reinterpret_cast<PairBounds*>(pilots + 2) = bounds;
  if (threadIdx.x >= 2) return;
  double total = sums[threadIdx.x][0];
  const int64_t sampled = (args.count + step - 1) / step;
  total = __ddiv_rn(total, static_cast<double>(sampled > 0 ? sampled : 1));
  if (threadIdx.x == 0 && !Limits<Absolute>::kFloating) total = rint(total);
  pilots[threadIdx.x] = fabs(total) < Infinity() ? total : 0;
}

extern "C" __global__ void __launch_bounds__(kThreads, kMomentBlocks)
    pair_moments(PairArgs args, const double* pilots, PairRecord* out) {
  RunTally<MomentTally>(args, pilots, out);
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    pair_verdict(PairArgs args, const double* pilots, PairRecord* out) {
  RunTally<TallyVisitor<false>>(args, pilots, out);
}

// One record of many, in an order that depends on their number alone.
extern "C" __global__ void __launch_bounds__(kThreads)
    pair_merge(const PairRecord* records, uint32_t count, PairRecord* out) {
  const uint32_t share = (count + kThreads - 1) / kThreads;
  const uint32_t first = ::min(threadIdx.x * share, count);
  const uint32_t end = ::min(first + share, count);
  // A thread without a record takes one that says nothing.
  StreamPlaces nowhere;
  nowhere.Clear();
  MergedVerdict verdict{0, kNowhere, 0, 0};
  auto absolute = MergedStream<Absolute>::Of(StreamState<Absolute, false>{&nowhere, 0});
  auto relative = MergedStream<Relative>::Of(StreamState<Relative, false>{&nowhere, 0});
  for (uint32_t i = first; i < end; ++i) {
    const PairRecord& r = records[i];
    verdict.Merge({r.mismatches, r.first_mismatch, r.zeros_in_b, r.worst_ratio});
    absolute.Merge(MergedStream<Absolute>::Of(r.absolute));
    relative.Merge(MergedStream<Relative>::Of(r.relative));
  }
  MergeBlock(verdict);
  MergeBlock(absolute);
  MergeBlock(relative);
  if (threadIdx.x != 0) return;
  *out = {verdict.mismatches, verdict.first_mismatch, verdict.zeros,
          verdict.worst,      absolute.Record(),      relative.Record()};
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    pair_first_digit(PairArgs args, DigitArgs digits, unsigned long long* counts) {
  ClearCounters(digits);
  const uint32_t relative_base = 1u << kFirstDigitBits;
  DifferenceVisitor<FirstDigitCounter<Absolute, false>, FirstDigitCounter<Relative, false>> visitor{
      args, {digits.shift, 0}, {digits.shift, relative_base}};
  ForEachGroup<kRankUnroll>(args, visitor);
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
  ForEachGroup<kRankUnroll>(args, visitor);
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
  ForEachGroup<kRankUnroll>(args, visitor);
}

extern "C" __global__ void __launch_bounds__(kThreads, 3)
    pair_products(PairArgs args, ProductRecord* out) {
  if constexpr (!Policy::kProducts) return;
  ProductVisitor visitor;
  ForEachGroup<kRankUnroll>(args, visitor);
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
