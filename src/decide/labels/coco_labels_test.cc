#include "decide/labels/coco_labels.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace vernier {
namespace {

Result<CocoLabels> ReadCocoText(const std::string& text) {
  const std::string path = testing::TempDir() + "coco." + std::to_string(getpid()) + ".json";
  std::ofstream(path) << text;
  Result<CocoLabels> labels = ReadCocoLabels(path);
  std::filesystem::remove(path);
  return labels;
}

TEST(CocoLabels, ListsAreSortedByIdAndBoxesKeepTheirOrder) {
  const Result<CocoLabels> labels = ReadCocoText(R"({
    "info": {"year": 2017},
    "annotations": [
      {"id": 9, "image_id": 4, "category_id": 18, "bbox": [1, 2.5, 30, 4], "area": 60.5,
       "iscrowd": 1, "segmentation": {"counts": [3, 4], "size": [2, 2]}},
      {"id": 3, "image_id": 4, "category_id": 2, "bbox": [0, 0, 3, 4]},
      {"id": 0, "image_id": 2, "category_id": 2, "bbox": [0, 0, 1, 1], "iscrowd": 0},
      {"id": 7, "image_id": 5, "category_id": 2, "bbox": [0, 0, 1, 1]}],
    "categories": [{"id": 18, "name": "dog"}, {"id": 2, "name": "bicycle"}],
    "images": [{"id": 4, "file_name": "b.jpg", "width": 640, "height": 480}, {"id": 2}]})");
  ASSERT_TRUE(labels.ok()) << labels.status().message();
  ASSERT_EQ(labels->categories.size(), 2U);
  EXPECT_EQ(labels->categories[0].id, 2);
  EXPECT_EQ(labels->categories[1].name, "dog");
  ASSERT_EQ(labels->images.size(), 2U);
  EXPECT_EQ(labels->images[0].file_name, "");
  EXPECT_TRUE(labels->images[0].boxes[0].taken_in_vain);
  const CocoImage& image = labels->images[1];
  EXPECT_EQ(image.file_name, "b.jpg");
  EXPECT_EQ(image.width, 640);
  ASSERT_EQ(image.boxes.size(), 2U);
  EXPECT_EQ(image.boxes[0].category, 18);
  EXPECT_EQ(image.boxes[0].y, 2.5);
  EXPECT_EQ(image.boxes[0].area, 60.5);
  EXPECT_TRUE(image.boxes[0].crowd);
  EXPECT_EQ(image.boxes[1].area, 12);  // without an area of its own, that of the box
  EXPECT_FALSE(image.boxes[1].crowd);
  EXPECT_TRUE(labels->has_id_zero);
  EXPECT_EQ(labels->left_out, 1);  // of image 5
}

TEST(CocoLabels, NamesTheFileAndTheElement) {
  const Result<CocoLabels> labels = ReadCocoText(
      R"({"images": [], "categories": [], "annotations": [{"id": 1, "image_id": 1.5}]})");
  ASSERT_FALSE(labels.ok());
  EXPECT_EQ(labels.status().code(), StatusCode::kMalformed);
  EXPECT_TRUE(labels.status().message().starts_with("'/")) << labels.status().message();
  EXPECT_TRUE(labels.status().message().ends_with(
      "coco." + std::to_string(getpid()) +
      ".json': annotation 0: image_id: expected an integer, got '1.5'"))
      << labels.status().message();
  EXPECT_EQ(ReadCocoLabels("missing.json").status().code(), StatusCode::kMalformed);
}

TEST(CocoLabels, SizesAndPlacesThatNoImageHasAreRefused) {
  const auto why = [](const std::string& image, const std::string& box) {
    const std::string text = R"({"images": [{)" + image + R"(, "id": 7}], "categories": [{"id": 1}],
        "annotations": [{"bbox": [)" +
                             box + R"(], "id": 1, "image_id": 7, "category_id": 1}]})";
    const std::string message = ReadCocoText(text).status().message();
    return message.substr(message.find(".json': ") + 8);
  };
  const std::string sentence = "expected a whole number of pixels, at most 2147483648, got ";
  EXPECT_EQ(why(R"("width": 1e300)", "0, 0, 1, 1"), "image id 7: width: " + sentence + "1e+300");
  EXPECT_EQ(why(R"("height": 10.5)", "0, 0, 1, 1"), "image id 7: height: " + sentence + "10.5");
  EXPECT_EQ(why(R"("width": 9)", "0, -1e20, 1, 1"),
            "annotation 0 of image id 7: bbox: expected pixels, at most 2147483648, got -1e+20");
  const Result<CocoLabels> labels =
      ReadCocoText(R"({"images": [], "annotations": [], "categories": [{"id": 1e3}]})");
  EXPECT_TRUE(labels.status().message().ends_with("category 0: id: expected an integer, got '1e3'"))
      << labels.status().message();
}

TEST(CocoLabels, WhatIsCutOffOrFollowsIsRefused) {
  const std::string whole = R"({"images": [], "categories": [], "annotations": []})";
  EXPECT_TRUE(ReadCocoText(whole).ok());
  EXPECT_FALSE(ReadCocoText(whole.substr(0, whole.size() - 1)).ok());
  EXPECT_FALSE(ReadCocoText(whole + "]").ok());
  EXPECT_FALSE(ReadCocoText("").ok());
}

}  // namespace
}  // namespace vernier
