// Blocks of differences, one reader per arithmetic. Internal to kernels/measures/difference.cc.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/elements/element_blocks.h"
#include "kernels/measures/difference.h"

namespace vernier {

inline constexpr double kZeroReplacement = 0x1p-52;

// What every reader has:
//   Absolute, Relative            element types of the two blocks
//   kAbsolute, kRelative          the dtypes that stand for them
//   int64_t Read(start, n, absolute, relative)   fills both, returns how many zeros in B it
//   replaced

/// What was lost of an integer of 64 bits that was rounded to float64.
inline double LostAt(const ElementSpan& elements, int64_t place, double rounded) {
  if (elements.dtype != DType::kInt64 && elements.dtype != DType::kUint64) return 0;
  if (!(std::fabs(rounded) >= 0x1p53)) return 0;
  uint64_t bits;
  std::memcpy(&bits, elements.bytes.data() + static_cast<size_t>(place) * sizeof(bits),
              sizeof(bits));
  // Modulo 2^64: what was lost is small.
  uint64_t kept = 0;
  if (rounded < 0) {
    kept = static_cast<uint64_t>(static_cast<int64_t>(rounded));
  } else if (rounded < 0x1p64) {
    kept = static_cast<uint64_t>(rounded);
  }
  return static_cast<double>(static_cast<int64_t>(bits - kept));
}

/// Real numbers in float32 or float64 operations.
template <typename T>
class RealDifferences {
 public:
  using Absolute = T;
  using Relative = T;
  static constexpr DType kAbsolute = sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
  static constexpr DType kRelative = kAbsolute;

  RealDifferences(const ElementSpan& a, const ElementSpan& b, const DifferenceRule& rule)
      : a_(a),
        b_(b),
        replaces_zero_(Kind(b.dtype) == DTypeKind::kFloat),
        infinities_equal_(rule.infinities_equal),
        halves_(rule.halves_where_needed),
        exact_integers_(sizeof(T) == 8 && rule.exact_integers) {}

  int64_t Read(int64_t start, size_t n, T* absolute, T* relative) {
    const T* a = LoadBlock(a_, start, n, a_block_);
    const T* b = LoadBlock(b_, start, n, b_block_);
    for (size_t i = 0; i < n; ++i) absolute[i] = std::fabs(a[i] - b[i]);
    if (exact_integers_) AddLost(a, b, start, n, absolute);
    if (infinities_equal_) {
      for (size_t i = 0; i < n; ++i) {
        if (std::isinf(a[i]) && a[i] == b[i]) absolute[i] = 0;
      }
    }
    if (!replaces_zero_) {
      for (size_t i = 0; i < n; ++i) relative[i] = absolute[i] / std::fabs(b[i]);
      if (halves_) DivideHalves(a, b, n, absolute, relative);
      return 0;
    }
    int64_t zeros = 0;
    for (size_t i = 0; i < n; ++i) {
      zeros += b[i] == 0 ? 1 : 0;
      const T magnitude = b[i] == 0 ? static_cast<T>(kZeroReplacement) : std::fabs(b[i]);
      relative[i] = absolute[i] / magnitude;
    }
    if (halves_) DivideHalves(a, b, n, absolute, relative);
    return zeros;
  }

 private:
  void AddLost(const T* a, const T* b, int64_t start, size_t n, T* absolute) const {
    for (size_t i = 0; i < n; ++i) {
      const int64_t place = start + static_cast<int64_t>(i);
      const double lost = LostAt(a_, place, a[i]) - LostAt(b_, place, b[i]);
      if (lost != 0) absolute[i] = static_cast<T>(std::fabs((a[i] - b[i]) + lost));
    }
  }

  // Of finite numbers that lie further apart than T can say. B is not 0 there.
  static void DivideHalves(const T* a, const T* b, size_t n, const T* absolute, T* relative) {
    for (size_t i = 0; i < n; ++i) {
      if (!std::isinf(absolute[i]) || !std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
      relative[i] = std::fabs(a[i] / 2 - b[i] / 2) / std::fabs(b[i] / 2);
    }
  }

  ElementSpan a_;
  ElementSpan b_;
  bool replaces_zero_;
  bool infinities_equal_;
  bool halves_;
  bool exact_integers_;
  T a_block_[kBlockSize];
  T b_block_[kBlockSize];
};

/// Float32 operands whose equal infinities match: Polygraphy's array of differences is then
/// float64, and so is the division.
class WidenedDifferences {
 public:
  using Absolute = double;
  using Relative = double;
  static constexpr DType kAbsolute = DType::kFloat64;
  static constexpr DType kRelative = DType::kFloat64;

