#include "decide/kinds/decided_classes.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "decide/kinds/class_rows.h"
#include "decide/kinds/kinds.h"
#include "decide/kinds/row_top.h"
#include "kernels/elements/float_formats.h"

namespace vernier {
namespace {

// To the nearest, of two the even one.
float RoundToBFloat16(float value) {
  constexpr uint32_t kHalf = 0x7fffU, kKept = 0xffff0000U;
  const auto bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits + kHalf + ((bits >> 16U) & 1U)) & kKept);
}

template <typename T>
std::vector<int64_t> LargestClasses(const DecisionPlan& decision, const Tensor& output,
                                    int64_t row) {
  RowReader<T> rows(output, RowsAlongAxis(output.dims(), *ClassAxis(decision, output.dims())));
  std::vector<size_t> places;
  FindLargest<T>(rows.Row(row), static_cast<size_t>(decision.k), places);
  std::vector<int64_t> classes(places.begin(), places.end());
  std::ranges::sort(classes);
  return classes;
}

template <typename T>
std::vector<int64_t> ClassesFromLimit(const DecisionPlan& decision, const Tensor& output,
                                      int64_t row) {
  const int64_t size = SamplesOf(output.dims()).size;
  const WideFloat least = LimitAs(output.dtype(), decision.limit);
  PartReader<T> parts(output, size);
  const T* const values = parts.Part(row);
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < size; ++i) {
    if (static_cast<WideFloat>(values[i]) >= least) classes.push_back(i);
  }
  return classes;
}

}  // namespace

double LimitAs(DType dtype, double limit) {
  switch (dtype) {
    case DType::kFloat16:
      return HalfToFloat(DoubleToHalf(limit));
    case DType::kBFloat16:
      return RoundToBFloat16(static_cast<float>(limit));
    case DType::kFloat32:
      return static_cast<float>(limit);
    default:
      return limit;
  }
}

std::vector<int64_t> ClassesDecided(const DecisionPlan& decision, const Tensor& output,
                                    int64_t row) {
  return WithArithmetic(output, output, [&](auto zero) {
    using T = decltype(zero);
    return decision.kind == DecisionKind::kThreshold ? ClassesFromLimit<T>(decision, output, row)
                                                     : LargestClasses<T>(decision, output, row);
  });
}

}  // namespace vernier
