// From numbers to places along an axis or a colour bar.
#pragma once

#include <string>
#include <vector>

namespace vernier {

struct Tick {
  double position = 0;  ///< 0 to 1
  std::string label;
};

/// A linear or logarithmic scale from low to high, both finite.
class Scale {
 public:
  /// From 0 to `high`; a `high` of 0 becomes 1.
  static Scale Linear(double high);
  /// From `low` to `high`, both positive; wider than 24 decades, the small end is cut. Equal ends
  /// move one decade apart. Subnormal ends become normal.
  static Scale Logarithmic(double low, double high);

  bool logarithmic() const { return logarithmic_; }
  double low() const { return low_; }
  double high() const { return high_; }

  /// Where `value` lies: 0 at low, 1 at high, clamped to that; values <= 0 on a logarithmic scale
  /// and NaN are at 0, infinity at 1.
  double Position(double value) const;
  /// The value at a position of 0 to 1.
  double Value(double position) const;
  bool Contains(double value) const { return value >= low_ && value <= high_; }

  /// Round numbers, at most about `most` of them and at least one, in growing order.
  std::vector<Tick> Ticks(int most) const;

 private:
  Scale(bool logarithmic, double low, double high)
      : logarithmic_(logarithmic), low_(low), high_(high) {}
  std::vector<Tick> LinearTicks(int most) const;
  std::vector<Tick> LogarithmicTicks(int most) const;
  Tick At(double value, int digits) const;

  bool logarithmic_;
  double low_;
  double high_;
};

/// 1, 2 or 5 times a power of ten: the smallest that is not below `value`, which must be positive
/// and finite.
double RoundUp(double value);

}  // namespace vernier
