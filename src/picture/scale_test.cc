#include "picture/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace vernier {
namespace {

using testing::ElementsAre;

std::vector<std::string> Labels(const Scale& scale, int most) {
  std::vector<std::string> labels;
  for (const Tick& tick : scale.Ticks(most)) labels.push_back(tick.label);
  return labels;
}

TEST(Scale, PlacesValues) {
  const Scale linear = Scale::Linear(8);
  EXPECT_EQ(linear.Position(2), 0.25);
  EXPECT_EQ(linear.Position(-1), 0);
  EXPECT_EQ(linear.Position(9), 1);
  EXPECT_EQ(linear.Position(std::numeric_limits<double>::quiet_NaN()), 0);
  const Scale logarithmic = Scale::Logarithmic(1e-6, 1e-2);
  EXPECT_NEAR(logarithmic.Position(1e-5), 0.25, 1e-12);
  EXPECT_EQ(logarithmic.Position(0), 0);
  EXPECT_EQ(logarithmic.Position(std::numeric_limits<double>::infinity()), 1);
  EXPECT_NEAR(logarithmic.Value(0.25), 1e-5, 1e-17);
}

TEST(Scale, HasRoundTicks) {
  EXPECT_THAT(Labels(Scale::Linear(0.00044), 3), ElementsAre("0", "0.0002", "0.0004"));
  EXPECT_THAT(Labels(Scale::Linear(1), 5), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
  EXPECT_THAT(Labels(Scale::Logarithmic(3e-7, 2e-4), 8), ElementsAre("1e-06", "1e-05", "0.0001"));
  EXPECT_THAT(Labels(Scale::Logarithmic(1e-16, 1e16), 4).size(), testing::Le(5u));
  EXPECT_THAT(Labels(Scale::Logarithmic(2, 60), 4), ElementsAre("2", "5", "10", "20", "50"));
  EXPECT_THAT(Labels(Scale::Logarithmic(2.1, 2.2), 4), ElementsAre("2.1", "2.2"));
}

TEST(Scale, SurvivesDegenerateRanges) {
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  constexpr double kHuge = std::numeric_limits<double>::max();
  const Scale scales[] = {Scale::Linear(0),         Scale::Linear(kTiny),
                          Scale::Linear(kHuge),     Scale::Logarithmic(kTiny, kTiny),
                          Scale::Logarithmic(5, 5), Scale::Logarithmic(kTiny, kHuge)};
  for (const Scale& scale : scales) {
    EXPECT_LT(scale.low(), scale.high());
    const std::vector<Tick> ticks = scale.Ticks(6);
    EXPECT_GE(ticks.size(), 1u) << scale.high();
    EXPECT_LE(ticks.size(), 12u) << scale.high();
    for (const Tick& tick : ticks) {
      EXPECT_GE(tick.position, 0);
      EXPECT_LE(tick.position, 1);
    }
  }
}

}  // namespace
}  // namespace vernier
