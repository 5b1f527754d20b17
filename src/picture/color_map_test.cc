#include "picture/color_map.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace vernier {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

// How people without one kind of cone see linear RGB (Machado, Oliveira and Fernandes 2009,
// severity 1), and how all others do.
struct Vision {
  const char* name;
  Matrix matrix;
};
const Vision kVisions[] = {
    {"Normal", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
    {"Protanope",
     {{{0.152286, 1.052583, -0.204868},
       {0.114503, 0.786281, 0.099216},
       {-0.003882, -0.048116, 1.051998}}}},
    {"Deuteranope",
     {{{0.367322, 0.860646, -0.227968},
       {0.280085, 0.672501, 0.047413},
       {-0.011820, 0.042940, 0.968881}}}},
    {"Tritanope",
     {{{1.255528, -0.076749, -0.178779},
       {-0.078411, 0.930809, 0.147602},
       {0.004733, 0.691367, 0.303900}}}},
};

Vector Multiply(const Matrix& m, const Vector& v) {
  Vector out{};
  for (size_t i = 0; i < 3; ++i) out[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return out;
}

double Linear(uint8_t level) {
  const double x = level / 255.0;
  return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
}

// CIE L*a*b* of a colour as somebody sees it; distances in it are about what people perceive.
Vector Seen(const Vision& vision, Rgb color) {
  static const Matrix kXyz = {{{0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505},
                               {0.2126, 0.7152, 0.0722},
                               {0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089}}};
  Vector linear =
      Multiply(vision.matrix, {Linear(color.red), Linear(color.green), Linear(color.blue)});
  for (double& x : linear) x = std::fmin(std::fmax(x, 0), 1);
  Vector f = Multiply(kXyz, linear);
  for (double& x : f) x = x > 0.008856 ? std::cbrt(x) : 7.787 * x + 16.0 / 116;
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

double Distance(const Vector& x, const Vector& y) {
  return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

TEST(Cividis, GrowsLighterForEverybody) {
  for (const Vision& vision : kVisions) {
    double before = -1;
    for (int i = 0; i < kColorSteps; ++i) {
      const double lightness = Seen(vision, Cividis(i / (kColorSteps - 1.0)))[0];
      ASSERT_GT(lightness, before - 0.3) << vision.name << " " << i;
      before = lightness;
    }
    const double range = before - Seen(vision, Cividis(0))[0];
    EXPECT_GT(range, 60) << vision.name;
  }
}

TEST(Cividis, ClampsWhatLiesOutside) {
  EXPECT_EQ(Cividis(-1), Cividis(0));
  EXPECT_EQ(Cividis(7), Cividis(1));
  EXPECT_EQ(Cividis(std::numeric_limits<double>::quiet_NaN()), Cividis(0));
}

TEST(SpecialColors, AreOnNobodysMap) {
  for (const Vision& vision : kVisions) {
    for (const Rgb special : {kNanColor, kInfinityColor, kEqualColor}) {
      for (int i = 0; i < kColorSteps; ++i) {
        const Rgb color = Cividis(i / (kColorSteps - 1.0));
        ASSERT_GT(Distance(Seen(vision, special), Seen(vision, color)), 15) << vision.name;
      }
    }
    EXPECT_GT(Distance(Seen(vision, kNanColor), Seen(vision, kInfinityColor)), 50) << vision.name;
    EXPECT_GT(Distance(Seen(vision, kInfinityColor), Seen(vision, kEqualColor)), 20) << vision.name;
  }
}

TEST(ReadableOn, ContrastsWithBothEnds) {
  EXPECT_EQ(ReadableOn(Cividis(0)), (Rgb{255, 255, 255}));
  EXPECT_EQ(ReadableOn(Cividis(1)), (Rgb{0, 0, 0}));
}

}  // namespace
}  // namespace vernier
