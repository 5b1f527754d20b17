#include "decide/figures/average_precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace vernier {
namespace {

// tests/decide_oracle has random and odd cases, against pycocotools to 1e-9.
constexpr double kClose = 1e-12;

DetectedBox Found(double x, double y, double side, double score, int64_t category = 1) {
  return {x, y, side, side, score, category};
}

LabelledBox Wanted(double x, double y, double side, int64_t category = 1) {
  return {x, y, side, side, side * side, category};
}

AveragePrecision FiguresOf(const std::vector<DetectedBox>& detections,
                           const std::vector<LabelledBox>& labels) {
  DetectionScorer scorer;
  EXPECT_TRUE(scorer.AddImage(1, detections, labels).ok());
  return scorer.Figures();
}

TEST(DetectionScorer, EverythingFoundIsOne) {
  const AveragePrecision got = FiguresOf({Found(0, 0, 50, 0.9), Found(200, 0, 50, 0.8)},
                                         {Wanted(0, 0, 50), Wanted(200, 0, 50)});
  for (const double value : {got.ap, got.ap50, got.ap75, got.ap_medium, got.ar10, got.ar100}) {
    EXPECT_NEAR(value, 1, kClose);
  }
  EXPECT_NEAR(got.ar1, 0.5, kClose);  // one detection of the image finds one of two
  EXPECT_TRUE(std::isnan(got.ap_small));
  EXPECT_TRUE(std::isnan(got.ar_large));
}

TEST(DetectionScorer, PrecisionIsTakenAt101Recalls) {
  // One of two objects found: precision 1 up to recall 0.5, which is 51 of the 101 values.
  EXPECT_NEAR(FiguresOf({Found(0, 0, 50, 0.9)}, {Wanted(0, 0, 50), Wanted(200, 0, 50)}).ap,
              51.0 / 101, kClose);
  // A surer one is wrong: 1/2 at the first object, 2/3 at the second. The best to the right counts.
  EXPECT_NEAR(FiguresOf({Found(400, 0, 50, 0.9), Found(0, 0, 50, 0.8), Found(200, 0, 50, 0.7)},
                        {Wanted(0, 0, 50), Wanted(200, 0, 50)})
                  .ap,
              2.0 / 3, kClose);
}

TEST(DetectionScorer, AnOverlapOnAThresholdReachesIt) {
  // 50 x 25 of 50 x 50: an IoU of 0.5, which is the first of ten thresholds alone.
  const AveragePrecision got = FiguresOf({{0, 0, 50, 25, 0.9, 1}}, {Wanted(0, 0, 50)});
  EXPECT_NEAR(got.ap50, 1, kClose);
  EXPECT_EQ(got.ap75, 0);
  EXPECT_NEAR(got.ap, 0.1, kClose);
}

TEST(DetectionScorer, EqualScoresRankByTheIdOfTheImage) {
  // The right one is in image 2 and the wrong one in image 1: whichever is added first, 1 is first.
  for (const bool reversed : {false, true}) {
    DetectionScorer scorer;
    for (const int64_t image : {reversed ? 2 : 1, reversed ? 1 : 2}) {
      const std::vector<LabelledBox> labels(image == 2 ? 1 : 0, Wanted(0, 0, 50));
      const std::vector<DetectedBox> one = {Found(0, 0, 50, 0.5)};
      ASSERT_TRUE(scorer.AddImage(image, one, labels).ok());
    }
    EXPECT_NEAR(scorer.Figures().ap, 0.5, kClose);
    EXPECT_EQ(scorer.images(), 2);
  }
}

TEST(DetectionScorer, AScoreThatIsNoNumberComesLast) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<LabelledBox> labels = {Wanted(0, 0, 50)};
  EXPECT_NEAR(FiguresOf({Found(400, 0, 50, kNan), Found(0, 0, 50, 0.1)}, labels).ap, 1, kClose);
  EXPECT_NEAR(FiguresOf({Found(0, 0, 50, kNan), Found(400, 0, 50, 0.1)}, labels).ap, 0.5, kClose);
}

TEST(DetectionScorer, ACrowdCountsForNothing) {
  LabelledBox crowd = Wanted(0, 0, 200);
  crowd.crowd = true;
  // Both lie within the crowd and are surer than the right one; neither makes it less.
  EXPECT_NEAR(FiguresOf({Found(0, 0, 50, 0.9), Found(100, 0, 50, 0.8), Found(500, 0, 50, 0.7)},
                        {crowd, Wanted(500, 0, 50)})
                  .ap,
              1, kClose);
  const AveragePrecision alone = FiguresOf({Found(0, 0, 50, 0.9)}, {crowd});
  EXPECT_TRUE(std::isnan(alone.ap));
  ASSERT_EQ(alone.categories.size(), 1U);
  EXPECT_EQ(alone.categories[0].objects, 0);
}

TEST(DetectionScorer, SizeRangesGoByTheAreaOfTheObject) {
  LabelledBox thin = Wanted(0, 0, 50);
  thin.area = 1024;  // the end of both small and medium
  const AveragePrecision got = FiguresOf({Found(0, 0, 50, 0.9)}, {thin});
  EXPECT_NEAR(got.ap_small, 1, kClose);
  EXPECT_NEAR(got.ap_medium, 1, kClose);
  EXPECT_TRUE(std::isnan(got.ap_large));
}

TEST(DetectionScorer, CategoriesWeighTheSameWhateverTheirNumber) {
  const AveragePrecision got =
      FiguresOf({Found(0, 0, 50, 0.9, 1), Found(0, 0, 50, 0.9, 3)},
                {Wanted(0, 0, 50, 1), Wanted(200, 0, 50, 2), Wanted(400, 0, 50, 2)});
  EXPECT_NEAR(got.ap, 0.5, kClose);
  ASSERT_EQ(got.categories.size(), 3U);
  EXPECT_NEAR(got.categories[0].ap, 1, kClose);
  EXPECT_EQ(got.categories[1].objects, 2);
  EXPECT_EQ(got.categories[1].ap, 0);
  EXPECT_TRUE(std::isnan(got.categories[2].ap));  // category 3 has no object
}

TEST(DetectionScorer, OfAnImageAndCategoryAHundredCount) {
  std::vector<DetectedBox> detections(100, Found(400, 0, 50, 0.9));
  detections.push_back(Found(0, 0, 50, 0.8));
  EXPECT_EQ(FiguresOf(detections, {Wanted(0, 0, 50)}).ar100, 0);
  detections.erase(detections.begin());
  EXPECT_NEAR(FiguresOf(detections, {Wanted(0, 0, 50)}).ar100, 1, kClose);
}

TEST(DetectionScorer, AnImageIsScoredOnce) {
  DetectionScorer scorer;
  EXPECT_TRUE(std::isnan(scorer.Figures().ap));
  ASSERT_TRUE(scorer.AddImage(7, {}, {}).ok());
  const Status again = scorer.AddImage(7, {}, {});
  EXPECT_EQ(again.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(again.message(), "image 7 was scored twice");
}

}  // namespace
}  // namespace vernier
