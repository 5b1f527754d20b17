// Kernels over one array. Compiled to PTX once for each VERNIER_VARIANT that CMakeLists.txt lists.
#include "gpu/element_loads.cuh"
#include "gpu/rank_digits.cuh"
#include "gpu/stream_state.cuh"

namespace vernier::gpu {
namespace {

template <typename LoaderType, typename T>
struct Values {
  using Loader = LoaderType;
  using Type = T;
};
using Float32Values = Values<Float32Loader, float>;
using Float16Values = Values<Float16Loader, float>;
using BFloat16Values = Values<BFloat16Loader, float>;
using SmallValues = Values<AnyLoader<float>, float>;
using Float64Values = Values<Float64Loader, double>;
using RealValues = Values<AnyLoader<double>, double>;
using SignedValues = Values<AnyLoader<int64_t>, int64_t>;
using UnsignedValues = Values<AnyLoader<uint64_t>, uint64_t>;
using Int16Values = Values<WordLoader<int16_t, int64_t>, int64_t>;
using Uint16Values = Values<WordLoader<uint16_t, int64_t>, int64_t>;
using Int32Values = Values<WordLoader<int32_t, int64_t>, int64_t>;
using Uint32Values = Values<WordLoader<uint32_t, int64_t>, int64_t>;
using Int64Values = Values<WordLoader<int64_t, int64_t>, int64_t>;
using Uint64Values = Values<WordLoader<uint64_t, uint64_t>, uint64_t>;

using Loader = VERNIER_VARIANT::Loader;
using Type = VERNIER_VARIANT::Type;
constexpr int kWidth = Loader::kWidth;
constexpr int kUnroll = kWidth == 1 ? 1 : kWidth == 8 && sizeof(Type) == 8 ? 2 : 4;
constexpr bool kSigned = !std::is_same_v<Type, uint64_t>;

// As in pair.cu.
template <typename Visitor>
__device__ void ForEachGroup(const ValueArgs& args, Visitor& visitor) {
  const int64_t groups = args.count / kWidth;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
  int64_t group = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (; group + (kUnroll - 1) * stride < groups; group += kUnroll * stride) {
    Type values[kUnroll][kWidth];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      Loader::Decode(Loader::Fetch(args.values, args.type, (group + u * stride) * kWidth),
                     values[u]);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      visitor.template Visit<kWidth>(values[u], (group + u * stride) * kWidth);
    }
  }
  for (; group < groups; group += stride) {
    Type values[kWidth];
    Loader::Decode(Loader::Fetch(args.values, args.type, group * kWidth), values);
    visitor.template Visit<kWidth>(values, group * kWidth);
  }
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  for (int64_t i = groups * kWidth; i < args.count; ++i) {
    const Type value = Loader::One(args.values, args.type, i);
    visitor.template Visit<1>(&value, i);
  }
}

struct MomentsVisitor {
  StreamState<Type, kSigned> state;

  template <int kCount>
  __device__ void Visit(const Type* values, int64_t start) {
    state.template Add<kCount>(values, start);
  }
};

// Shows every element to a visitor.
template <typename Visitor>
struct ElementVisitor {
  Visitor visitor;

  template <int kCount>
  __device__ void Visit(const Type* values, int64_t) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) visitor.Add(values[i]);
  }
};

}  // namespace

// As pair_pilot.
extern "C" __global__ void __launch_bounds__(kThreads) values_pilot(ValueArgs args, double* pilot) {
  __shared__ double sums[kThreads];
  const int64_t step = args.count / kThreads + 1;
  const int64_t place = step * threadIdx.x;
  const double value =
      place < args.count ? static_cast<double>(Loader::One(args.values, args.type, place)) : 0;
  sums[threadIdx.x] = fabs(value) < Infinity() ? value : 0;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double total = 0;
  for (unsigned i = 0; i < kThreads; ++i) total += sums[i];
  const int64_t sampled = (args.count + step - 1) / step;
  total = __ddiv_rn(total, static_cast<double>(sampled > 0 ? sampled : 1));
  *pilot = fabs(total) < Infinity() ? total : 0;
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    values_moments(ValueArgs args, const double* pilot, StreamRecord* out) {
  __shared__ StreamPlaces places[kThreads];
  places[threadIdx.x].Clear();
  MomentsVisitor visitor{{&places[threadIdx.x], *pilot}};
  ForEachGroup(args, visitor);
  auto merged = MergedStream<Type>::Of(visitor.state);
  MergeBlock(merged);
  if (threadIdx.x == 0) out[blockIdx.x] = merged.Record();
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    values_first_digit(ValueArgs args, DigitArgs digits, unsigned long long* counts) {
  ClearCounters(digits);
  ElementVisitor<FirstDigitCounter<Type, kSigned>> visitor{{digits.shift, 0}};
  ForEachGroup(args, visitor);
  visitor.visitor.Flush();
  StoreCounters(digits, counts);
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    values_digit(ValueArgs args, DigitArgs digits, unsigned long long* counts) {
  __shared__ SharedPrefixes shared;
  ClearCounters(digits);
  const DigitPlan plan = StartDigits(digits, shared);
  ElementVisitor<DigitCounter<Type, kSigned, 0>> visitor{{plan, shared}};
  ForEachGroup(args, visitor);
  visitor.visitor.Flush();
  StoreCounters(digits, counts);
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    values_gather(ValueArgs args, DigitArgs digits, GatherArgs out) {
  __shared__ SharedPrefixes shared;
  const DigitPlan plan = StartDigits(digits, shared);
  ElementVisitor<KeyGatherer<Type, kSigned, 0>> visitor{{plan, shared, out}};
  ForEachGroup(args, visitor);
}

}  // namespace vernier::gpu
