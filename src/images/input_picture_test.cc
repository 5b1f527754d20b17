#include "images/input_picture.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace vernier {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

template <typename T>
Tensor TensorOf(DType dtype, Dims dims, const std::vector<T>& values) {
  return *Tensor::Copy(dtype, std::move(dims), std::as_bytes(std::span(values)));
}

// Element i is of(i).
template <typename Function>
Tensor Floats(Dims dims, const Function& of) {
  std::vector<float> values(static_cast<size_t>(*ElementCount(dims)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(of(i));
  return TensorOf(DType::kFloat32, std::move(dims), values);
}

InputPicture Show(const Tensor& input, int64_t image = 0, const PreprocessWords* words = nullptr) {
  const std::optional<ImageAxes> axes = FindImageAxes(input);
  EXPECT_TRUE(axes.has_value());
  return axes ? ShowInput(input, *axes, image, words, 160) : InputPicture();
}

Tensor Zeros(Dims dims) {
  return Floats(std::move(dims), [](size_t) { return 0.0; });
}

TEST(FindImageAxes, TakesChannelsFirstAndLast) {
  const std::optional<ImageAxes> first = FindImageAxes(Zeros({2, 3, 16, 20}));
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->images, 2);
  EXPECT_EQ(first->channels, 3);
  EXPECT_EQ(first->size, (ImageSize{16, 20}));
  EXPECT_FALSE(first->channels_last);
  const std::optional<ImageAxes> last = FindImageAxes(Zeros({20, 16, 4}));
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->images, 1);
  EXPECT_EQ(last->channels, 4);
  EXPECT_EQ(last->size, (ImageSize{20, 16}));
  EXPECT_TRUE(last->channels_last);
  EXPECT_FALSE(last->in_batch);
}

TEST(FindImageAxes, TakesNothingElseForAnImage) {
  for (const Dims& dims : {Dims{1, 3, 15, 16}, Dims{1, 2, 32, 32}, Dims{32, 32}, Dims{0, 3, 16, 16},
                           Dims{1, 1, 3, 16, 16}, Dims{1, 16, 16, 16}}) {
    EXPECT_FALSE(FindImageAxes(Zeros(dims)).has_value()) << FormatDims(dims);
  }
  const std::vector<uint8_t> flags(256);
  EXPECT_FALSE(FindImageAxes(TensorOf(DType::kBool, {1, 16, 16}, flags)).has_value());
}

TEST(ShowInput, PutsPixelsWhereTheyBelong) {
  // Byte c * 256 + y * 16 + x of CHW, as HWC has it too.
  std::vector<uint8_t> planar(2 * 3 * 256), packed(planar.size());
  for (size_t n = 0; n < 2; ++n) {
    for (size_t i = 0; i < 256; ++i) {
      for (size_t c = 0; c < 3; ++c) {
        const auto value = static_cast<uint8_t>(i * (c + 1) + n * 7);
        planar[n * 768 + c * 256 + i] = value;
        packed[n * 768 + i * 3 + c] = value;
      }
    }
  }
  const InputPicture first = Show(TensorOf(DType::kUint8, {2, 3, 16, 16}, planar), 1);
  const InputPicture last = Show(TensorOf(DType::kUint8, {2, 16, 16, 3}, packed), 1);
  EXPECT_EQ(first.raster.channels, 3);
  EXPECT_EQ(first.raster.pixels, last.raster.pixels);
  EXPECT_EQ(first.raster.pixels, (std::vector<uint8_t>(packed.begin() + 768, packed.end())));
  EXPECT_EQ(first.how, "uint8, NCHW, RGB, values are 0 to 255");
  EXPECT_EQ(last.how, "uint8, NHWC, RGB, values are 0 to 255");
}

struct GuessCase {
  double least;
  double most;
  const char* how;
  int darkest;
  int brightest;
};

