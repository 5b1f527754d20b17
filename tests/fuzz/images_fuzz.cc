// Image files: their pixels, and what --preprocess makes of these.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz_target.h"
#include "images/decode.h"
#include "images/input_picture.h"
#include "images/preprocess.h"

namespace {

using namespace vernier;

// Small, so that headers are refused for their size and decoders have little to do.
constexpr int64_t kMostPixels = 1 << 14;

struct Preparation {
  PreprocessWords words;
  TensorInfo input;
};

Preparation Prepare(const char* words, DType dtype, const Dims& dims) {
  Result<PreprocessWords> parsed = ParsePreprocess(words);
  fuzz::Require(parsed.ok(), "words are right");
  TensorInfo input{"x", dtype, std::vector<Dim>()};
  for (const int64_t size : dims) input.shape->push_back({size, ""});
  return {*std::move(parsed), std::move(input)};
}

// Of an image that was decoded: no byte beyond what the model takes, or a sentence.
void Feed(const RasterImage& raster, const Preparation& preparation) {
  const Result<ImageRecipe> recipe = FitToInput(preparation.words, preparation.input);
  fuzz::Require(recipe.ok(), "the input takes images");
  const Result<Tensor> fed = MakeImageTensor(raster, *recipe, kMostPixels);
  if (!fed.ok()) {
    fuzz::Require(!fed.status().message().empty(), "a refusal says why");
    return;
  }
  const std::vector<Dim>& wanted = *preparation.input.shape;
  fuzz::Require(fed->dims().size() == wanted.size(), "axes are the input's");
  for (size_t axis = 0; axis < wanted.size(); ++axis) {
    const int64_t size = wanted[axis].value;
    fuzz::Require(size < 0 || fed->dims()[axis] == size, "sizes are the input's");
  }
  if (const std::optional<ImageAxes> axes = FindImageAxes(*fed)) {
    const InputPicture shown = ShowInput(*fed, *axes, 0, &preparation.words, 8);
    fuzz::Require(std::max(shown.raster.size.height, shown.raster.size.width) <= 8, "a thumbnail");
  }
}

uint32_t BigEndian(std::span<const std::byte> bytes) {
  uint32_t number = 0;
  for (const std::byte byte : bytes.first(4)) number = number << 8 | std::to_integer<uint8_t>(byte);
  return number;
}

// The same with the right checksum behind each chunk of a PNG, which would else end at the first
// change.
std::vector<std::byte> WithChecksums(std::span<const std::byte> png) {
  std::vector<std::byte> file(png.begin(), png.end());
  for (size_t at = 8; file.size() >= 12 && at <= file.size() - 12;) {
    const size_t size = BigEndian(std::span(file).subspan(at));
    if (size > file.size() - at - 12) break;
    const std::span<std::byte> checked = std::span(file).subspan(at + 4, 4 + size);
    const auto sum = static_cast<uint32_t>(::crc32(
        0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())));
    for (size_t i = 0; i < 4; ++i) {
      file[at + 8 + size + i] = static_cast<std::byte>(sum >> (24 - 8 * i));
    }
    at += 12 + size;
  }
  return file;
}

void Look(std::span<const std::byte> file) {
  static const std::array<Preparation, 3> preparations = {
      Prepare("resize=20,crop=17x19,scale=1/255", DType::kFloat32, {1, 3, 17, 19}),
      Prepare("resize=16x16,layout=nhwc,gray", DType::kUint8, {1, 16, 16, 1}),
      Prepare("layout=nchw,mean=127,std=3", DType::kFloat16, {1, 3, -1, -1})};
  const Result<DecodedImage> image = DecodeImage(file, kMostPixels);
  if (!image.ok()) {
    fuzz::Require(!image.status().message().empty(), "a refusal says why");
    return;
  }
  const RasterImage& raster = image->raster;
  const ImageSize sides = raster.size;
  fuzz::Require(sides.height > 0 && sides.width > 0, "an image has pixels");
  fuzz::Require(sides.height * sides.width <= kMostPixels, "not more than may be");
  fuzz::Require(raster.channels == 1 || raster.channels == 3, "gray or RGB");
  const auto bytes = static_cast<size_t>(sides.height * sides.width * raster.channels);
  fuzz::Require(raster.pixels.size() == bytes, "all pixels, and no more");
  for (const Preparation& preparation : preparations) Feed(raster, preparation);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = fuzz::Bytes(data, size);
  Look(file);
  if (size > 0 && data[0] == 0x89) Look(WithChecksums(file));
  return 0;
}
