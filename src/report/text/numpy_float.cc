#include "report/text/numpy_float.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels/elements/float_formats.h"

namespace vernier {
namespace {

constexpr int kPrecision = 8;

/// digits[0].digits[1...] times ten to the power of `exponent`.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal ParseScientific(std::string_view text) {
  const size_t e = text.find('e');
  Decimal decimal;
  for (const char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') decimal.digits += c;
  }
  decimal.exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  while (decimal.digits.size() > 1 && decimal.digits.back() == '0') decimal.digits.pop_back();
  return decimal;
}

// `digits` after the point, rounded to nearest even from the exact value.
std::string Exact(double magnitude, int digits, char notation) {
  const char format[] = {'%', '.', '*', notation, '\0'};
  char buffer[512];  // the largest double has 309 digits before the point
  const int length = std::snprintf(buffer, sizeof(buffer), format, digits, magnitude);
  return {buffer, static_cast<size_t>(length)};
}

bool ReadsAs(const std::string& text, uint16_t half) {
  return DoubleToHalf(std::strtod(text.c_str(), nullptr)) == half;
}

Decimal ShortestHalf(double magnitude) {
  const uint16_t wanted = DoubleToHalf(magnitude);
  std::string text;
  for (int digits = 0; digits < 5; ++digits) {
    text = Exact(magnitude, digits, 'e');
    if (ReadsAs(text, wanted)) break;
    // At a power of two the numbers above are twice as far apart as those below, so that the
    // decimal above may do where the nearest one, just below, does not.
    const double nearest = std::strtod(text.c_str(), nullptr);
    const double unit = std::pow(10.0, ParseScientific(text).exponent - digits);
    text = Exact(nearest + unit, digits, 'e');
    if (nearest < magnitude && ReadsAs(text, wanted)) break;
  }
  return ParseScientific(text);
}

// The shortest decimal that no other number of that width is nearer to.
Decimal Shortest(double magnitude, FloatWidth width) {
  if (magnitude == 0) return {"0", 0};
  if (width == FloatWidth::kHalf) return ShortestHalf(magnitude);
  char buffer[64];
  const auto end = width == FloatWidth::kSingle
                       ? std::to_chars(buffer, buffer + sizeof(buffer),
                                       static_cast<float>(magnitude), std::chars_format::scientific)
                       : std::to_chars(buffer, buffer + sizeof(buffer), magnitude,
                                       std::chars_format::scientific);
  return ParseScientific({buffer, static_cast<size_t>(end.ptr - buffer)});
}

std::string SignOf(double value, bool always_sign) {
  if (std::signbit(value)) return "-";
  return always_sign ? "+" : "";
}

struct PointText {
  std::string whole;  ///< with the sign
  std::string fraction;
};

PointText SplitAtPoint(const std::string& text, std::string sign) {
  const size_t point = text.find('.');
  PointText split{std::move(sign) + text.substr(0, point), ""};
  if (point != std::string::npos) split.fraction = text.substr(point + 1);
  while (!split.fraction.empty() && split.fraction.back() == '0') split.fraction.pop_back();
  return split;
}

std::string Positional(const Decimal& decimal) {
  const auto count = static_cast<int>(decimal.digits.size());
  if (decimal.exponent < 0) {
    return "0." + std::string(static_cast<size_t>(-decimal.exponent - 1), '0') + decimal.digits;
  }
  if (count <= decimal.exponent + 1) {
    return decimal.digits + std::string(static_cast<size_t>(decimal.exponent + 1 - count), '0');
  }
  const auto whole = static_cast<size_t>(decimal.exponent + 1);
  return decimal.digits.substr(0, whole) + "." + decimal.digits.substr(whole);
}

// At most `precision` digits after the point, trailing zeros dropped.
PointText PositionalText(double value, FloatWidth width, int precision, bool always_sign) {
  const double magnitude = std::fabs(value);
  const Decimal decimal = Shortest(magnitude, width);
  const int fraction = static_cast<int>(decimal.digits.size()) - 1 - decimal.exponent;
  return SplitAtPoint(
      fraction <= precision ? Positional(decimal) : Exact(magnitude, precision, 'f'),
      SignOf(value, always_sign));
}

// A magnitude's digits with at most `precision` of them after the point.
Decimal ScientificDigits(double magnitude, FloatWidth width, int precision) {
  Decimal decimal = Shortest(magnitude, width);
  if (static_cast<int>(decimal.digits.size()) - 1 <= precision) return decimal;
  return ParseScientific(Exact(magnitude, precision, 'e'));
}

size_t ExponentWidth(int exponent) {
  return std::max<size_t>(2, std::to_string(std::abs(exponent)).size());
}

std::string ExponentText(int exponent, size_t width) {
  const std::string digits = std::to_string(std::abs(exponent));
  const std::string zeros(width > digits.size() ? width - digits.size() : 0, '0');
  return std::string(exponent < 0 ? "e-" : "e+") + zeros + digits;
}

double RoundTo(double value, FloatWidth width) {
  switch (width) {
    case FloatWidth::kHalf:
      return static_cast<double>(HalfToFloat(DoubleToHalf(value)));
    case FloatWidth::kSingle:
      return static_cast<double>(static_cast<float>(value));
    case FloatWidth::kDouble:
      break;
  }
  return value;
}

// From here on arrays are written in scientific notation: ten to the digits that the type always
// holds, at most 1e8.
double ScientificFrom(FloatWidth width) {
  switch (width) {
    case FloatWidth::kHalf:
      return 1e3;
    case FloatWidth::kSingle:
      return 1e6;
    case FloatWidth::kDouble:
      break;
  }
  return 1e8;
}

std::string PadLeft(std::string text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace

NumpyFloatFormat::NumpyFloatFormat(std::span<const double> values, FloatWidth width,
                                   bool always_sign)
    : width_(width), always_sign_(always_sign) {
  std::vector<double> finite;
  bool negative_infinity = false;
  for (const double value : values) {
    if (std::isfinite(value)) finite.push_back(value);
    negative_infinity |= std::isinf(value) && value < 0;
  }
  ChooseNotation(finite);
  if (!finite.empty()) scientific_ ? MeasureScientific(finite) : MeasurePositional(finite);
  if (finite.size() == values.size()) return;
  // "nan" and "inf" may use the columns to the right of where the point is.
  const size_t right = pad_right_ + 1;
  const size_t longest = 3 + (always_sign || negative_infinity ? 1 : 0);
  pad_left_ = std::max(pad_left_, longest > right ? longest - right : 0);
}

void NumpyFloatFormat::ChooseNotation(std::span<const double> finite) {
  double largest = 0;
  double smallest = 0;
  for (const double value : finite) {
    const double magnitude = std::fabs(value);
    if (magnitude == 0) continue;
    largest = std::max(largest, magnitude);
    smallest = smallest == 0 ? magnitude : std::min(smallest, magnitude);
  }
  if (largest == 0) return;
  // NumPy compares in the array's own type. The cap keeps the ratio within every type's range.
  const double ratio = std::min(largest / smallest, 2000.0);
  scientific_ = largest >= ScientificFrom(width_) || smallest < RoundTo(0.0001, width_) ||
                RoundTo(ratio, width_) > 1000;
}

void NumpyFloatFormat::MeasureScientific(std::span<const double> finite) {
  size_t fraction = 0;
  for (const double value : finite) {
    const Decimal decimal = ScientificDigits(std::fabs(value), width_, kPrecision);
    fraction = std::max(fraction, decimal.digits.size() - 1);
    exponent_digits_ = std::max(exponent_digits_, ExponentWidth(decimal.exponent));
    pad_left_ = std::max(pad_left_, 1 + SignOf(value, always_sign_).size());
  }
  precision_ = static_cast<int>(fraction);
  pad_right_ = exponent_digits_ + 2 + fraction;
}

void NumpyFloatFormat::MeasurePositional(std::span<const double> finite) {
  for (const double value : finite) {
    const PointText text = PositionalText(value, width_, kPrecision, always_sign_);
    pad_left_ = std::max(pad_left_, text.whole.size());
    pad_right_ = std::max(pad_right_, text.fraction.size());
  }
}

std::string NumpyFloatFormat::Format(double value) const {
  if (!std::isfinite(value)) {
    const std::string sign =
        std::isnan(value) ? (always_sign_ ? "+" : "") : SignOf(value, always_sign_);
    return PadLeft(sign + (std::isnan(value) ? "nan" : "inf"), pad_left_ + pad_right_ + 1);
  }
  const double magnitude = std::fabs(value);
  if (!scientific_) {
    const PointText text = PositionalText(value, width_, kPrecision, always_sign_);
    return PadLeft(text.whole, pad_left_) + "." + text.fraction +
           std::string(pad_right_ - text.fraction.size(), ' ');
  }
  Decimal decimal = ScientificDigits(magnitude, width_, precision_);
  const auto wanted = static_cast<size_t>(precision_) + 1;
  if (decimal.digits.size() < wanted && magnitude != 0) {
    // Beyond the digits that identify the value NumPy writes those of its exact expansion.
    decimal = ParseScientific(Exact(magnitude, precision_, 'e'));
  }
  decimal.digits.resize(wanted, '0');
  return PadLeft(SignOf(value, always_sign_) + decimal.digits.substr(0, 1), pad_left_) + "." +
         decimal.digits.substr(1) + ExponentText(decimal.exponent, exponent_digits_);
}

std::string FormatNumpyFloatScalar(double value, FloatWidth width) {
  if (std::isnan(value)) return "nan";
  const std::string sign = SignOf(value, false);
  if (std::isinf(value)) return sign + "inf";
  const double magnitude = std::fabs(value);
  const Decimal decimal = Shortest(magnitude, width);
  const double scientific_from = width == FloatWidth::kDouble ? 1e16 : ScientificFrom(width);
  if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= scientific_from)) {
    const std::string fraction = decimal.digits.substr(1);
    return sign + decimal.digits.substr(0, 1) + (fraction.empty() ? "" : "." + fraction) +
           ExponentText(decimal.exponent, 2);
  }
  const std::string text = Positional(decimal);
  return sign + text + (text.find('.') == std::string::npos ? ".0" : "");
}

}  // namespace vernier
