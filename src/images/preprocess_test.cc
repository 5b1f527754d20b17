#include "images/preprocess.h"

#include <gmock/gmock.h>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kSmallImage = 1'000'000;

PreprocessWords Words(std::string_view text) {
  Result<PreprocessWords> words = ParsePreprocess(text);
  EXPECT_TRUE(words.ok()) << words.status().message();
  return words.ok() ? *std::move(words) : PreprocessWords();
}

// Sizes of -1 are free.
TensorInfo Input(std::vector<int64_t> sizes, DType dtype = DType::kFloat32) {
  TensorInfo input{"x", dtype, std::vector<Dim>()};
  for (const int64_t size : sizes) input.shape->push_back(Dim{size, {}});
  return input;
}

ImageRecipe Recipe(std::string_view words, const TensorInfo& input) {
  Result<ImageRecipe> recipe = FitToInput(words.empty() ? PreprocessWords() : Words(words), input);
  EXPECT_TRUE(recipe.ok()) << recipe.status().message();
  return recipe.ok() ? *std::move(recipe) : ImageRecipe();
}

std::string Refusal(std::string_view words, const TensorInfo& input) {
  const Result<ImageRecipe> recipe =
      FitToInput(words.empty() ? PreprocessWords() : Words(words), input);
  EXPECT_EQ(recipe.status().code(), StatusCode::kInvalidArgument);
  return recipe.status().message();
}

TEST(ParsePreprocess, ReadsEveryWord) {
  const PreprocessWords words =
      Words("resize=256,crop=224x200,scale=1/255,mean=0.485,0.456,0.406,std=0.5,layout=nhwc,bgr");
  EXPECT_EQ(words.shorter_side, 256);
  EXPECT_TRUE(words.crop);
  EXPECT_EQ(words.crop_size, (ImageSize{224, 200}));
  EXPECT_EQ(words.scale, 1. / 255);
  EXPECT_THAT(words.mean, ElementsAre(0.485, 0.456, 0.406));
  EXPECT_THAT(words.std_dev, ElementsAre(0.5));
  EXPECT_EQ(words.layout, ImageLayout::kNhwc);
  EXPECT_EQ(words.color, ImageColor::kBgr);
  EXPECT_EQ(Words("resize=480x640").resize, (ImageSize{480, 640}));
  EXPECT_FALSE(Words("crop").crop_size);
}

TEST(ParsePreprocess, NamesTheWordAndAllThereAre) {
  const std::string bad[] = {
      "",          "resise=224",      "resize",    "resize=0",      "resize=2x",
      "crop=0",    "scale=0",         "scale=1/0", "std=0",         "std=-1",
      "std=1,0,1", "mean=a",          "mean=1,2",  "0.5",           "layout=chw",
      "rgb,gray",  "scale=1,scale=2", "gray=1",    "crop,resize=8", "mean=1,2,3,4",
      "scale=nan"};
  for (const std::string& words : bad) {
    const Status status = ParsePreprocess(words).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << words;
    EXPECT_THAT(status.message(), StartsWith("--preprocess: expected words of resize=N, "))
        << words;
  }
  EXPECT_THAT(ParsePreprocess("resize=8,resise=224").status().message(),
              testing::EndsWith("gray, got 'resise=224'"));
  EXPECT_THAT(ParsePreprocess("crop,resize=8").status().message(),
              HasSubstr("'resize=8' after crop: images are resized first"));
}

TEST(FitToInput, TakesLayoutColorAndTypeFromTheInput) {
  EXPECT_EQ(DescribeRecipe(Recipe("", Input({-1, 3, 224, 224}))), "float32, NCHW, RGB");
  EXPECT_EQ(DescribeRecipe(Recipe("bgr", Input({1, 32, 32, 3}, DType::kUint8))),
            "uint8, NHWC, BGR");
  EXPECT_EQ(DescribeRecipe(Recipe("", Input({1, 28, 28}, DType::kFloat16))), "float16, CHW, gray");
  EXPECT_EQ(DescribeRecipe(Recipe("layout=nchw", Input({-1, -1, -1, -1}))), "float32, NCHW, RGB");
  EXPECT_EQ(Recipe("crop", Input({1, 3, 7, 5})).crop, (ImageSize{7, 5}));
  EXPECT_EQ(Recipe("crop=4", Input({1, 3, -1, -1})).crop, (ImageSize{4, 4}));
}

TEST(FitToInput, SaysWhatDoesNotFit) {
  EXPECT_THAT(Refusal("", Input({1, 10})), HasSubstr("input 'x' does not take an image"));
  EXPECT_THAT(Refusal("", Input({4, 3, 8, 8})), HasSubstr("takes 4 images at once"));
  EXPECT_THAT(Refusal("", Input({-1, -1, -1, -1})), HasSubstr("add layout=nchw or layout=nhwc"));
  EXPECT_THAT(Refusal("layout=nhwc", Input({1, 3, 8, 8})), HasSubstr("layout= says"));
  EXPECT_THAT(Refusal("gray", Input({1, 3, 8, 8})), HasSubstr("has 3 channels"));
  EXPECT_THAT(Refusal("rgb", Input({1, 1, 8, 8})), HasSubstr("has 1 channels"));
  EXPECT_THAT(Refusal("crop", Input({1, 3, -1, -1})), HasSubstr("say what to crop to"));
  EXPECT_THAT(Refusal("mean=1,2,3", Input({1, 1, 8, 8})), HasSubstr("has three numbers"));
  EXPECT_THAT(Refusal("scale=1/255", Input({1, 3, 8, 8}, DType::kUint8)),
              HasSubstr("is uint8, which has no 0.00392157"));
  EXPECT_THAT(Refusal("", Input({1, 3, 8, 8}, DType::kInt8)), HasSubstr("has no 128"));
  EXPECT_THAT(Refusal("scale=1000", Input({1, 3, 8, 8}, DType::kFloat16)), HasSubstr("has no "));
  EXPECT_THAT(Refusal("", Input({1, 3, 8, 8}, DType::kBool)), HasSubstr("is bool, which"));
}

