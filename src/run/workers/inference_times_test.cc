#include "run/workers/inference_times.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(InferenceTimesTest, ATimeThatIsNotKnownIsCountedAlone) {
  InferenceTimes times;
  times.Add(std::nullopt);
  EXPECT_EQ(times.count(), 1);
  EXPECT_FALSE(times.Summary().has_value());
  times.Add(0.5);
  EXPECT_EQ(times.count(), 2);
  EXPECT_EQ(times.total_seconds(), 0.5);
}

TEST(InferenceTimesTest, TheFirstIsShownOnItsOwn) {
  InferenceTimes times;
  times.Add(9);
  EXPECT_EQ(times.Summary()->median, 9);  // there is no other
  for (const double seconds : {3, 1, 2}) times.Add(seconds);
  const LatencyRecord summary = *times.Summary();
  EXPECT_EQ(summary.first, 9);
  EXPECT_EQ(summary.median, 2);
  EXPECT_EQ(summary.p95, 3);
}

}  // namespace
}  // namespace vernier
