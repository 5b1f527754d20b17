#include "compare/outputs/validate.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"

namespace vernier {
namespace {

bool IsNan(float value) { return std::isnan(value); }
bool IsNan(double value) { return std::isnan(value); }
bool IsNan(const std::complex<double>& value) {
  return std::isnan(value.real()) || std::isnan(value.imag());
}
bool IsFinite(float value) { return std::isfinite(value); }
bool IsFinite(double value) { return std::isfinite(value); }
bool IsFinite(const std::complex<double>& value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

// Calls `function(index, value)` for every element of a floating or complex tensor.
template <typename T, typename Function>
void ForEach(const Tensor& tensor, Function function) {
  const ElementSpan elements = Elements(tensor);
  std::vector<T> scratch(kBlockSize);
  for (int64_t start = 0; start < elements.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, elements.count - start));
    const T* values = LoadBlock(elements, start, n, scratch.data());
    for (size_t i = 0; i < n; ++i) function(start + static_cast<int64_t>(i), values[i]);
  }
}

template <typename Function>
void ForEachFloating(const Tensor& tensor, Function function) {
  switch (NaturalArithmetic(tensor.dtype())) {
    case Arithmetic::kFloat32:
      ForEach<float>(tensor, function);
      break;
    case Arithmetic::kFloat64:
      ForEach<double>(tensor, function);
      break;
    case Arithmetic::kComplex:
      ForEach<std::complex<double>>(tensor, function);
      break;
    default:
      break;
  }
}

}  // namespace

Validation ValidateTensor(const Tensor& tensor) {
  Validation validation;
  ForEachFloating(tensor, [&validation](int64_t, const auto& value) {
    validation.nan_count += IsNan(value) ? 1 : 0;
    validation.non_finite_count += IsFinite(value) ? 0 : 1;
  });
  return validation;
}

Result<Tensor> InvalidElements(const Tensor& tensor, ValidityTest test) {
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(DType::kBool, tensor.dims()));
  const std::span<uint8_t> flags = buffer.As<uint8_t>();
  std::fill(flags.begin(), flags.end(), uint8_t{0});
  ForEachFloating(tensor, [&flags, test](int64_t index, const auto& value) {
    const bool invalid = test == ValidityTest::kNan ? IsNan(value) : !IsFinite(value);
    flags[static_cast<size_t>(index)] = invalid ? 1 : 0;
  });
  return std::move(buffer).Freeze();
}

}  // namespace vernier
