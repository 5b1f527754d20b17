#include "images/raster.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace vernier {
namespace {

// Weights are whole numbers of 2^-22: a sum of 8-bit values with them fits into 32 bits.
constexpr int kWeightBits = 32 - 8 - 2;

// What one new column or row is made of.
struct Source {
  int64_t first = 0;             // of the old ones
  std::vector<int32_t> weights;  // of as many from there on; their sum is 1
};

std::vector<Source> TriangleSources(int64_t before, int64_t after) {
  const double scale = static_cast<double>(before) / static_cast<double>(after);
  const double reach = std::max(scale, 1.0);
  std::vector<Source> sources(static_cast<size_t>(after));
  std::vector<double> shares;
  for (int64_t i = 0; i < after; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(center - reach + 0.5), 0);
    const int64_t end = std::min(static_cast<int64_t>(center + reach + 0.5), before);
    shares.clear();
    double sum = 0;
    for (int64_t old = first; old < end; ++old) {
      const double distance = std::abs((static_cast<double>(old) - center + 0.5) * (1.0 / reach));
      shares.push_back(std::max(1.0 - distance, 0.0));
      sum += shares.back();
    }
    Source& source = sources[static_cast<size_t>(i)];
    source.first = first;
    for (const double share : shares) {
      const double weight = sum == 0 ? share : share / sum;
      source.weights.push_back(static_cast<int32_t>(0.5 + weight * (1 << kWeightBits)));
    }
  }
  return sources;
}

// Adds up `step` apart from each other, and rounds.
uint8_t Weighted(const uint8_t* from, size_t step, const std::vector<int32_t>& weights) {
  int32_t sum = 1 << (kWeightBits - 1);
  for (const int32_t weight : weights) {
    sum += *from * weight;
    from += step;
  }
  return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

RasterImage Blank(ImageSize size, int channels) {
  RasterImage image{size, channels, {}};
  image.pixels.resize(static_cast<size_t>(size.height) * static_cast<size_t>(size.width) *
                      static_cast<size_t>(channels));
  return image;
}

RasterImage ResizeColumns(const RasterImage& image, int64_t width) {
  const auto channels = static_cast<size_t>(image.channels);
  const std::vector<Source> sources = TriangleSources(image.size.width, width);
  RasterImage made = Blank({image.size.height, width}, image.channels);
  uint8_t* to = made.pixels.data();
  for (int64_t y = 0; y < image.size.height; ++y) {
    const uint8_t* const row =
        image.pixels.data() + static_cast<size_t>(y * image.size.width) * channels;
    for (const Source& source : sources) {
      const uint8_t* const from = row + static_cast<size_t>(source.first) * channels;
      for (size_t c = 0; c < channels; ++c) *to++ = Weighted(from + c, channels, source.weights);
    }
  }
  return made;
}

RasterImage ResizeRows(const RasterImage& image, int64_t height) {
  const size_t row = static_cast<size_t>(image.size.width) * static_cast<size_t>(image.channels);
  RasterImage made = Blank({height, image.size.width}, image.channels);
  uint8_t* to = made.pixels.data();
  for (const Source& source : TriangleSources(image.size.height, height)) {
    const uint8_t* const from = image.pixels.data() + static_cast<size_t>(source.first) * row;
    for (size_t x = 0; x < row; ++x) *to++ = Weighted(from + x, row, source.weights);
  }
  return made;
}

// Half of it, a half to even.
int64_t HalfToEven(int64_t rest) { return rest / 2 + (rest % 4 == 3 ? 1 : 0); }

}  // namespace

RasterImage ResizeBilinear(const RasterImage& image, ImageSize size) {
  RasterImage made = size.width == image.size.width ? image : ResizeColumns(image, size.width);
  return size.height == image.size.height ? made : ResizeRows(made, size.height);
}

ImageSize CropOffset(ImageSize image, ImageSize size) {
  return {HalfToEven(image.height - size.height), HalfToEven(image.width - size.width)};
}

RasterImage CropCenter(const RasterImage& image, ImageSize size) {
  const auto channels = static_cast<size_t>(image.channels);
  const auto [top, left] = CropOffset(image.size, size);
  RasterImage made = Blank(size, image.channels);
  const size_t row = static_cast<size_t>(size.width) * channels;
  for (int64_t y = 0; y < size.height; ++y) {
    const auto* from =
        image.pixels.data() + static_cast<size_t>((top + y) * image.size.width + left) * channels;
    std::copy_n(from, row, made.pixels.data() + static_cast<size_t>(y) * row);
  }
  return made;
}

RasterImage ToGray(RasterImage image) {
  if (image.channels == 1) return image;
  RasterImage gray = Blank(image.size, 1);
  const uint8_t* from = image.pixels.data();
  for (uint8_t& value : gray.pixels) {
    // Of 2^16, and half of that to round.
    value =
        static_cast<uint8_t>((from[0] * 19595 + from[1] * 38470 + from[2] * 7471 + 0x8000) >> 16);
    from += 3;
  }
  return gray;
}

RasterImage ToRgb(RasterImage image) {
  if (image.channels == 3) return image;
  RasterImage rgb = Blank(image.size, 3);
  uint8_t* to = rgb.pixels.data();
  for (const uint8_t value : image.pixels) to = std::fill_n(to, 3, value);
  return rgb;
}

}  // namespace vernier
