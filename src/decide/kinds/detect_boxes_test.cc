#include "decide/kinds/detect_boxes.h"

#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {
namespace {

Tensor BoxesOf(const Dims& dims, const std::vector<float>& values) {
  return *Tensor::Copy(DType::kFloat32, dims, std::as_bytes(std::span(values)));
}

TEST(DetectBoxes, GivesWhatIsLeftOfEachSampleSurestFirst) {
  // Two samples of three boxes: centre, size, scores of two classes. The second box of the first
  // sample overlaps the surer third one of its class by 0.9; that of the second is of another.
  const Tensor output = BoxesOf({2, 3, 6}, {40,  40, 20, 10, 0.5F,   0,       //
                                            100, 60, 50, 45, 0,      0.625F,  //
                                            100, 60, 50, 50, 0,      0.75F,   //
                                            40,  40, 20, 10, 0.125F, 0,       //
                                            100, 60, 50, 45, 0.625F, 0,       //
                                            100, 60, 50, 50, 0,      0.75F});
  const auto samples = DetectBoxes(*ParseDecision("boxes:cxcywh,scores"), output);
  ASSERT_TRUE(samples.ok()) << samples.status().message();
  ASSERT_EQ(samples->size(), 2U);
  const std::vector<DetectedBox>& first = samples->at(0).boxes;
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].score, 0.75);
  EXPECT_EQ(first[0].category, 1);
  EXPECT_EQ(first[0].x, 75);
  EXPECT_EQ(first[0].y, 35);
  EXPECT_EQ(first[1].width, 20);
  EXPECT_EQ(first[1].height, 10);
  EXPECT_EQ(first[1].category, 0);
  EXPECT_EQ(samples->at(1).boxes.size(), 2U);  // the first box is not sure enough
}

TEST(DetectBoxes, NanDetectsNothing) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Tensor output = BoxesOf({2, 5}, {0, 0, 9, 9, 0.9F, 0, 0, 9, 9, kNan});
  const auto samples = DetectBoxes(*ParseDecision("boxes:xyxy,score"), output);
  ASSERT_TRUE(samples.ok()) << samples.status().message();
  EXPECT_TRUE(samples->at(0).has_nan);
  EXPECT_TRUE(samples->at(0).boxes.empty());
}

TEST(DetectBoxes, SaysWhatDoesNotFit) {
  const auto samples = DetectBoxes(*ParseDecision("boxes:xyxy,score"), BoxesOf({1, 2}, {1, 2}));
  EXPECT_EQ(samples.status().message(),
            "'boxes:xyxy,score' cannot be decided: the output is shape (1, 2), with 2 columns "
            "instead of 5");
}

}  // namespace
}  // namespace vernier
