#include "backend/worker/image_messages.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ImageRequest RequestFor(const std::string& path) {
  PreprocessWords words;
  words.crop_size = ImageSize{1, 1};
  words.crop = true;
  const TensorInfo input{"x", DType::kFloat32,
                         std::vector<Dim>{Dim{1, {}}, Dim{1, {}}, Dim{-1, {}}, Dim{-1, {}}}};
  return {path, 100, *FitToInput(words, input)};
}

TEST(ImageRequest, ArrivesAsItWasSent) {
  const ImageRequest sent = RequestFor("some.png");
  MessageWriter message;
  sent.Encode(message);
  MessageReader in(message.bytes());
  const ImageRequest request = ImageRequest::Decode(in);
  EXPECT_TRUE(in.finished());
  EXPECT_EQ(request.path, "some.png");
  EXPECT_EQ(request.most_pixels, 100);
  EXPECT_EQ(request.recipe.crop, (ImageSize{1, 1}));
  EXPECT_TRUE(request.recipe.gray && request.recipe.in_batch);
  EXPECT_EQ(request.recipe.values, sent.recipe.values);
}

TEST(ImageRequest, LacksNoValueOfAByte) {
  ImageRequest request = RequestFor("some.png");
  request.recipe.values.pop_back();
  MessageWriter message;
  request.Encode(message);
  MessageReader in(message.bytes());
  ImageRequest::Decode(in);
  EXPECT_TRUE(in.failed());
}

TEST(ReadImageFile, MakesATensorOfAFile) {
  // What Pillow wrote of [[7, 200]], with transparency.
  constexpr uint8_t kPng[] = {
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
      0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x08, 0x04, 0x00, 0x00,
      0x00, 0x5e, 0x2b, 0xb7, 0x01, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78,
      0x9c, 0x63, 0x60, 0x67, 0x38, 0xd1, 0x00, 0x00, 0x02, 0x31, 0x01, 0x50, 0x4d, 0x4a,
      0x51, 0x0a, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
  };
  const std::string path = testing::TempDir() + "vernier-image-messages.png";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(kPng), sizeof(kPng));
  const Result<ReadImage> image = ReadImageFile(RequestFor(path));
  ASSERT_TRUE(image.ok()) << image.status().message();
  EXPECT_EQ(image->remarks, kAlphaImage);
  EXPECT_EQ(image->size, (ImageSize{1, 2}));
  EXPECT_THAT(image->tensor.As<float>(), ElementsAre(7));
  std::ofstream(path, std::ios::binary) << "no image";
  EXPECT_THAT(ReadImageFile(RequestFor(path)).status().message(),
              HasSubstr("it is neither a PNG nor a JPEG"));
  std::remove(path.c_str());
  EXPECT_EQ(ReadImageFile(RequestFor(path)).status().code(), StatusCode::kMalformed);
}

}  // namespace
}  // namespace vernier
