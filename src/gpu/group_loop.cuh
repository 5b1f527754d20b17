// Showing all elements of two arrays to a visitor.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gpu/kernel_records.h"

namespace vernier::gpu {

// What visitors want to see of what was loaded: values, or operands as their Numbers make them, of
// which they take a whole group.
template <typename Policy, int kValueStep, typename Visitor, typename = void>
struct Decoding {
  using Operand = typename Policy::Value;
  static constexpr int kStep = kValueStep;
  static __device__ void Decode(const typename Policy::Raw& raw, Operand* a, Operand* b) {
    Policy::Decode(raw, a, b);
  }
  static __device__ Operand OperandOf(Operand value) { return value; }
};
template <typename Policy, int kValueStep, typename Visitor>
struct Decoding<Policy, kValueStep, Visitor, std::void_t<typename Visitor::Numbers>>
    : Visitor::Numbers {
  using Operand = typename Visitor::Operand;
  static constexpr int kStep = Policy::kWidth;
  static __device__ void Decode(const typename Policy::Raw& raw, Operand* a, Operand* b) {
    Visitor::Numbers::Decode(raw.a, a);
    Visitor::Numbers::Decode(raw.b, b);
  }
};

// Instead of a number of groups that are loaded together: while one is used, the next is on its
// way.
inline constexpr int kAhead = 0;

// kUnroll: groups loaded before the first is used, so that memory always has something to do.
// kStep: elements that are shown together.
template <typename Policy, int kUnroll, int kStep>
struct GroupLoop {
  using Raw = typename Policy::Raw;
  static constexpr int kWidth = Policy::kWidth;

  // Calls `visitor.template Visit<n>(a, b, start)` for every group of elements, in rising order
  // within a thread. What does not fill a group comes last, in the grid's first thread.
  template <typename Visitor>
  static __device__ void Run(const PairArgs& args, Visitor& visitor) {
    const int64_t groups = args.count / kWidth;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if constexpr (kUnroll == kAhead) {
      RunAhead(args, first, groups, stride, visitor);
    } else {
      RunUnrolled(args, first, groups, stride, visitor);
    }
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    for (int64_t i = groups * kWidth; i < args.count; ++i) {
      typename Policy::Value a;
      typename Policy::Value b;
      Policy::One(args, i, a, b);
      const auto x = Decoding<Policy, kStep, Visitor>::OperandOf(a);
      const auto y = Decoding<Policy, kStep, Visitor>::OperandOf(b);
      visitor.template Visit<1>(&x, &y, i);
    }
  }

 private:
  template <typename Visitor>
  static __device__ void RunAhead(const PairArgs& args, int64_t group, int64_t groups,
                                  int64_t stride, Visitor& visitor) {
    if (group >= groups) return;
    Raw next = Policy::Fetch(args, group * kWidth);
    while (true) {
      const Raw here = next;
      const int64_t start = group * kWidth;
      group += stride;
      const bool more = group < groups;
      if (more) next = Policy::Fetch(args, group * kWidth);
      Show(visitor, here, start);
      if (!more) return;
    }
  }

  template <typename Visitor>
  static __device__ void RunUnrolled(const PairArgs& args, int64_t group, int64_t groups,
                                     int64_t stride, Visitor& visitor) {
    for (; group + (kUnroll - 1) * stride < groups; group += kUnroll * stride) {
      Raw raw[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) raw[u] = Policy::Fetch(args, (group + u * stride) * kWidth);
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) Show(visitor, raw[u], (group + u * stride) * kWidth);
    }
    for (; group < groups; group += stride) {
      Show(visitor, Policy::Fetch(args, group * kWidth), group * kWidth);
    }
  }

  template <typename Visitor>
  static __device__ void Show(Visitor& visitor, const Raw& raw, int64_t start) {
    using Groups = Decoding<Policy, kStep, Visitor>;
    typename Groups::Operand a[kWidth];
    typename Groups::Operand b[kWidth];
    Groups::Decode(raw, a, b);
#pragma unroll
    for (int i = 0; i < kWidth; i += Groups::kStep) {
      visitor.template Visit<Groups::kStep>(a + i, b + i, start + i);
    }
  }
};

}  // namespace vernier::gpu
