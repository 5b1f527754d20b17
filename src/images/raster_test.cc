#include "images/raster.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace vernier {
namespace {

using testing::ElementsAre;

RasterImage Pattern(ImageSize size, int channels) {
  RasterImage image{size, channels, {}};
  for (int64_t y = 0; y < size.height; ++y) {
    for (int64_t x = 0; x < size.width; ++x) {
      for (int64_t c = 0; c < channels; ++c) {
        image.pixels.push_back(static_cast<uint8_t>((x * 37 + y * 91 + c * 53 + x * y * 7) % 256));
      }
    }
  }
  return image;
}

struct ResizeCase {
  ImageSize from;
  int channels;
  ImageSize to;
  std::vector<int> expected;  // Pillow's, with BILINEAR
};

const ResizeCase kResizeCases[] = {
    {{5, 7}, 1, {3, 4}, {60, 122, 117, 149, 145, 117, 130, 151, 101, 157, 144, 158}},
    {{9, 13}, 1, {17, 5}, {39,  124, 142, 64,  149, 68,  124, 129, 93,  128, 121, 123, 107,
                           144, 90,  146, 117, 118, 143, 103, 157, 107, 146, 116, 142, 127,
                           133, 143, 115, 146, 84,  169, 132, 121, 140, 117, 150, 146, 135,
                           133, 160, 125, 162, 150, 127, 127, 136, 139, 119, 134, 97,  143,
                           122, 95,  141, 99,  118, 150, 126, 145, 106, 101, 167, 148, 144,
                           126, 117, 144, 138, 128, 139, 132, 121, 128, 120, 137, 147, 99,
                           118, 128, 136, 156, 86,  112, 132}},
    {{3, 5}, 3, {2, 2}, {74, 122, 154, 123, 136, 168, 153, 135, 116, 110, 116, 148}},
    {{2, 3}, 3, {3, 7}, {0,   53,  106, 5,   58,  111, 21,  74,  127, 37,  90,  143, 53,
                         106, 159, 69,  122, 175, 74,  127, 180, 46,  99,  152, 51,  104,
                         157, 69,  122, 175, 86,  139, 192, 104, 157, 155, 121, 174, 117,
                         127, 180, 105, 91,  144, 197, 97,  150, 203, 116, 169, 222, 135,
                         188, 241, 154, 207, 150, 173, 226, 59,  179, 232, 29}},
    {{11, 4}, 1, {1, 1}, {127}},
    {{6, 6},
     1,
     {6, 3},
     {26, 93, 159, 122, 169, 60, 182, 86, 145, 58, 162, 156, 154, 143, 131, 104, 123, 142}},
};

TEST(ResizeBilinear, GivesPillowsPixelsWithinOne) {
  for (const ResizeCase& example : kResizeCases) {
    const RasterImage made = ResizeBilinear(Pattern(example.from, example.channels), example.to);
    ASSERT_EQ(made.size, example.to);
    ASSERT_EQ(made.pixels.size(), example.expected.size());
    for (size_t i = 0; i < made.pixels.size(); ++i) {
      EXPECT_LE(std::abs(made.pixels[i] - example.expected[i]), 1)
          << example.from.height << "x" << example.from.width << " at " << i;
    }
  }
}

TEST(ResizeBilinear, ToItsOwnSizeChangesNothing) {
  const RasterImage image = Pattern({4, 6}, 3);
  EXPECT_EQ(ResizeBilinear(image, image.size).pixels, image.pixels);
}

TEST(CropCenter, RoundsAnOddRestAsPythonDoes) {
  const RasterImage row{{1, 8}, 1, {0, 1, 2, 3, 4, 5, 6, 7}};
  // Half of 1 is 0, half of 3 is 2, half of 5 is 2.
  EXPECT_EQ(CropCenter(row, {1, 7}).pixels[0], 0);
  EXPECT_EQ(CropCenter(row, {1, 5}).pixels[0], 2);
  EXPECT_THAT(CropCenter(row, {1, 3}).pixels, ElementsAre(2, 3, 4));
  EXPECT_THAT(CropCenter(Pattern({3, 3}, 3), {1, 1}).pixels, ElementsAre(135, 188, 241));
}

TEST(ToGray, IsPillowsConvertL) {
  EXPECT_THAT(ToGray(Pattern({3, 4}, 3)).pixels,
              ElementsAre(43, 80, 117, 154, 134, 178, 193, 87, 196, 97, 71, 122));
}

TEST(ToRgb, RepeatsTheGrayValue) {
  EXPECT_THAT(ToRgb({{1, 2}, 1, {7, 9}}).pixels, ElementsAre(7, 7, 7, 9, 9, 9));
}

}  // namespace
}  // namespace vernier