const RasterImage kTwoPixels{{1, 2}, 3, {0, 51, 255, 102, 153, 204}};

TEST(MakeImageTensor, PutsValuesWhereTheLayoutHasThem) {
  const ImageRecipe first = Recipe("scale=1/255,mean=0.2,0.4,0.6,std=0.5", Input({1, 3, 1, 2}));
  const Tensor chw = *MakeImageTensor(kTwoPixels, first, kSmallImage);
  EXPECT_THAT(chw.dims(), ElementsAre(1, 3, 1, 2));
  EXPECT_THAT(chw.As<float>(), ElementsAre(FloatEq(-0.4F), FloatEq(0.4F), FloatEq(-0.4F),
                                           FloatEq(0.4F), FloatEq(0.8F), FloatEq(0.4F)));
  const Tensor hwc =
      *MakeImageTensor(kTwoPixels, Recipe("bgr", Input({-1, 2, 3}, DType::kUint8)), kSmallImage);
  EXPECT_THAT(hwc.dims(), ElementsAre(1, 2, 3));
  EXPECT_THAT(hwc.As<uint8_t>(), ElementsAre(255, 51, 0, 204, 153, 102));
  const ImageRecipe shifted = Recipe("mean=128", Input({-1, 1, -1, -1}, DType::kInt8));
  EXPECT_THAT(MakeImageTensor({{1, 2}, 1, {0, 255}}, shifted, kSmallImage)->As<int8_t>(),
              ElementsAre(-128, 127));
}

TEST(MakeImageTensor, KeepsTheProportionsOfTheShorterSide) {
  const RasterImage image{{40, 30}, 1, std::vector<uint8_t>(1200, 7)};
  const TensorInfo input = Input({1, 1, -1, -1});
  EXPECT_THAT(MakeImageTensor(image, Recipe("resize=20", input), kSmallImage)->dims(),
              ElementsAre(1, 1, 26, 20));
  EXPECT_THAT(MakeImageTensor(image, Recipe("resize=8x9", input), kSmallImage)->dims(),
              ElementsAre(1, 1, 8, 9));
  EXPECT_THAT(MakeImageTensor(image, Recipe("resize=20,crop=18", input), kSmallImage)->dims(),
              ElementsAre(1, 1, 18, 18));
}

TEST(PlaceImage, FollowsResizingAndCropping) {
  const TensorInfo input = Input({1, 1, -1, -1});
  const ImagePlacement whole = PlaceImage(Recipe("", input), {40, 30});
  EXPECT_EQ(whole.scale_x, 1);
  EXPECT_EQ(whole.left, 0);
  EXPECT_EQ(whole.fed, (ImageSize{40, 30}));
  const ImagePlacement stretched = PlaceImage(Recipe("resize=8x9", input), {40, 30});
  EXPECT_EQ(stretched.scale_x, 0.3);
  EXPECT_EQ(stretched.scale_y, 0.2);
  const ImagePlacement cut = PlaceImage(Recipe("resize=20,crop=18", input), {40, 30});
  EXPECT_EQ(cut.scale_y, 0.65);  // 26 of 40 rows
  EXPECT_EQ(cut.top, 4);
  EXPECT_EQ(cut.left, 1);
  EXPECT_EQ(cut.fed, (ImageSize{18, 18}));
}

TEST(MakeImageTensor, SaysWhichSizesDoNotFit) {
  const auto refusal = [](std::string_view words, const TensorInfo& input,
                          StatusCode code = StatusCode::kInvalidArgument) {
    const Result<Tensor> made = MakeImageTensor(kTwoPixels, Recipe(words, input), kSmallImage);
    EXPECT_EQ(made.status().code(), code);
    return made.status().message();
  };
  EXPECT_EQ(refusal("", Input({1, 3, 8, -1})),
            "it is fed as 1x2, and the input takes 8x?: add resize=HxW, or resize=N,crop, to "
            "--preprocess");
  EXPECT_THAT(refusal("crop", Input({1, 3, 8, 8})), HasSubstr("it is 1x2, too small to crop 8x8"));
  // That depends on the image: others may fit.
  EXPECT_THAT(refusal("resize=60000", Input({1, 3, -1, -1}), StatusCode::kMalformed),
              HasSubstr("more pixels than"));
  EXPECT_THAT(refusal("resize=60000x60000", Input({1, 3, -1, -1})), HasSubstr("more pixels than"));
}

}  // namespace
}  // namespace vernier
