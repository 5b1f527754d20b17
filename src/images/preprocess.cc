#include "images/preprocess.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "inputs/float_encode.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr size_t kByteValues = 256;

// "480x640"; what may have any size is "?".
std::string SizeText(ImageSize size) {
  const auto text = [](int64_t side) { return side == 0 ? "?" : std::to_string(side); };
  return text(size.height) + "x" + text(size.width);
}

bool MayBeChannels(const Dim& dim) { return dim.dynamic() || dim.value == 1 || dim.value == 3; }

bool IsChannels(const Dim& dim) { return !dim.dynamic() && MayBeChannels(dim); }

// An input as FitToInput() fills its recipe.
class InputFit {
 public:
  InputFit(const PreprocessWords& words, const TensorInfo& input) : words_(words), input_(input) {}

  Result<ImageRecipe> Fit() {
    if (!TakesImage(input_)) {
      return Refusal(
          "does not take an image ([N, C, H, W], [C, H, W] or with C at the end, with 1 or 3"
          " channels); its shape is " +
          FormatShape(input_.shape));
    }
    VERNIER_TRY(FindLayout());
    VERNIER_TRY(FindColor());
    VERNIER_TRY(FindSizes());
    VERNIER_TRY(MakeValues());
    return std::move(recipe_);
  }

 private:
  Status Refusal(const std::string& why) const {
    return InvalidArgument("--load-inputs: input '" + input_.name + "' " + why);
  }

  // Of channel, height and width, as they lie in the input.
  const Dim& At(size_t axis) const { return (*input_.shape)[axis + (recipe_.in_batch ? 1 : 0)]; }

  Status FindLayout() {
    recipe_.in_batch = input_.shape->size() == 4;
    const Dim& batch = input_.shape->front();
    if (recipe_.in_batch && !batch.dynamic() && batch.value != 1) {
      return Refusal("takes " + std::to_string(batch.value) +
                     " images at once, and each iteration feeds one: export the model with a free "
                     "or single batch");
    }
    const bool first = IsChannels(At(0)), last = IsChannels(At(2));
    if (words_.layout == ImageLayout::kUnsaid && first == last) {
      return Refusal("does not say where its channels are, its shape is " +
                     FormatShape(input_.shape) +
                     ": add layout=nchw or layout=nhwc to --preprocess");
    }
    recipe_.channels_last =
        words_.layout == ImageLayout::kNhwc || (words_.layout == ImageLayout::kUnsaid && last);
    if (MayBeChannels(Channels())) return {};
    return Refusal("has no 1 or 3 channels where --preprocess layout= says, its shape is " +
                   FormatShape(input_.shape));
  }

  const Dim& Channels() const { return At(recipe_.channels_last ? 2 : 0); }

  Status FindColor() {
    const Dim& channels = Channels();
    const bool unsaid = words_.color == ImageColor::kUnsaid;
    recipe_.gray = unsaid ? channels.value == 1 : words_.color == ImageColor::kGray;
    recipe_.swaps_colors = words_.color == ImageColor::kBgr;
    if (channels.dynamic() || channels.value == recipe_.channels()) return {};
    return Refusal("has " + std::to_string(channels.value) + " channels, and images are fed with " +
                   std::to_string(recipe_.channels()) +
                   ": change rgb, bgr or gray of --preprocess");
  }

  Status FindSizes() {
    const size_t height = recipe_.channels_last ? 0 : 1;
    recipe_.wanted = {std::max<int64_t>(At(height).value, 0),
                      std::max<int64_t>(At(height + 1).value, 0)};
    recipe_.shorter_side = words_.shorter_side;
    recipe_.resize = words_.resize.value_or(ImageSize());
    if (!words_.crop) return {};
    recipe_.crop = words_.crop_size.value_or(recipe_.wanted);
    if (recipe_.crop.height > 0 && recipe_.crop.width > 0) return {};
    return Refusal("has no fixed height and width, its shape is " + FormatShape(input_.shape) +
                   ": say what to crop to, with crop=N or crop=HxW");
  }

  double ValueOf(size_t channel, size_t byte) const {
    const auto of = [channel](const std::vector<double>& list, double fallback) {
      return list.empty() ? fallback : list[list.size() == 1 ? 0 : channel];
    };
    return (static_cast<double>(byte) * words_.scale - of(words_.mean, 0)) / of(words_.std_dev, 1);
  }

