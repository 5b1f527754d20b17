#include "kernels/products.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/compensated_sum.h"

namespace vernier {
namespace {

bool IsSmallFloatOrBool(DType dtype) {
  return dtype == DType::kBool || NaturalArithmetic(dtype) == Arithmetic::kFloat32;
}

bool IsNumeric(DType dtype) {
  const DTypeKind kind = Kind(dtype);
  return kind != DTypeKind::kString && kind != DTypeKind::kNone;
}

double ConjugateProduct(double x, double y) { return x * y; }
double ConjugateProduct(const std::complex<double>& x, const std::complex<double>& y) {
  return x.real() * y.real() + x.imag() * y.imag();
}
double Size(double value) { return value; }
double Size(const std::complex<double>& value) { return std::hypot(value.real(), value.imag()); }

struct Accumulator {
  CompensatedSum dot;
  CompensatedSum a_squared;
  CompensatedSum b_squared;
  CompensatedSum difference_squared;
  double a_max = -std::numeric_limits<double>::infinity();
  bool a_has_nan = false;

  template <typename Wide, typename T>
  void Add(const T* a, const T* b, size_t n) {
    double dots = 0;
    double a_squares = 0;
    double b_squares = 0;
    double difference_squares = 0;
    for (size_t i = 0; i < n; ++i) {
      const auto wide_a = static_cast<Wide>(a[i]);
      const auto wide_b = static_cast<Wide>(b[i]);
      const auto difference = static_cast<Wide>(a[i] - b[i]);
      dots += ConjugateProduct(wide_a, wide_b);
      a_squares += ConjugateProduct(wide_a, wide_a);
      b_squares += ConjugateProduct(wide_b, wide_b);
      difference_squares += ConjugateProduct(difference, difference);
      const double size = Size(wide_a);
      a_has_nan |= size != size;
      a_max = size > a_max ? size : a_max;
    }
    dot.Add(dots);
    a_squared.Add(a_squares);
    b_squared.Add(b_squares);
    difference_squared.Add(difference_squares);
  }
};

template <typename Wide, typename T>
ProductSums Run(const ElementSpan& a, const ElementSpan& b) {
  std::vector<T> a_block(kBlockSize);
  std::vector<T> b_block(kBlockSize);
  Accumulator sums;
  for (int64_t start = 0; start < a.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, a.count - start));
    sums.Add<Wide>(LoadBlock(a, start, n, a_block.data()), LoadBlock(b, start, n, b_block.data()),
                   n);
  }
  ProductSums out;
  if (a.count == 0) return out;
  out.dot = sums.dot.value();
  out.a_squared = sums.a_squared.value();
  out.b_squared = sums.b_squared.value();
  out.difference_squared = sums.difference_squared.value();
  out.a_max = sums.a_has_nan ? std::numeric_limits<double>::quiet_NaN() : sums.a_max;
  return out;
}

}  // namespace

Result<ProductSums> ComputeProductSums(const ElementSpan& a, const ElementSpan& b) {
  if (!IsNumeric(a.dtype) || !IsNumeric(b.dtype) || a.count != b.count) {
    return InvalidArgument("cannot multiply " + std::to_string(a.count) + " elements of type " +
                           std::string(DTypeName(a.dtype)) + " with " + std::to_string(b.count) +
                           " of type " + std::string(DTypeName(b.dtype)));
  }
  if (Kind(a.dtype) == DTypeKind::kComplex || Kind(b.dtype) == DTypeKind::kComplex) {
    return Run<std::complex<double>, std::complex<double>>(a, b);
  }
  if (IsSmallFloatOrBool(a.dtype) && IsSmallFloatOrBool(b.dtype)) return Run<double, float>(a, b);
  return Run<double, double>(a, b);
}

}  // namespace vernier
