#include "run/profile/profile_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/profile/layer_times.h"
#include "vernier/layer_times.hpp"

namespace vernier {
namespace {

ProfilePoint Point(const char* runner, int64_t count, double noise, double drift) {
  ProfilePoint point;
  point.runner = runner;
  point.shapes = "x:[1]";
  point.latency.count = count;
  point.latency.median_noise = noise;
  point.latency.drift = drift;
  return point;
}

TEST(NotesOnTimes, OneNoteForEachKindOfDoubt) {
  ProfileRecord profile;
  for (const char* runner : {"a", "b", "c", "d"}) {
    profile.points.push_back(Point(runner, 100, 0.06, 0.1));
  }
  profile.points[2].latency.median_noise = 0.12;
  profile.points[3].latency.drift = -0.3;
  EXPECT_THAT(NotesOnTimes(profile),
              testing::ElementsAre(
                  "a with x:[1], b with x:[1], c with x:[1], and 1 more: medians are uncertain by "
                  "up to 12 %: the machine was not quiet, or too little was measured (--duration, "
                  "--runs)",
                  "a with x:[1], b with x:[1], c with x:[1], and 1 more: the second half was up to "
                  "30 % faster than the first"));
}

TEST(NotesOnTimes, LargeSharesHaveNoExponent) {
  ProfileRecord profile;
  profile.points = {Point("a", 100, 7.612, 2)};
  EXPECT_THAT(
      NotesOnTimes(profile),
      testing::ElementsAre("a with x:[1]: the median is uncertain by 761 %: the machine was "
                           "not quiet, or too little was measured (--duration, --runs)",
                           "a with x:[1]: the second half was 200 % slower than the first"));
}

TEST(NotesOnTimes, OfFewInferencesNothingElseIsSaid) {
  ProfileRecord profile;
  profile.points = {Point("a", 1, 0.5, 0.5), Point("b", 1000, 0, 0)};
  EXPECT_THAT(NotesOnTimes(profile),
              testing::ElementsAre("a with x:[1]: of only 1 inference the noise is half their "
                                   "range, which says nothing; measure longer (--duration, "
                                   "--runs)"));
  profile.points.erase(profile.points.begin());
  EXPECT_TRUE(NotesOnTimes(profile).empty());
}

TEST(LayerTimes, OfAFullDiskAreNoneAndNotHalf) {
  const std::vector<sdk::LayerTime> layers(1000, {"conv", "Conv", 0.5});
  EXPECT_FALSE(sdk::WriteLayerTimes("/dev/full", layers));
  const Result<LayerTimesFile> file = LayerTimesFile::Create();
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(sdk::WriteLayerTimes(file->path(), layers));
  EXPECT_EQ(file->Read().size(), 1000u);
}

}  // namespace
}  // namespace vernier
