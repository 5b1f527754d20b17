// Inputs that hold images, as pictures for people: numbers are converted back to pixels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "images/preprocess.h"
#include "images/raster.h"
#include "vernier/tensor.h"

namespace vernier {

/// How images lie in an input.
struct ImageAxes {
  int64_t images = 1;
  int64_t channels = 1;  ///< 1, 3 or 4
  ImageSize size;
  bool channels_last = false;
  bool in_batch = false;  ///< a first axis counts the images
};

/// [N, C, H, W], [N, H, W, C], [C, H, W] or [H, W, C] of numbers, with 1, 3 or 4 channels, both
/// sides of 16 or more, and at least one image. nullopt: the input is taken for no image.
std::optional<ImageAxes> FindImageAxes(const Tensor& input);

struct InputPicture {
  RasterImage raster;  ///< of 1 or 3 channels, red first
  /// How it was made of the numbers: "float32, NCHW, RGB, guessed: values are 0 to 1".
  std::string how;
};

/// Image number `image` of an input whose axes FindImageAxes() has found, 0 <= image < axes.images;
/// its longer side has at most `longest` pixels. Numbers become pixels as `words` (may be null) of
/// --preprocess made them; otherwise by uint8 itself or by a guess from their range: 0 to 1,
/// 0 to 255, -1 to 1, ImageNet's mean and standard deviation, else from the least to the largest.
/// What is not finite is black and counted in `how`; a fourth channel is left out.
InputPicture ShowInput(const Tensor& input, const ImageAxes& axes, int64_t image,
                       const PreprocessWords* words, int64_t longest);

}  // namespace vernier
