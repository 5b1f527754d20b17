// How NumPy writes the floating elements of an array: one layout for all, chosen from the values.
// Internal to report/numpy_text.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace vernier {

/// The precision that decides how many digits identify a value.
enum class FloatWidth : uint8_t { kHalf, kSingle, kDouble };

class NumpyFloatFormat {
 public:
  /// `values` are all that will be written; `always_sign` writes '+' too.
  NumpyFloatFormat(std::span<const double> values, FloatWidth width, bool always_sign);

  /// Padded so that decimal points align.
  std::string Format(double value) const;

 private:
  void ChooseNotation(std::span<const double> finite);
  void MeasureScientific(std::span<const double> finite);
  void MeasurePositional(std::span<const double> finite);

  FloatWidth width_;
  bool always_sign_;
  bool scientific_ = false;
  size_t pad_left_ = 0;
  size_t pad_right_ = 0;
  int precision_ = 8;  ///< digits after the point, scientific notation
  size_t exponent_digits_ = 2;
};

/// str() of a scalar: "1.0", "1e-05", "nan".
std::string FormatNumpyFloatScalar(double value, FloatWidth width);

}  // namespace vernier