  WidenedDifferences(const ElementSpan& a, const ElementSpan& b, const DifferenceRule& rule)
      : b_(b), narrow_(a, b, rule), replaces_zero_(Kind(b.dtype) == DTypeKind::kFloat) {}

  int64_t Read(int64_t start, size_t n, double* absolute, double* relative) {
    const int64_t zeros = narrow_.Read(start, n, absolute_block_, relative_block_);
    const float* b = LoadBlock(b_, start, n, b_block_);
    for (size_t i = 0; i < n; ++i) {
      const double magnitude =
          b[i] == 0 && replaces_zero_ ? kZeroReplacement : std::fabs(static_cast<double>(b[i]));
      absolute[i] = static_cast<double>(absolute_block_[i]);
      const bool halved = std::isinf(absolute[i]) && std::isfinite(relative_block_[i]);
      relative[i] = halved ? static_cast<double>(relative_block_[i]) : absolute[i] / magnitude;
    }
    return zeros;
  }

 private:
  ElementSpan b_;
  RealDifferences<float> narrow_;
  bool replaces_zero_;
  float absolute_block_[kBlockSize];
  float relative_block_[kBlockSize];
  float b_block_[kBlockSize];
};

/// Integers, exactly. A negative number against a uint64 beyond 2^64 - 1 apart saturates.
class IntegerDifferences {
 public:
  using Absolute = uint64_t;
  using Relative = double;
  static constexpr DType kAbsolute = DType::kUint64;
  static constexpr DType kRelative = DType::kFloat64;

  IntegerDifferences(const ElementSpan& a, const ElementSpan& b)
      : a_(a),
        b_(b),
        a_unsigned_(a.dtype == DType::kUint64),
        b_unsigned_(b.dtype == DType::kUint64) {}

  int64_t Read(int64_t start, size_t n, uint64_t* absolute, double* relative) {
    if (!a_unsigned_ && !b_unsigned_) {
      ReadSigned(start, n, absolute, relative);
      return 0;
    }
    LoadParts(a_, a_unsigned_, start, n, a_magnitude_, a_negative_);
    LoadParts(b_, b_unsigned_, start, n, b_magnitude_, b_negative_);
    for (size_t i = 0; i < n; ++i) {
      const uint64_t a = a_magnitude_[i];
      const uint64_t b = b_magnitude_[i];
      const uint64_t apart = a > b ? a - b : b - a;
      const uint64_t together = a + b < a ? UINT64_MAX : a + b;
      absolute[i] = a_negative_[i] == b_negative_[i] ? apart : together;
      relative[i] = static_cast<double>(absolute[i]) / static_cast<double>(b);
    }
    return 0;
  }

 private:
  void ReadSigned(int64_t start, size_t n, uint64_t* absolute, double* relative) {
    const int64_t* a = LoadBlock(a_, start, n, a_block_);
    const int64_t* b = LoadBlock(b_, start, n, b_block_);
    for (size_t i = 0; i < n; ++i) {
      const auto high = static_cast<uint64_t>(a[i] > b[i] ? a[i] : b[i]);
      const auto low = static_cast<uint64_t>(a[i] > b[i] ? b[i] : a[i]);
      absolute[i] = high - low;
      relative[i] = static_cast<double>(absolute[i]) / std::fabs(static_cast<double>(b[i]));
    }
  }

