#include "decide/figures/precision_bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "decide/figures/bootstrap.h"

namespace vernier {
namespace {

constexpr double kAsClose = 1e-12;

/// One image of a made data set, and what a side detects in it.
struct MadeImage {
  std::vector<LabelledBox> labels;
  std::vector<DetectedBox> first, second;
};

// Objects of three categories, one of them rare, crowds and images without any among them; boxes
// that are off by a few pixels, missing or elsewhere. No two scores are equal.
std::vector<MadeImage> MadeImages(uint64_t seed, size_t count) {
  Pcg64 random(seed);
  const auto below = [&random](uint32_t bound) { return static_cast<double>(random.Below(bound)); };
  std::vector<MadeImage> images(count);
  double score = 0;
  for (MadeImage& image : images) {
    const uint32_t objects = random.Below(5);
    for (uint32_t i = 0; i < objects; ++i) {
      const auto category = static_cast<int64_t>(random.Below(20) == 0 ? 2 : random.Below(2));
      const LabelledBox label{below(300), below(300), 20 + below(80),       20 + below(80),
                              0,          category,   random.Below(12) == 0};
      image.labels.push_back(label);
      image.labels.back().area = label.width * label.height;
      for (auto* side : {&image.first, &image.second}) {
        for (uint32_t found = random.Below(4); found > 0; --found) {
          score = std::fmod(score + 0.61803398875, 1);
          side->push_back({label.x + below(12), label.y + below(12), label.width, label.height,
                           score, static_cast<int64_t>(random.Below(9) == 0 ? 1 : category)});
        }
      }
    }
  }
  return images;
}

TEST(BootstrapPrecision, ADrawIsTheDataSetOfItsImages) {
  constexpr size_t kCount = 14;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<MadeImage> images = MadeImages(seed, kCount);
    DetectionScorer first, second;
    for (size_t i = kCount; i-- > 0;) {  // whatever the order
      const auto id = static_cast<int64_t>(10 + i);
      ASSERT_TRUE(first.AddImage(id, images[i].first, images[i].labels).ok());
      ASSERT_TRUE(second.AddImage(id, images[i].second, images[i].labels).ok());
    }
    Pcg64 random(seed);
    DetectionScorer drawn_first, drawn_second;
    for (size_t i = 0; i < kCount; ++i) {
      const MadeImage& image = images[random.Below(kCount)];
      const auto id = static_cast<int64_t>(i);
      ASSERT_TRUE(drawn_first.AddImage(id, image.first, image.labels).ok());
      ASSERT_TRUE(drawn_second.AddImage(id, image.second, image.labels).ok());
    }
    const double a = drawn_first.Figures().ap;
    const double b = drawn_second.Figures().ap;
    const PrecisionIntervals got = BootstrapPrecision(first, second, seed, 1);
    ASSERT_EQ(got.draws, 1);
    EXPECT_NEAR(got.first_low, a, kAsClose) << seed;
    EXPECT_NEAR(got.first_high, a, kAsClose) << seed;
    EXPECT_NEAR(got.second_low, b, kAsClose) << seed;
    EXPECT_NEAR(got.drop_high, a - b, kAsClose) << seed;
  }
}

// Of more draws than are made at once, whatever the threads.
TEST(BootstrapPrecision, ManyDrawsAreThoseOfNumpyOneByOne) {
  constexpr size_t kCount = 9, kDraws = 43;
  const std::vector<MadeImage> images = MadeImages(7, kCount);
  DetectionScorer first, second;
  for (size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(first.AddImage(static_cast<int64_t>(i), images[i].first, images[i].labels).ok());
    ASSERT_TRUE(second.AddImage(static_cast<int64_t>(i), images[i].second, images[i].labels).ok());
  }
  Pcg64 random(11);
  std::vector<double> a, b, drop;
  for (size_t draw = 0; draw < kDraws; ++draw) {
    DetectionScorer drawn_first, drawn_second;
    for (size_t i = 0; i < kCount; ++i) {
      const MadeImage& image = images[random.Below(kCount)];
      ASSERT_TRUE(drawn_first.AddImage(static_cast<int64_t>(i), image.first, image.labels).ok());
      ASSERT_TRUE(drawn_second.AddImage(static_cast<int64_t>(i), image.second, image.labels).ok());
    }
    a.push_back(drawn_first.Figures().ap);
    b.push_back(drawn_second.Figures().ap);
    drop.push_back(a.back() - b.back());
  }
  const PrecisionIntervals got = BootstrapPrecision(first, second, 11, kDraws);
  ASSERT_EQ(got.draws, static_cast<int64_t>(kDraws));
  EXPECT_NEAR(got.first_low, MiddleOfDraws(a).first, kAsClose);
  EXPECT_NEAR(got.first_high, MiddleOfDraws(a).second, kAsClose);
  EXPECT_NEAR(got.second_low, MiddleOfDraws(b).first, kAsClose);
  EXPECT_NEAR(got.second_high, MiddleOfDraws(b).second, kAsClose);
  EXPECT_NEAR(got.drop_low, MiddleOfDraws(drop).first, kAsClose);
  EXPECT_NEAR(got.drop_high, MiddleOfDraws(drop).second, kAsClose);
}

TEST(BootstrapPrecision, TheIntervalHoldsTheFigureAndNarrows) {
  double width = 2;
  for (const size_t count : {size_t{10}, size_t{160}}) {
    DetectionScorer first, second;
    const std::vector<MadeImage> images = MadeImages(3, count);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(first.AddImage(static_cast<int64_t>(i), images[i].first, images[i].labels).ok());
      ASSERT_TRUE(
          second.AddImage(static_cast<int64_t>(i), images[i].second, images[i].labels).ok());
    }
    const PrecisionIntervals got = BootstrapPrecision(first, second, 1);
    const double drop = first.Figures().ap - second.Figures().ap;
    EXPECT_LT(got.drop_low, drop);
    EXPECT_GT(got.drop_high, drop);
    EXPECT_LT(got.drop_high - got.drop_low, width);
    width = (got.drop_high - got.drop_low) / 2;  // a quarter, give or take
  }
}

TEST(BootstrapPrecision, EqualSidesNeverDiffer) {
  DetectionScorer side;
  const std::vector<MadeImage> images = MadeImages(5, 30);
  for (size_t i = 0; i < images.size(); ++i) {
    ASSERT_TRUE(side.AddImage(static_cast<int64_t>(i), images[i].first, images[i].labels).ok());
  }
  const PrecisionIntervals got = BootstrapPrecision(side, side, 1);
  EXPECT_EQ(got.drop_low, 0);
  EXPECT_EQ(got.drop_high, 0);
  EXPECT_LT(got.first_low, got.first_high);
}

TEST(BootstrapPrecision, OneImageHasNone) {
  DetectionScorer side;
  ASSERT_TRUE(side.AddImage(7, {}, std::vector<LabelledBox>{{0, 0, 9, 9, 81, 1}}).ok());
  const PrecisionIntervals got = BootstrapPrecision(side, side, 1);
  EXPECT_EQ(got.draws, 0);
  EXPECT_TRUE(std::isnan(got.drop_low));
}

}  // namespace
}  // namespace vernier
