#include "images/decode.h"

#include <gmock/gmock.h>

#include <charconv>
#include <string>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kMostPixels = 1000;

std::vector<std::byte> FromHex(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes.push_back(std::byte{byte});
  }
  return bytes;
}

// Files that Pillow wrote.
constexpr std::string_view kPalettePng =
    "89504e470d0a1a0a0000000d4948445200000003000000020203000000e01a8e8900000009504c5445ff000000ff"
    "000000ff2d4acd8a0000000c4944415478da63906098000000dc00a9521a138f0000000049454e44ae426082";
constexpr std::string_view kPaletteAlphaPng =
    "89504e470d0a1a0a0000000d4948445200000003000000020203000000e01a8e8900000009504c5445ff000000ff"
    "000000ff2d4acd8a0000000274524e53ff00e5b7304a0000000c4944415478da63906098000000dc00a9521a138f"
    "0000000049454e44ae426082";
constexpr std::string_view kGray16Png =
    "89504e470d0a1a0a0000000d4948445200000002000000021000000000074d8ebb0000001249444154789c631032"
    "f9ff9fa18181e13f00123e03c44fe4338a0000000049454e44ae426082";
constexpr std::string_view kRgbaPng =
    "89504e470d0a1a0a0000000d4948445200000002000000010806000000f4227f8a0000001149444154789c636064"
    "6266f8f5fb0f2700090b03013f5925f60000000049454e44ae426082";
constexpr std::string_view kGrayAlphaPng =
    "89504e470d0a1a0a0000000d49484452000000020000000108040000005e2bb7010000000d49444154789c636067"
    "38d10000023101504d4a510a0000000049454e44ae426082";
constexpr std::string_view kOneBitPng =
    "89504e470d0a1a0a0000000d49484452000000050000000101000000003e85595e0000000a49444154789c63c800"
    "00006a006939464a8a0000000049454e44ae426082";
constexpr std::string_view kTurnedPng =
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000001a655849664d4d002a00"
    "000008000101120003000000010006000000000000d6674b690000000a49444154789c63e00400000b000ac32bee"
    "920000000049454e44ae426082";
constexpr std::string_view kGrayJpeg =
    "ffd8ffe000104a46494600010100000100010000ffdb004300080606070605080707070909080a0c140d0c0b0b0c"
    "1912130f141d1a1f1e1d1a1c1c20242e2720222c231c1c2837292c30313434341f27393d38323c2e333432ffc000"
    "0b080002000301011100ffc40014000100000000000000000000000000000005ffc4001410010000000000000000"
    "0000000000000000ffda0008010100003f000dffd9";
constexpr std::string_view kRgbJpeg =
    "ffd8ffe000104a46494600010100000100010000ffdb004300020101010101020101010202020202040302020202"
    "0504040304060506060605060606070908060709070606080b08090a0a0a0a0a06080b0c0b0a0c090a0a0affdb00"
    "4301020202020202050303050a0706070a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
    "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0affc00011080003000503012200021101031101ffc40015000101"
    "00000000000000000000000000000008ffc40014100100000000000000000000000000000000ffc4001501010100"
    "000000000000000000000000000409ffc40014110100000000000000000000000000000000ffda000c0301000211"
    "0311003f009dc01d4c1fffd9";
constexpr std::string_view kTurnedJpeg =
    "ffd8ffe000104a46494600010100000100010000ffe100224578696600004d4d002a000000080001011200030000"
    "00010006000000000000ffdb004300080606070605080707070909080a0c140d0c0b0b0c1912130f141d1a1f1e1d"
    "1a1c1c20242e2720222c231c1c2837292c30313434341f27393d38323c2e333432ffc0000b080001000101011100"
    "ffc40014000100000000000000000000000000000007ffc40014100100000000000000000000000000000000ffda"
    "0008010100003f00317fffd9";
constexpr std::string_view kCmykJpeg =
    "ffd8ffee000e41646f626500640000000000ffdb004300080606070605080707070909080a0c140d0c0b0b0c1912"
    "130f141d1a1f1e1d1a1c1c20242e2720222c231c1c2837292c30313434341f27393d38323c2e333432ffc0001408"
    "00010002044311004d11005911004b1100ffc4001500010100000000000000000000000000000705ffc400141001"
    "00000000000000000000000000000000ffda000e0443004d0059004b00003f00755b1b185fffd9";

DecodedImage Decoded(std::string_view hex) {
  Result<DecodedImage> image = DecodeImage(FromHex(hex), kMostPixels);
  EXPECT_TRUE(image.ok()) << image.status().message();
  return image.ok() ? *std::move(image) : DecodedImage();
}

std::string Refusal(std::span<const std::byte> file, int64_t most_pixels = kMostPixels) {
  const Result<DecodedImage> image = DecodeImage(file, most_pixels);
  EXPECT_EQ(image.status().code(), StatusCode::kMalformed);
  return image.status().message();
}

