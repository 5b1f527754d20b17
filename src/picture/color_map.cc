#include "picture/color_map.h"

#include <algorithm>
#include <cmath>

namespace vernier {
namespace {

// Coefficients of degree 0 to 5, published with d3-scale-chromatic's interpolateCividis (by one of
// the map's authors). They come within 12 levels of the table at the dark end and 4 elsewhere.
struct Channel {
  double coefficients[6];
};
constexpr Channel kRed = {{-4.54, -35.34, 2381.73, -6402.7, 7024.72, -2710.57}};
constexpr Channel kGreen = {{32.49, 170.73, 52.82, -131.46, 176.58, -67.37}};
constexpr Channel kBlue = {{81.24, 442.36, -2482.43, 6167.24, -6614.94, 2475.67}};

uint8_t Evaluate(const Channel& channel, double t) {
  double value = 0;
  for (int degree = 5; degree >= 0; --degree) value = value * t + channel.coefficients[degree];
  return static_cast<uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

}  // namespace

Rgb Cividis(double position) {
  const double clamped = position > 0 ? std::min(position, 1.0) : 0.0;
  const double t = std::round(clamped * (kColorSteps - 1)) / (kColorSteps - 1);
  return {Evaluate(kRed, t), Evaluate(kGreen, t), Evaluate(kBlue, t)};
}

Rgb ReadableOn(Rgb background) {
  // Rec. 601 luma.
  const double luma = 0.299 * background.red + 0.587 * background.green + 0.114 * background.blue;
  return luma > 128 ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
}

}  // namespace vernier
