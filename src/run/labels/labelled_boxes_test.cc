#include "run/labels/labelled_boxes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace vernier {
namespace {

constexpr double kSame = 1e-12;

Tensor RowsOfBoxes(int64_t samples, const std::vector<float>& values) {
  const auto boxes = static_cast<int64_t>(values.size()) / 6 / samples;
  return *Tensor::Copy(DType::kFloat32, {samples, boxes, 6}, std::as_bytes(std::span(values)));
}

DecisionPlan CornersOfBoxes() { return *ParseDecision("boxes:xyxy,score,class"); }

// Two images of 200 by 100 with one object each, of the second and of the first category.
BoxLabels TwoImages(const std::string& size = R"("width": 200, "height": 100)") {
  const std::string path = testing::TempDir() + "boxes." + std::to_string(getpid()) + ".json";
  std::ofstream(path) << R"({"images": [
        {"id": 8, "file_name": "val/b.png", )"
                      << size << R"(},
        {"id": 3, "file_name": "val/a.png", )"
                      << size << R"(}],
      "categories": [{"id": 40, "name": "cat"}, {"id": 7, "name": "dog"}],
      "annotations": [
        {"id": 1, "image_id": 3, "category_id": 40, "bbox": [20, 10, 40, 40]},
        {"id": 2, "image_id": 8, "category_id": 7, "bbox": [100, 50, 80, 40]}]})";
  Result<BoxLabels> labels = BoxLabels::Load(path);
  std::filesystem::remove(path);
  return *std::move(labels);
}

TEST(LabelledBoxes, SamplesAreTheImagesByTheirIds) {
  const BoxLabels labels = TwoImages();
  LabelledBoxes boxes(labels, CornersOfBoxes());
  EXPECT_FALSE(boxes.Record());
  // Class 1 is category 40, class 0 category 7. The second side misses the object of image 8.
  boxes.Add(0, RowsOfBoxes(1, {20, 10, 60, 50, 0.9F, 1}),
            RowsOfBoxes(1, {20, 10, 60, 50, 0.8F, 1}));
  EXPECT_NE(boxes.Fault(), "");
  boxes.Add(1, RowsOfBoxes(1, {100, 50, 180, 90, 0.9F, 0}), RowsOfBoxes(1, {0, 0, 9, 9, 0.9F, 0}));
  EXPECT_EQ(boxes.Fault(), "");
  const auto record = boxes.Record();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->images, 2);
  EXPECT_EQ(record->listed, 2);
  EXPECT_EQ(record->units, "pixels");
  EXPECT_NEAR(record->first.ap, 1, kSame);
  EXPECT_NEAR(record->second.ap, 0.5, kSame);
}

TEST(LabelledBoxes, FractionsAndBatches) {
  const BoxLabels labels = TwoImages();
  LabelledBoxes boxes(labels, CornersOfBoxes());
  const Tensor both =
      RowsOfBoxes(2, {0.1F, 0.1F, 0.3F, 0.5F, 0.9F, 1, 0.5F, 0.5F, 0.9F, 0.9F, 0.9F, 0});
  boxes.Add(0, both, both);
  EXPECT_EQ(boxes.Fault(), "");
  EXPECT_EQ(boxes.Record()->units, "fractions");
  EXPECT_NEAR(boxes.Record()->second.ap75, 1, kSame);
}

TEST(LabelledBoxes, BoxesOfImagesAreWhereTheImageWasFed) {
  BoxLabels labels = TwoImages();
  ImageRecipe recipe;
  recipe.resize = {50, 50};  // a quarter as wide, half as high
  recipe.crop = {40, 40};    // five pixels from each side
  labels.NoteImage(0, {"photos/val/b.png", {100, 200}}, recipe);
  labels.NoteImage(1, {"a.png", {}}, recipe);
  LabelledBoxes boxes(labels, CornersOfBoxes());
  const Tensor b = RowsOfBoxes(1, {20, 20, 40, 40, 0.9F, 0});
  const Tensor a = RowsOfBoxes(1, {0, 0, 10, 20, 0.9F, 1});
  boxes.Add(0, b, b);
  boxes.Add(1, a, a);
  EXPECT_EQ(boxes.Fault(), "");
  EXPECT_NEAR(boxes.Record()->first.ap, 1, kSame);
}