  Status MakeValues() {
    const auto channels = static_cast<size_t>(recipe_.channels());
    for (const auto* list : {&words_.mean, &words_.std_dev}) {
      if (list->size() <= 1 || list->size() == channels) continue;
      return Refusal("has one channel, and mean or std of --preprocess has three numbers");
    }
    recipe_.dtype = input_.dtype == DType::kUndefined ? DType::kFloat32 : input_.dtype;
    for (size_t i = 0; i < channels * kByteValues; ++i) {
      const double value = ValueOf(i / kByteValues, i % kByteValues);
      if (!Append(value)) {
        return Refusal("is " + std::string(DTypeName(recipe_.dtype)) + ", which has no " +
                       FormatG(value, 6) + ": change scale, mean and std of --preprocess");
      }
    }
    return {};
  }

  template <typename T>
  bool AppendAs(T value) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    recipe_.values.insert(recipe_.values.end(), first, first + sizeof(T));
    return true;
  }

  template <typename T>
  bool AppendWhole(double value) {
    const bool fits = value == std::floor(value) &&
                      value >= static_cast<double>(std::numeric_limits<T>::min()) &&
                      value < std::ldexp(1.0, std::numeric_limits<T>::digits);
    return fits && AppendAs(static_cast<T>(value));
  }

  // False where the type cannot hold it.
  bool Append(double value) {
    switch (recipe_.dtype) {
      case DType::kUint8:
        return AppendWhole<uint8_t>(value);
      case DType::kInt8:
        return AppendWhole<int8_t>(value);
      case DType::kUint16:
        return AppendWhole<uint16_t>(value);
      case DType::kInt16:
        return AppendWhole<int16_t>(value);
      case DType::kInt32:
        return AppendWhole<int32_t>(value);
      case DType::kInt64:
        return AppendWhole<int64_t>(value);
      case DType::kFloat64:
        return AppendAs(value);
      case DType::kFloat32:
        return std::abs(value) <= LargestFinite(DType::kFloat32) &&
               AppendAs(static_cast<float>(value));
      case DType::kFloat16:
      case DType::kBFloat16:
        return std::abs(value) <= LargestFinite(recipe_.dtype) &&
               AppendAs(NarrowFloat::Of(recipe_.dtype)->Encode(value));
      default:
        return false;
    }
  }

  const PreprocessWords& words_;
  const TensorInfo& input_;
  ImageRecipe recipe_;
};

// The shorter side as asked for, the other one in proportion, rounded down.
ImageSize ByShorterSide(ImageSize size, int64_t shorter) {
  const auto other = [shorter](int64_t longer, int64_t least) {
    return static_cast<int64_t>(static_cast<double>(shorter) * static_cast<double>(longer) /
                                static_cast<double>(least));
  };
  if (size.width <= size.height) return {other(size.height, size.width), shorter};
  return {shorter, other(size.width, size.height)};
}

// Before it is cropped.
ImageSize ResizedSize(const ImageRecipe& recipe, ImageSize image) {
  if (recipe.resize.height > 0) return recipe.resize;
  return recipe.shorter_side > 0 ? ByShorterSide(image, recipe.shorter_side) : image;
}

Result<RasterImage> ResizeAndCrop(RasterImage image, const ImageRecipe& recipe,
                                  int64_t most_pixels) {
  const ImageSize size = ResizedSize(recipe, image.size);
  // By resize=N alone it depends on the image, which is then skipped as one that is too large
  // itself.
  const auto refuse = [&](std::string why) {
    return recipe.resize.height > 0 ? InvalidArgument(std::move(why)) : Malformed(std::move(why));
  };
  if (size.width > most_pixels / size.height) {
    return refuse("resized it would be " + SizeText(size) +
                  ", more pixels than --max-image-pixels " + std::to_string(most_pixels));
  }
  // Columns are resized before rows.
  if (size.width > most_pixels / image.size.height) {
    return refuse("resized to " + SizeText(size) + " it would be " +
                  SizeText({image.size.height, size.width}) +
                  " in between, more pixels than --max-image-pixels " +
                  std::to_string(most_pixels));
  }
  if (size != image.size) image = ResizeBilinear(image, size);
  if (recipe.crop.height == 0) return image;
  if (size.height < recipe.crop.height || size.width < recipe.crop.width) {
    return InvalidArgument(
        "it is " + SizeText(size) + ", too small to crop " + SizeText(recipe.crop) +
        " from it: resize=" + std::to_string(std::max(recipe.crop.height, recipe.crop.width)) +
        " before crop in --preprocess makes it large enough");
  }
  return CropCenter(image, recipe.crop);
}