TEST(ShowInput, GuessesHowNumbersWereMade) {
  const GuessCase cases[] = {
      {0, 1, "guessed: values are 0 to 1", 0, 255},
      {0.25, 0.75, "guessed: values are 0 to 1", 64, 191},
      {0, 250, "guessed: values are 0 to 255", 0, 250},
      {-1, 1, "guessed: values are -1 to 1", 0, 255},
      {-3, 5, "values from -3 (black) to 5 (white)", 0, 255},
      {0, 8, "values from 0 (black) to 8 (white)", 0, 255},
      {-2, 300, "values from -2 (black) to 300 (white)", 0, 255},
      {7, 7, "values from 7 (black) to 7 (white)", 128, 128},
  };
  for (const GuessCase& example : cases) {
    const Tensor input = Floats({1, 1, 16, 16}, [&](size_t i) {
      return example.least + (example.most - example.least) * static_cast<double>(i) / 255;
    });
    const InputPicture picture = Show(input);
    EXPECT_THAT(picture.how, EndsWith(example.how));
    EXPECT_EQ(picture.raster.pixels.front(), example.darkest) << example.how;
    EXPECT_EQ(picture.raster.pixels.back(), example.brightest) << example.how;
  }
}

TEST(ShowInput, KnowsImageNetsMeanAndDeviation) {
  const double mean[] = {0.485, 0.456, 0.406}, deviation[] = {0.229, 0.224, 0.225};
  const Tensor input = Floats({3, 16, 16}, [&](size_t i) {
    return (static_cast<double>(i % 256) / 255 - mean[i / 256]) / deviation[i / 256];
  });
  const InputPicture picture = Show(input);
  EXPECT_EQ(picture.how, "float32, CHW, RGB, guessed: ImageNet's mean and standard deviation");
  for (size_t i = 0; i < 256; ++i) {
    for (size_t c = 0; c < 3; ++c) EXPECT_EQ(picture.raster.pixels[i * 3 + c], i);
  }
}

TEST(ShowInput, GoesBackTheWayOfPreprocess) {
  const Result<PreprocessWords> words =
      ParsePreprocess("scale=1/127.5,mean=1,std=0.5,bgr,layout=nchw");
  ASSERT_TRUE(words.ok());
  // Blue first: 10, 20 and 30 are blue, green and red.
  const Tensor input = Floats({1, 3, 16, 16}, [](size_t i) {
    return (10.0 * static_cast<double>(i / 256 + 1) / 127.5 - 1) / 0.5;
  });
  const InputPicture picture = Show(input, 0, &*words);
  EXPECT_EQ(picture.how, "float32, NCHW, BGR, values as --preprocess made them");
  EXPECT_EQ(
      (std::vector<uint8_t>(picture.raster.pixels.begin(), picture.raster.pixels.begin() + 3)),
      (std::vector<uint8_t>{30, 20, 10}));
}

TEST(ShowInput, ShowsWhatIsNotFiniteInBlackAndSaysSo) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor input = Floats({1, 16, 16}, [&](size_t i) {
    return i == 5 ? nan : i == 6 ? INFINITY : 0.5;
  });
  const InputPicture picture = Show(input);
  EXPECT_THAT(picture.how, HasSubstr("guessed: values are 0 to 1"));
  EXPECT_THAT(picture.how, EndsWith("black where not finite (2 values)"));
  EXPECT_EQ(picture.raster.pixels[4], 128);
  EXPECT_EQ(picture.raster.pixels[5], 0);
  EXPECT_EQ(picture.raster.pixels[6], 0);
  const InputPicture none = Show(Floats({1, 16, 16}, [&](size_t) { return nan; }));
  EXPECT_THAT(none.how, HasSubstr("no value is finite"));
}

TEST(ShowInput, ShrinksLargeImagesAndDropsTheFourthChannel) {
  const Tensor input = Floats({1, 4, 100, 1000}, [](size_t i) { return i < 100000 ? 1.0 : 0.0; });
  const InputPicture picture = Show(input);
  EXPECT_EQ(picture.raster.size, (ImageSize{16, 160}));
  EXPECT_EQ(picture.raster.channels, 3);
  EXPECT_THAT(picture.how, HasSubstr("NCHW, RGB without the fourth channel"));
  EXPECT_EQ(picture.raster.pixels[0], 255);
  EXPECT_EQ(picture.raster.pixels[1], 0);
}

}  // namespace
}  // namespace vernier