TEST(LabelledBoxes, AnImageThatTheLabelsLackIsSaid) {
  BoxLabels labels = TwoImages();
  labels.NoteImage(0, {"photos/c.png", {}}, {});
  LabelledBoxes boxes(labels, CornersOfBoxes());
  const Tensor one = RowsOfBoxes(1, {20, 20, 40, 40, 0.9F, 0});
  boxes.Add(0, one, one);
  EXPECT_FALSE(boxes.Record());
  EXPECT_TRUE(boxes.Fault().starts_with(
      "1 of 1 sample could not be scored: sample 0 of iteration 0: image 'photos/c.png' is not in "
      "--labels '"))
      << boxes.Fault();
}

TEST(LabelledBoxes, FaultsNeverPassForScores) {
  const auto fault_of = [](const BoxLabels& labels, const Tensor& first, const Tensor& second) {
    LabelledBoxes boxes(labels, CornersOfBoxes());
    boxes.Add(0, first, second);
    return boxes.Fault();
  };
  const BoxLabels labels = TwoImages();
  const Tensor one = RowsOfBoxes(1, {20, 20, 40, 40, 0.9F, 0});
  const Tensor beyond = RowsOfBoxes(1, {20, 20, 40, 40, 0.9F, 2});
  EXPECT_TRUE(fault_of(labels, one, one).ends_with(".json' has 2 images for 1 sample"));
  EXPECT_TRUE(fault_of(labels, one, beyond)
                  .starts_with("1 of 1 sample could not be scored: sample 0 of iteration 0: class "
                               "2 is beyond the categories of --labels '"));
  std::vector<float> three;
  for (int i = 0; i < 3; ++i) three.insert(three.end(), {20, 20, 40, 40, 0.9F, 0});
  const Tensor many = RowsOfBoxes(3, three);
  EXPECT_TRUE(fault_of(labels, many, many).ends_with(".json' has 2 images"));
  const Tensor small = RowsOfBoxes(1, {0.1F, 0.1F, 0.2F, 0.2F, 0.9F, 0});
  EXPECT_NE(fault_of(TwoImages(R"("license": 1)"), small, small).find("are fractions, and image 3"),
            std::string::npos);
}

TEST(LabelledBoxes, UnitsInDoubtAreAskedFor) {
  const BoxLabels labels = TwoImages();
  const Tensor small = RowsOfBoxes(1, {0.1F, 0.1F, 0.2F, 0.2F, 0.5F, 0});
  const Tensor large = RowsOfBoxes(1, {100, 50, 180, 90, 0.9F, 0});
  LabelledBoxes mixed(labels, CornersOfBoxes());
  mixed.Add(0, small, small);
  mixed.Add(1, large, large);
  EXPECT_EQ(mixed.Fault(),
            "2 of 4 boxes reach further than 2, so that they may be in pixels or fractions of the "
            "image: add units=pixels or units=fractions to 'boxes:xyxy,score,class'");
  EXPECT_FALSE(mixed.Record());
  LabelledBoxes said(labels, *ParseDecision("boxes:xyxy,score,class,units=pixels"));
  said.Add(0, small, small);
  said.Add(1, large, large);
  EXPECT_EQ(said.Fault(), "");
  EXPECT_EQ(said.Record()->units, "pixels");
  EXPECT_NEAR(said.Record()->first.ap, 0.5, kSame);
}

TEST(LabelledBoxes, ASmallFirstBoxDoesNotDecideTheUnits) {
  const BoxLabels labels = TwoImages();
  LabelledBoxes boxes(labels, CornersOfBoxes());
  const Tensor tiny = RowsOfBoxes(1, {0, 0, 1, 1, 0.3F, 1});
  std::vector<float> rows;
  for (int i = 0; i < 4; ++i) {
    rows.insert(rows.end(), {100, 50, 180, 90, 0.9F - 0.1F * static_cast<float>(i), 0});
    rows[rows.size() - 6] -= static_cast<float>(40 * i);  // further left each time
    rows[rows.size() - 4] -= static_cast<float>(40 * i);
  }
  boxes.Add(0, tiny, tiny);
  boxes.Add(1, RowsOfBoxes(1, rows), RowsOfBoxes(1, rows));
  EXPECT_EQ(boxes.Fault(), "");
  EXPECT_EQ(boxes.Record()->units, "pixels");
  EXPECT_NEAR(boxes.Record()->first.ap, 0.5, kSame);
}

