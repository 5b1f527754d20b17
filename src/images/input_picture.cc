#include "images/input_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr int64_t kLeastSideShown = 16;
// Of larger images every second, third, ... row and column is read.
constexpr int64_t kMostRead = 640;

// Of RGB, as torchvision's networks are trained with.
constexpr std::array<double, 3> kImageNetMean = {0.485, 0.456, 0.406};
constexpr std::array<double, 3> kImageNetStd = {0.229, 0.224, 0.225};

// The numbers of an image, channel by channel.
struct ChannelValues {
  ImageSize size;
  std::vector<std::vector<double>> channels;
};

// What a number has to be multiplied with, and what is then added, to have a pixel's 0 to 255.
struct PixelScale {
  double factor = 1;
  double offset = 0;
};

struct ChannelRange {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  bool empty() const { return least > most; }
  bool Within(double low, double high) const { return least >= low && most <= high; }
};

// How the numbers of each channel become pixels, and what is said of that.
struct PixelRule {
  std::vector<PixelScale> scales;
  std::string why;
};

bool IsImageChannels(int64_t size) { return size == 1 || size == 3 || size == 4; }

bool HasNumbers(DType dtype) {
  switch (NaturalArithmetic(dtype)) {
    case Arithmetic::kFloat32:
    case Arithmetic::kFloat64:
    case Arithmetic::kInt64:
    case Arithmetic::kUint64:
      return dtype != DType::kBool;
    default:
      return false;
  }
}

ChannelValues ReadChannels(const Tensor& input, const ImageAxes& axes, int64_t image) {
  const auto [height, width] = axes.size;
  const int64_t step = (std::max(height, width) + kMostRead - 1) / kMostRead;
  const int64_t shown = std::min<int64_t>(axes.channels, 3);
  ChannelValues values{{(height + step - 1) / step, (width + step - 1) / step}, {}};
  values.channels.resize(static_cast<size_t>(shown));
  const ElementSpan elements = Elements(input);
  const int64_t start = image * axes.channels * height * width;
  const int64_t between = axes.channels_last ? axes.channels : 1;
  std::vector<double> scratch(static_cast<size_t>(width * between));
  for (int64_t c = 0; c < shown; ++c) {
    std::vector<double>& channel = values.channels[static_cast<size_t>(c)];
    for (int64_t y = 0; y < height; y += step) {
      const int64_t row = axes.channels_last ? y * width * axes.channels : (c * height + y) * width;
      const double* const line = LoadBlock(elements, start + row, scratch.size(), scratch.data());
      const int64_t first = axes.channels_last ? c : 0;
      for (int64_t x = 0; x < width; x += step) channel.push_back(line[first + x * between]);
    }
  }
  return values;
}

std::vector<ChannelRange> RangesOf(const ChannelValues& values) {
  std::vector<ChannelRange> ranges;
  for (const std::vector<double>& channel : values.channels) {
    ChannelRange& range = ranges.emplace_back();
    for (const double value : channel) {
      if (!std::isfinite(value)) continue;
      range.least = std::min(range.least, value);
      range.most = std::max(range.most, value);
    }
  }
  return ranges;
}

bool LooksLikeImageNet(const std::vector<ChannelRange>& ranges) {
  constexpr double kRoundoff = 0.02;  // of float16, and of other spellings of the two constants
  if (ranges.size() != kImageNetMean.size()) return false;
  for (size_t c = 0; c < ranges.size(); ++c) {
    const double low = -kImageNetMean[c] / kImageNetStd[c] - kRoundoff;
    const double high = (1 - kImageNetMean[c]) / kImageNetStd[c] + kRoundoff;
    if (!ranges[c].empty() && !ranges[c].Within(low, high)) return false;
  }
  return true;
}

// Least to largest; one value everywhere is gray.
PixelScale Stretch(const ChannelRange& range) {
  const double width = range.most - range.least;
  if (range.empty() || !(width > 0) || !std::isfinite(width)) return {0, 128};
  return {255 / width, -range.least * (255 / width)};
}

PixelRule GuessRule(const ChannelValues& values, DType dtype) {
  const std::vector<ChannelRange> ranges = RangesOf(values);
  const auto same = [&](PixelScale scale, std::string why) {
    return PixelRule{std::vector(ranges.size(), scale), std::move(why)};
  };
  if (dtype == DType::kUint8) return same({1, 0}, "values are 0 to 255");
  ChannelRange all;
  for (const ChannelRange& range : ranges) {
    all.least = std::min(all.least, range.least);
    all.most = std::max(all.most, range.most);
  }
  if (all.empty()) return same({0, 0}, "no value is finite");
  const bool whole = NaturalArithmetic(dtype) == Arithmetic::kInt64 ||
                     NaturalArithmetic(dtype) == Arithmetic::kUint64;
  // Few images are that dark; one of 0 to 1 that is a little beyond is likelier.
  constexpr double kDarkest = 16;
  if (all.Within(0, 255) && (whole || all.most > kDarkest)) {
    return same({1, 0}, "guessed: values are 0 to 255");
  }
  if (!whole && all.Within(0, 1)) return same({255, 0}, "guessed: values are 0 to 1");
  if (!whole && all.Within(-1, 1)) return same({127.5, 127.5}, "guessed: values are -1 to 1");
  if (!whole && all.least < 0 && LooksLikeImageNet(ranges)) {
    PixelRule rule{{}, "guessed: ImageNet's mean and standard deviation"};
    for (size_t c = 0; c < ranges.size(); ++c) {
      rule.scales.push_back({255 * kImageNetStd[c], 255 * kImageNetMean[c]});
    }
    return rule;
  }
  return same(Stretch(all), "values from " + FormatG(all.least, 4) + " (black) to " +
                                FormatG(all.most, 4) + " (white)");
}

