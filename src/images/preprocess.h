// The steps of --preprocess, and how they are done for one input of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "images/raster.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

enum class ImageColor : uint8_t { kUnsaid, kRgb, kBgr, kGray };
enum class ImageLayout : uint8_t { kUnsaid, kNchw, kNhwc };

/// The words of --preprocess. The input determines the rest.
struct PreprocessWords {
  int64_t shorter_side = 0;         ///< resize=N; 0: not asked for
  std::optional<ImageSize> resize;  ///< resize=HxW
  bool crop = false;                ///< in the middle, to `crop_size` or the input's own size
  std::optional<ImageSize> crop_size;
  double scale = 1;
  std::vector<double> mean;     ///< none, one, or one for each channel in the order of the input
  std::vector<double> std_dev;  ///< the same; not 0
  ImageLayout layout = ImageLayout::kUnsaid;
  ImageColor color = ImageColor::kUnsaid;
};

/// Words with commas between them, in any order but that of resize before crop; numbers behind
/// mean= and std= have commas as well, and a number may be a fraction (1/255). kInvalidArgument,
/// naming the word and all that there are, for what is none, comes twice or has no such value.
Result<PreprocessWords> ParsePreprocess(std::string_view words);

/// All that becomes of an image for one input, step by step.
struct ImageRecipe {
  bool gray = false;  ///< first: one channel instead of three
  int64_t shorter_side = 0;
  ImageSize resize = {};      ///< where shorter_side is 0; zeros: not resized
  ImageSize crop = {};        ///< zeros: not cropped
  ImageSize wanted = {};      ///< by the input after all of this; a zero: any
  bool swaps_colors = false;  ///< blue first
  bool channels_last = false;
  bool in_batch = false;  ///< a first axis of size 1
  DType dtype = DType::kFloat32;
  /// For each channel of the input, in order: the elements that 0, 1, ... 255 become.
  std::vector<std::byte> values;

  int channels() const { return gray ? 1 : 3; }
};

/// Does an input of that shape take one image: [N, C, H, W] or [C, H, W], or with C at the end, of
/// 1 or 3 channels where it says so?
bool TakesImage(const TensorInfo& input);

/// kInvalidArgument, naming the input, where it takes no images, where it does not say enough (the
/// layout, the size to crop to), and where words contradict it or its type has no room for values.
Result<ImageRecipe> FitToInput(const PreprocessWords& words, const TensorInfo& input);

/// Where an image is in what is fed of it: its pixel (x, y) at x * scale_x - left and
/// y * scale_y - top, the corners of pixels counted.
struct ImagePlacement {
  double scale_x = 1;
  double scale_y = 1;
  double left = 0;
  double top = 0;
  ImageSize fed;
};

/// Of an image of that size, both sides >= 1, that MakeImageTensor takes.
ImagePlacement PlaceImage(const ImageRecipe& recipe, ImageSize image);

/// "float32, NCHW, RGB": what is fed.
std::string DescribeRecipe(const ImageRecipe& recipe);

/// kInvalidArgument, saying which sizes, where the image is smaller than what is cropped from it,
/// does not get the size that the input wants, or would get more than `most_pixels`.
Result<Tensor> MakeImageTensor(RasterImage image, const ImageRecipe& recipe, int64_t most_pixels);

}  // namespace vernier