TEST(LabelledBoxes, SamplesDoNotWaitForTheirUnitsForEver) {
  BoxLabels labels = TwoImages();
  LabelledBoxes boxes(labels, *ParseDecision("boxes:xyxy,score,class"));
  const Tensor both = RowsOfBoxes(1, {0.1F, 0.1F, 0.5F, 0.5F, 0.9F, 1, 20, 10, 60, 50, 0.9F, 1});
  const Tensor pixels = RowsOfBoxes(1, {20, 10, 60, 50, 0.9F, 1});
  constexpr int64_t kDoubted = 4096;
  for (int64_t i = 0; i < 6 * kDoubted; ++i) {
    labels.NoteImage(i, {"val/b.png", {100, 200}}, {});
    const Tensor& one = i < kDoubted ? both : pixels;
    boxes.Add(i, one, one);
  }
  EXPECT_NE(boxes.Fault().find("add units=pixels or units=fractions"), std::string::npos)
      << boxes.Fault();
  EXPECT_FALSE(boxes.Record().has_value());
}

TEST(LabelledBoxes, AnImageOfAnotherSizeThanItsLabelsIsNotScored) {
  const Tensor one = RowsOfBoxes(1, {20, 20, 40, 40, 0.9F, 0});
  const auto fault_of = [&](ImageSize size) {
    BoxLabels labels = TwoImages();
    labels.NoteImage(0, {"val/b.png", size}, {});
    LabelledBoxes boxes(labels, CornersOfBoxes());
    boxes.Add(0, one, one);
    return boxes.Fault();
  };
  EXPECT_EQ(fault_of({100, 200}), "");
  EXPECT_TRUE(fault_of({200, 100})
                  .starts_with("1 of 1 sample could not be scored: sample 0 of iteration 0: image "
                               "'val/b.png' is 100 x 200 "
                               "pixels (width x height), and 200 x 100 by the labels, as if EXIF "
                               "had turned it, which is "
                               "ignored here: feed the images that --labels '"))
      << fault_of({200, 100});
  EXPECT_NE(fault_of({50, 100}).find("as if it had been resized"), std::string::npos);
}

TEST(LabelledBoxes, TheSizeOfTheFileWillDoWhereTheLabelsHaveNone) {
  BoxLabels labels = TwoImages(R"("license": 1)");
  labels.NoteImage(0, {"val/b.png", {100, 200}}, {});
  LabelledBoxes boxes(labels, *ParseDecision("boxes:xyxy,score,class,units=fractions"));
  const Tensor one = RowsOfBoxes(1, {0.5F, 0.5F, 0.9F, 0.9F, 0.9F, 0});
  boxes.Add(0, one, one);
  EXPECT_EQ(boxes.Fault(), "");
  EXPECT_NEAR(boxes.Record()->first.ap75, 1, kSame);
}

TEST(LabelledBoxes, AnIterationThatIsMissingEndsTheOrder) {
  const BoxLabels labels = TwoImages();
  LabelledBoxes boxes(labels, CornersOfBoxes());
  const Tensor one = RowsOfBoxes(1, {20, 10, 60, 50, 0.9F, 1});
  boxes.Add(0, one, one);
  boxes.Add(2, one, one);
  EXPECT_EQ(boxes.Record()->images, 1);
  EXPECT_TRUE(boxes.Fault().starts_with("1 of 2 samples could not be scored: an earlier iteration"))
      << boxes.Fault();
}

TEST(LabelledBoxes, NanDetectsNothing) {
  const BoxLabels labels = TwoImages();
  LabelledBoxes boxes(labels, CornersOfBoxes());
  std::vector<float> values = {20, 10, 60, 50, 0.9F, 1, 100, 50, 180, 90, 0.9F, 0};
  const Tensor good = RowsOfBoxes(2, values);
  values[4] = std::numeric_limits<float>::quiet_NaN();
  boxes.Add(0, good, RowsOfBoxes(2, values));
  EXPECT_EQ(boxes.Fault(), "");
  EXPECT_NEAR(boxes.Record()->first.ap, 1, kSame);
  EXPECT_NEAR(boxes.Record()->second.ap, 0.5, kSame);
}

}  // namespace
}  // namespace vernier
