#include "kernels/measures/products.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/measures/compensated_sum.h"
#include "kernels/measures/difference_dispatch.h"

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

  /// `difference` gives that of the elements at a place, in Wide.
  template <typename Wide, typename T, typename Difference>
  void Add(const T* a, const T* b, size_t n, Difference difference_at) {
    double dots = 0;
    double a_squares = 0;
    double b_squares = 0;
    double difference_squares = 0;
    for (size_t i = 0; i < n; ++i) {
      const auto wide_a = static_cast<Wide>(a[i]);
      const auto wide_b = static_cast<Wide>(b[i]);
      const Wide difference = difference_at(i);
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

ProductSums Finish(const Accumulator& sums, int64_t count) {
  ProductSums out;
  if (count == 0) return out;
  out.dot = sums.dot.value();
  out.a_squared = sums.a_squared.value();
  out.b_squared = sums.b_squared.value();
  out.difference_squared = sums.difference_squared.value();
  out.a_max = sums.a_has_nan ? std::numeric_limits<double>::quiet_NaN() : sums.a_max;
  return out;
}

template <typename Wide, typename T>
ProductSums Run(const ElementSpan& a, const ElementSpan& b) {
  std::vector<T> a_block(kBlockSize);
  std::vector<T> b_block(kBlockSize);
  Accumulator sums;
  for (int64_t start = 0; start < a.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, a.count - start));
    const T* x = LoadBlock(a, start, n, a_block.data());
    const T* y = LoadBlock(b, start, n, b_block.data());
    sums.Add<Wide>(x, y, n, [&](size_t i) { return static_cast<Wide>(x[i] - y[i]); });
  }
  return Finish(sums, a.count);
}

// Integers of 64 bits: subtracted before they are rounded to float64.
template <typename Reader>
ProductSums RunExact(Reader reader, const ElementSpan& a, const ElementSpan& b) {
  std::vector<double> a_block(kBlockSize), b_block(kBlockSize), relative(kBlockSize);
  std::vector<typename Reader::Absolute> absolute(kBlockSize);
  Accumulator sums;
  for (int64_t start = 0; start < a.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, a.count - start));
    reader.Read(start, n, absolute.data(), relative.data());
    sums.Add<double>(LoadBlock(a, start, n, a_block.data()), LoadBlock(b, start, n, b_block.data()),
                     n, [&](size_t i) { return static_cast<double>(absolute[i]); });
  }
  return Finish(sums, a.count);
}

double LargestPart(double value) { return std::fabs(value); }
double LargestPart(const std::complex<double>& value) {
  const double real = std::fabs(value.real()), imaginary = std::fabs(value.imag());
  return std::isnan(imaginary) || imaginary > real ? imaginary : real;
}

double Divided(double value, int exponent) { return std::scalbn(value, -exponent); }
std::complex<double> Divided(const std::complex<double>& value, int exponent) {
  return {std::scalbn(value.real(), -exponent), std::scalbn(value.imag(), -exponent)};
}

// Of the elements; of complex ones, of their parts.
template <typename T>
double LargestMagnitude(const ElementSpan& elements) {
  std::vector<T> block(kBlockSize);
  double largest = 0;
  for (int64_t start = 0; start < elements.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, elements.count - start));
    const T* values = LoadBlock(elements, start, n, block.data());
    for (size_t i = 0; i < n; ++i) {
      const double magnitude = LargestPart(values[i]);
      // A NaN is kept.
      if (!(magnitude <= largest)) largest = magnitude;
      if (std::isnan(largest)) return largest;
    }
  }
  return largest;
}

// Of finite numbers whose squares float64 cannot hold: all divided by one power of two.
template <typename T>
ProductSums RunScaled(const ElementSpan& a, const ElementSpan& b, int exponent) {
  std::vector<T> a_block(kBlockSize), b_block(kBlockSize), x(kBlockSize), y(kBlockSize);
  Accumulator sums;
  for (int64_t start = 0; start < a.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, a.count - start));
    const T* a_values = LoadBlock(a, start, n, a_block.data());
    const T* b_values = LoadBlock(b, start, n, b_block.data());
    for (size_t i = 0; i < n; ++i) {
      x[i] = Divided(a_values[i], exponent);
      y[i] = Divided(b_values[i], exponent);
    }
    sums.Add<T>(x.data(), y.data(), n, [&](size_t i) { return x[i] - y[i]; });
  }
  ProductSums out = Finish(sums, a.count);
  out.exponent = exponent;
  return out;
}

template <typename T>
std::optional<ProductSums> ScaledSums(const ElementSpan& a, const ElementSpan& b) {
  const double largest_a = LargestMagnitude<T>(a);
  if (!std::isfinite(largest_a)) return std::nullopt;
  const double largest = std::max(largest_a, LargestMagnitude<T>(b));
  if (!std::isfinite(largest) || largest == 0) return std::nullopt;
  return RunScaled<T>(a, b, std::ilogb(largest));
}

bool IsComplexPair(const ElementSpan& a, const ElementSpan& b) {
  return Kind(a.dtype) == DTypeKind::kComplex || Kind(b.dtype) == DTypeKind::kComplex;
}

}  // namespace

bool AreFinite(const ProductSums& sums) {
  return std::isfinite(sums.dot) && std::isfinite(sums.a_squared) &&
         std::isfinite(sums.b_squared) && std::isfinite(sums.difference_squared);
}

bool NeedScale(DType a, DType b, const ProductSums& sums) {
  // Far above what float64 rounds away of squares, of however many elements.
  constexpr double kLeast = 0x1p-900;
  if (!AreFinite(sums)) return true;
  const auto is_long = [](DType dtype) {
    return dtype == DType::kFloat64 || dtype == DType::kComplex128;
  };
  return (is_long(a) || is_long(b)) && std::max(sums.a_squared, sums.b_squared) < kLeast;
}

std::optional<ProductSums> ScaledProductSums(const ElementSpan& a, const ElementSpan& b) {
  if (IsComplexPair(a, b)) return ScaledSums<std::complex<double>>(a, b);
  const auto is_float = [](DType dtype) { return Kind(dtype) == DTypeKind::kFloat; };
  if (!is_float(a.dtype) && !is_float(b.dtype)) return std::nullopt;
  return ScaledSums<double>(a, b);
}

Result<ProductSums> ComputeProductSums(const ElementSpan& a, const ElementSpan& b) {
  if (!IsNumeric(a.dtype) || !IsNumeric(b.dtype) || a.count != b.count) {
    return InvalidArgument("cannot multiply " + std::to_string(a.count) + " elements of type " +
                           std::string(DTypeName(a.dtype)) + " with " + std::to_string(b.count) +
                           " of type " + std::string(DTypeName(b.dtype)));
  }
  if (IsComplexPair(a, b)) {
    const ProductSums sums = Run<std::complex<double>, std::complex<double>>(a, b);
    return NeedScale(a.dtype, b.dtype, sums) ? ScaledProductSums(a, b).value_or(sums) : sums;
  }
  const bool narrow = IsSmallFloatOrBool(a.dtype) && IsSmallFloatOrBool(b.dtype);
  if (!narrow && IsInteger(a.dtype) && IsInteger(b.dtype)) {
    return RunExact(IntegerDifferences(a, b), a, b);
  }
  const DifferenceRule rule{.exact_integers = true};
  const ProductSums sums =
      narrow ? Run<double, float>(a, b) : RunExact(RealDifferences<double>(a, b, rule), a, b);
  if (!NeedScale(a.dtype, b.dtype, sums)) return sums;
  return ScaledProductSums(a, b).value_or(sums);
}

}  // namespace vernier