// Elements of the size of T, from the recipe's values, to where they belong.
template <typename T>
void Place(const RasterImage& image, const ImageRecipe& recipe, std::span<std::byte> out) {
  const auto channels = static_cast<size_t>(image.channels);
  const size_t pixels = image.pixels.size() / channels;
  for (size_t c = 0; c < channels; ++c) {
    const std::byte* const values = recipe.values.data() + c * kByteValues * sizeof(T);
    const size_t from = recipe.swaps_colors ? channels - 1 - c : c;
    for (size_t i = 0; i < pixels; ++i) {
      const size_t at = recipe.channels_last ? i * channels + c : c * pixels + i;
      std::memcpy(out.data() + at * sizeof(T),
                  values + image.pixels[i * channels + from] * sizeof(T), sizeof(T));
    }
  }
}

}  // namespace

bool TakesImage(const TensorInfo& input) {
  if (!input.shape || (input.shape->size() != 3 && input.shape->size() != 4)) return false;
  const size_t first = input.shape->size() - 3;
  return MayBeChannels((*input.shape)[first]) || MayBeChannels(input.shape->back());
}

Result<ImageRecipe> FitToInput(const PreprocessWords& words, const TensorInfo& input) {
  return InputFit(words, input).Fit();
}

ImagePlacement PlaceImage(const ImageRecipe& recipe, ImageSize image) {
  const ImageSize resized = ResizedSize(recipe, image);
  ImagePlacement placement;
  placement.scale_x = static_cast<double>(resized.width) / static_cast<double>(image.width);
  placement.scale_y = static_cast<double>(resized.height) / static_cast<double>(image.height);
  placement.fed = resized;
  if (recipe.crop.height == 0) return placement;
  const auto [top, left] = CropOffset(resized, recipe.crop);
  placement.left = static_cast<double>(left);
  placement.top = static_cast<double>(top);
  placement.fed = recipe.crop;
  return placement;
}

std::string DescribeRecipe(const ImageRecipe& recipe) {
  std::string layout = recipe.channels_last ? "HWC" : "CHW";
  if (recipe.in_batch) layout = "N" + layout;
  return std::string(DTypeName(recipe.dtype)) + ", " + layout + ", " +
         (recipe.gray           ? "gray"
          : recipe.swaps_colors ? "BGR"
                                : "RGB");
}

Result<Tensor> MakeImageTensor(RasterImage image, const ImageRecipe& recipe, int64_t most_pixels) {
  image = recipe.gray ? ToGray(std::move(image)) : ToRgb(std::move(image));
  VERNIER_ASSIGN_OR_RETURN(image, ResizeAndCrop(std::move(image), recipe, most_pixels));
  const auto [height, width] = image.size;
  const auto [wanted_height, wanted_width] = recipe.wanted;
  if ((wanted_height > 0 && wanted_height != height) ||
      (wanted_width > 0 && wanted_width != width)) {
    return InvalidArgument("it is fed as " + SizeText(image.size) + ", and the input takes " +
                           SizeText(recipe.wanted) +
                           ": add resize=HxW, or resize=N,crop, to --preprocess");
  }
  Dims dims = recipe.channels_last ? Dims{height, width, image.channels}
                                   : Dims{image.channels, height, width};
  if (recipe.in_batch) dims.insert(dims.begin(), 1);
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(recipe.dtype, std::move(dims)));
  const size_t item = recipe.values.size() / (kByteValues * static_cast<size_t>(image.channels));
  if (item == 1) Place<uint8_t>(image, recipe, buffer.bytes());
  if (item == 2) Place<uint16_t>(image, recipe, buffer.bytes());
  if (item == 4) Place<uint32_t>(image, recipe, buffer.bytes());
  if (item == 8) Place<uint64_t>(image, recipe, buffer.bytes());
  return std::move(buffer).Freeze();
}

}  // namespace vernier
