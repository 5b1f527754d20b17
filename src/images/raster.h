// Pixels of a decoded image, and what is done to them before they are numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace vernier {

struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;

  bool operator==(const ImageSize&) const = default;
};

/// Rows from the top, pixels from the left, channels side by side: 1 (gray) or 3 (red, green,
/// blue), 8 bits each.
struct RasterImage {
  ImageSize size;
  int channels = 0;
  std::vector<uint8_t> pixels;
};

/// As Pillow's Image.resize() with BILINEAR: where it shrinks, every pixel that falls into a new
/// one counts (antialiasing). Rounds to 8 bits after the columns and again after the rows. Pillow's
/// values, within 1: its releases differ in which of the two comes first. Neither size may be 0.
RasterImage ResizeBilinear(const RasterImage& image, ImageSize size);

/// The part of that size in the middle; of an odd rest the larger half is where Python's round()
/// puts it, as in torchvision's CenterCrop. Must not be larger than the image.
RasterImage CropCenter(const RasterImage& image, ImageSize size);
/// How many rows and columns lie before that part.
ImageSize CropOffset(ImageSize image, ImageSize size);

/// One channel, as Pillow's convert("L"): 0.299 red + 0.587 green + 0.114 blue.
RasterImage ToGray(RasterImage image);
/// Three channels: those of a gray image are the same.
RasterImage ToRgb(RasterImage image);

}  // namespace vernier