// A pixel p was fed as (p * scale - mean) / std.
PixelRule RuleOf(const PreprocessWords& words, size_t channels) {
  PixelRule rule{{}, "values as --preprocess made them"};
  const auto of = [](const std::vector<double>& list, size_t channel, double fallback) {
    return list.empty() ? fallback : list[std::min(channel, list.size() - 1)];
  };
  for (size_t c = 0; c < channels; ++c) {
    rule.scales.push_back(
        {of(words.std_dev, c, 1) / words.scale, of(words.mean, c, 0) / words.scale});
  }
  return rule;
}

uint8_t PixelOf(double value, const PixelScale& scale) {
  const double pixel = value * scale.factor + scale.offset;
  if (!std::isfinite(value) || !(pixel > 0)) return 0;
  return static_cast<uint8_t>(std::min(std::nearbyint(pixel), 255.0));
}

RasterImage MakeRaster(const ChannelValues& values, const PixelRule& rule, bool blue_first) {
  const size_t channels = values.channels.size();
  RasterImage raster{values.size, static_cast<int>(channels), {}};
  const size_t pixels = values.channels.front().size();
  raster.pixels.resize(pixels * channels);
  for (size_t c = 0; c < channels; ++c) {
    const size_t to = blue_first ? channels - 1 - c : c;
    for (size_t i = 0; i < pixels; ++i) {
      raster.pixels[i * channels + to] = PixelOf(values.channels[c][i], rule.scales[c]);
    }
  }
  return raster;
}

RasterImage Shrunk(RasterImage raster, int64_t longest) {
  const int64_t longer = std::max(raster.size.height, raster.size.width);
  if (longer <= longest) return raster;
  const auto part = [&](int64_t side) { return std::max<int64_t>(1, side * longest / longer); };
  return ResizeBilinear(raster, {part(raster.size.height), part(raster.size.width)});
}

std::string LayoutText(const ImageAxes& axes, bool blue_first) {
  const std::string layout =
      std::string(axes.in_batch ? "N" : "") + (axes.channels_last ? "HWC" : "CHW");
  if (axes.channels == 1) return layout + ", gray";
  return layout + (blue_first ? ", BGR" : ", RGB") +
         (axes.channels == 4 ? " without the fourth channel" : "");
}

}  // namespace

std::optional<ImageAxes> FindImageAxes(const Tensor& input) {
  const Dims& dims = input.dims();
  if ((dims.size() != 3 && dims.size() != 4) || !HasNumbers(input.dtype())) return std::nullopt;
  const size_t first = dims.size() - 3;
  ImageAxes axes;
  axes.in_batch = first == 1;
  if (axes.in_batch) axes.images = dims[0];
  if (axes.images == 0) return std::nullopt;
  const auto large = [](int64_t side) { return side >= kLeastSideShown; };
  if (IsImageChannels(dims[first]) && large(dims[first + 1]) && large(dims[first + 2])) {
    axes.channels = dims[first];
    axes.size = {dims[first + 1], dims[first + 2]};
    return axes;
  }
  if (!large(dims[first]) || !large(dims[first + 1]) || !IsImageChannels(dims[first + 2])) {
    return std::nullopt;
  }
  axes.channels_last = true;
  axes.channels = dims[first + 2];
  axes.size = {dims[first], dims[first + 1]};
  return axes;
}

InputPicture ShowInput(const Tensor& input, const ImageAxes& axes, int64_t image,
                       const PreprocessWords* words, int64_t longest) {
  const ChannelValues values = ReadChannels(input, axes, image);
  const PixelRule rule =
      words == nullptr ? GuessRule(values, input.dtype()) : RuleOf(*words, values.channels.size());
  const bool blue_first =
      words != nullptr && words->color == ImageColor::kBgr && values.channels.size() == 3;
  int64_t wild = 0;
  for (const std::vector<double>& channel : values.channels) {
    wild += std::ranges::count_if(channel, [](double value) { return !std::isfinite(value); });
  }
  InputPicture picture;
  picture.raster = Shrunk(MakeRaster(values, rule, blue_first), longest);
  picture.how =
      std::string(DTypeName(input.dtype())) + ", " + LayoutText(axes, blue_first) + ", " + rule.why;
  if (wild > 0) picture.how += ", black where not finite (" + Counted(wild, "value") + ")";
  return picture;
}

}  // namespace vernier