  // Sign and magnitude, which hold both int64 and uint64.
  void LoadParts(const ElementSpan& elements, bool is_unsigned, int64_t start, size_t n,
                 uint64_t* magnitude, bool* negative) {
    if (is_unsigned) {
      uint64_t scratch[kBlockSize];
      const uint64_t* values = LoadBlock(elements, start, n, scratch);
      for (size_t i = 0; i < n; ++i) {
        magnitude[i] = values[i];
        negative[i] = false;
      }
      return;
    }
    const int64_t* values = LoadBlock(elements, start, n, a_block_);
    for (size_t i = 0; i < n; ++i) {
      negative[i] = values[i] < 0;
      magnitude[i] = negative[i] ? uint64_t{0} - static_cast<uint64_t>(values[i])
                                 : static_cast<uint64_t>(values[i]);
    }
  }

  ElementSpan a_;
  ElementSpan b_;
  bool a_unsigned_;
  bool b_unsigned_;
  int64_t a_block_[kBlockSize];
  int64_t b_block_[kBlockSize];
  uint64_t a_magnitude_[kBlockSize];
  uint64_t b_magnitude_[kBlockSize];
  bool a_negative_[kBlockSize];
  bool b_negative_[kBlockSize];
};

/// bool against bool: the same numbers as integers, but an array of bool.
class BoolDifferences : public IntegerDifferences {
 public:
  static constexpr DType kAbsolute = DType::kBool;
  using IntegerDifferences::IntegerDifferences;
};

class ComplexDifferences {
 public:
  using Absolute = double;
  using Relative = double;
  static constexpr DType kAbsolute = DType::kFloat64;
  static constexpr DType kRelative = DType::kFloat64;

  ComplexDifferences(const ElementSpan& a, const ElementSpan& b, bool infinities_equal)
      : a_(a),
        b_(b),
        infinities_equal_(infinities_equal),
        a_block_(kBlockSize),
        b_block_(kBlockSize) {}

  int64_t Read(int64_t start, size_t n, double* absolute, double* relative) {
    const std::complex<double>* a = LoadBlock(a_, start, n, a_block_.data());
    const std::complex<double>* b = LoadBlock(b_, start, n, b_block_.data());
    int64_t zeros = 0;
    for (size_t i = 0; i < n; ++i) {
      absolute[i] = std::hypot(Part(a[i].real(), b[i].real()), Part(a[i].imag(), b[i].imag()));
      const double magnitude = std::hypot(b[i].real(), b[i].imag());
      zeros += magnitude == 0 ? 1 : 0;
      relative[i] = absolute[i] / (magnitude == 0 ? kZeroReplacement : magnitude);
      const bool overflows = std::isinf(absolute[i]) || std::isinf(magnitude);
      if (overflows && magnitude != 0 && IsFinite(a[i]) && IsFinite(b[i])) {
        relative[i] = DivideQuarters(a[i], b[i]);
      }
    }
    return zeros;
  }

 private:
  static bool IsFinite(const std::complex<double>& value) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  }

  // A quarter of a difference of finite numbers has a magnitude that float64 holds.
  static double DivideQuarters(const std::complex<double>& a, const std::complex<double>& b) {
    const std::complex<double> difference = a / 4.0 - b / 4.0;
    return std::hypot(difference.real(), difference.imag()) /
           std::hypot(b.real() / 4, b.imag() / 4);
  }

  double Part(double a, double b) const {
    return infinities_equal_ && std::isinf(a) && a == b ? 0 : a - b;
  }

  ElementSpan a_;
  ElementSpan b_;
  bool infinities_equal_;
  std::vector<std::complex<double>> a_block_;
  std::vector<std::complex<double>> b_block_;
};

/// 1 where the texts differ, both absolutely and relatively.
class StringDifferences {
 public:
  using Absolute = uint64_t;
  using Relative = double;
  static constexpr DType kAbsolute = DType::kBool;
  static constexpr DType kRelative = DType::kFloat64;

  StringDifferences(const ElementSpan& a, const ElementSpan& b) : a_(a), b_(b) {}

  int64_t Read(int64_t start, size_t n, uint64_t* absolute, double* relative) {
    for (size_t i = 0; i < n; ++i) {
      const int64_t place = start + static_cast<int64_t>(i);
      absolute[i] = StringElement(a_, place) == StringElement(b_, place) ? 0 : 1;
      relative[i] = static_cast<double>(absolute[i]);
    }
    return 0;
  }

 private:
  ElementSpan a_;
  ElementSpan b_;
};

}  // namespace vernier