TEST(DecodeImage, LooksColorsUpInAPalette) {
  const DecodedImage image = Decoded(kPalettePng);
  EXPECT_EQ(image.raster.size, (ImageSize{2, 3}));
  EXPECT_EQ(image.raster.channels, 3);
  EXPECT_EQ(image.remarks, kPaletteImage);
  EXPECT_THAT(image.raster.pixels,
              ElementsAre(255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 255, 0, 255, 0, 255, 0, 0));
  const DecodedImage transparent = Decoded(kPaletteAlphaPng);
  EXPECT_EQ(transparent.remarks, kPaletteImage | kAlphaImage);
  EXPECT_EQ(transparent.raster.pixels, image.raster.pixels);
}

TEST(DecodeImage, TakesTheUpperBitsOfSixteen) {
  const DecodedImage image = Decoded(kGray16Png);
  EXPECT_EQ(image.raster.channels, 1);
  EXPECT_EQ(image.remarks, kSixteenBitImage);
  EXPECT_THAT(image.raster.pixels, ElementsAre(0x12, 0xff, 0x80, 0x00));
}

TEST(DecodeImage, DropsTransparency) {
  const DecodedImage image = Decoded(kRgbaPng);
  EXPECT_EQ(image.remarks, kAlphaImage);
  EXPECT_THAT(image.raster.pixels, ElementsAre(1, 2, 3, 250, 251, 252));
  const DecodedImage gray = Decoded(kGrayAlphaPng);
  EXPECT_EQ(gray.raster.channels, 1);
  EXPECT_THAT(gray.raster.pixels, ElementsAre(7, 200));
}

TEST(DecodeImage, WidensOneBit) {
  EXPECT_THAT(Decoded(kOneBitPng).raster.pixels, ElementsAre(0, 255, 255, 0, 255));
}

TEST(DecodeImage, ReadsJpegAsLibjpegDoes) {
  const DecodedImage gray = Decoded(kGrayJpeg);
  EXPECT_EQ(gray.raster.size, (ImageSize{2, 3}));
  EXPECT_THAT(gray.raster.pixels, testing::Each(100));
  const DecodedImage rgb = Decoded(kRgbJpeg);
  EXPECT_EQ(rgb.raster.size, (ImageSize{3, 5}));
  ASSERT_EQ(rgb.raster.channels, 3);
  EXPECT_THAT(std::vector(rgb.raster.pixels.begin(), rgb.raster.pixels.begin() + 3),
              ElementsAre(201, 40, 90));
  const DecodedImage cmyk = Decoded(kCmykJpeg);
  EXPECT_EQ(cmyk.remarks, kCmykImage);
  EXPECT_THAT(cmyk.raster.pixels, ElementsAre(216, 137, 49, 216, 137, 49));
}

TEST(DecodeImage, NotesWhatExifWouldTurn) {
  EXPECT_EQ(Decoded(kTurnedPng).remarks, kTurnedImage);
  EXPECT_EQ(Decoded(kTurnedJpeg).remarks, kTurnedImage);
  EXPECT_EQ(Decoded(kTurnedJpeg).raster.size, (ImageSize{1, 1}));
}

TEST(DecodeImage, RefusesWhatIsNoImage) {
  EXPECT_EQ(Refusal({}), "it is empty");
  EXPECT_EQ(Refusal(FromHex("424d0000")), "it is neither a PNG nor a JPEG");
}

// Each file cut off anywhere is damaged, and none of it is taken for an image.
TEST(DecodeImage, RefusesWhatIsCutOff) {
  for (const std::string_view hex : {kPaletteAlphaPng, kTurnedPng, kRgbJpeg, kCmykJpeg}) {
    const std::vector<std::byte> file = FromHex(hex);
    for (size_t size = 8; size < file.size(); ++size) {
      EXPECT_THAT(Refusal(std::span(file).first(size)), HasSubstr("it is damaged: ")) << size;
    }
  }
}

TEST(DecodeImage, ComparesTheSizeBeforeItDecodes) {
  std::vector<std::byte> png = FromHex(kRgbaPng);
  for (size_t i = 16; i < 24; i += 4) png[i] = std::byte{0x7f};  // 0x7f000002 x 0x7f000001
  EXPECT_EQ(Refusal(png, 100'000'000),
            "it has 2130706434x2130706433 pixels, more than --max-image-pixels 100000000");
  std::vector<std::byte> jpeg = FromHex(kGrayJpeg);
  constexpr size_t kHeight = 94;  // behind ffc0, its length and the precision
  ASSERT_EQ(jpeg[kHeight + 1], std::byte{2});
  jpeg[kHeight] = jpeg[kHeight + 2] = std::byte{0xff};
  EXPECT_THAT(Refusal(jpeg, 100'000'000), HasSubstr("it has 65283x65282 pixels, more than"));
  EXPECT_THAT(Refusal(FromHex(kRgbJpeg), 14), HasSubstr("it has 5x3 pixels, more than"));
  EXPECT_TRUE(DecodeImage(FromHex(kRgbJpeg), 15).ok());
}

TEST(DecodeImage, RefusesAnImageWithoutPixels) {
  std::vector<std::byte> png = FromHex(kRgbaPng);
  png[19] = std::byte{0};
  EXPECT_EQ(Refusal(png), "it has no pixels (0x1)");
}

}  // namespace
}  // namespace vernier
