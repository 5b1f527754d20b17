#include <algorithm>
#include <cmath>

#include "operator_arithmetic.h"
#include "operators.h"

namespace vernier::pluginref {
namespace {

struct RoiOptions {
  bool half_pixel = true;
  bool average = true;
  int64_t height = 1, width = 1;
  int64_t samples = 0;  ///< a bin and direction; 0: as many as it has pixels
  double scale = 1;
};

Result<RoiOptions> RoiOptionsOf(const Call& call) {
  constexpr int64_t kModesOfCoordinates = 16;
  RoiOptions options;
  const std::string coordinates =
      call.Word("coordinate_transformation_mode",
                call.opset() >= kModesOfCoordinates ? "half_pixel" : "output_half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel") {
    return call.Wrong("coordinate_transformation_mode is '" + coordinates +
                      "'; expected half_pixel or output_half_pixel");
  }
  options.half_pixel = coordinates == "half_pixel";
  const std::string mode = call.Word("mode", "avg");
  if (mode != "avg" && mode != "max") {
    return call.Wrong("mode is '" + mode + "'; expected avg or max");
  }
  options.average = mode == "avg";
  options.height = call.Integer("output_height", 1);
  options.width = call.Integer("output_width", 1);
  options.samples = call.Integer("sampling_ratio", 0);
  options.scale = call.Number("spatial_scale", 1);
  if (options.height <= 0 || options.width <= 0) {
    return call.Wrong("output_height and output_width must be positive");
  }
  return options;
}

/// Bins and their samples along one direction of one region.
struct Bins {
  double start = 0, size = 0;
  int64_t samples = 0;
};

class Sampler {
 public:
  Sampler(const RoiOptions& options, CoordinateRounding round) : options_(options), round_(round) {}

  Bins BinsOf(double from, double to, int64_t count) const {
    const double offset = options_.half_pixel ? 0.5 : 0;
    const double start = round_(round_(from * options_.scale) - offset);
    double length = round_(round_(round_(to * options_.scale) - offset) - start);
    if (!options_.half_pixel) length = std::max(length, 1.0);
    Bins bins{start, round_(length / static_cast<double>(count)), options_.samples};
    if (options_.samples <= 0) {
      bins.samples = static_cast<int64_t>(std::clamp(std::ceil(bins.size), -1.0, kMostSamples + 1));
    }
    return bins;
  }

  double Place(const Bins& bins, int64_t bin, int64_t sample) const {
    const double first = round_(bins.start + round_(static_cast<double>(bin) * bins.size));
    const double within = round_((static_cast<double>(sample) + 0.5) * bins.size);
    return round_(first + round_(within / static_cast<double>(bins.samples)));
  }

  static constexpr double kMostSamples = 1 << 20;

 private:
  RoiOptions options_;
  CoordinateRounding round_;
};

/// The two pixels of a direction that a sample lies between. No weight: outside of the image.
struct Neighbours {
  size_t low = 0, high = 0;
  double low_weight = 0, high_weight = 0;
};

Neighbours NeighboursOf(double place, int64_t size) {
  if (!(place >= -1 && place <= static_cast<double>(size))) return {};
  place = std::max(place, 0.0);
  const auto last = static_cast<double>(size - 1);
  if (place >= last) {
    const auto end = static_cast<size_t>(size - 1);
    return {end, end, 1, 0};
  }
  const double floor = std::floor(place);
  const auto low = static_cast<size_t>(floor);
  return {low, low + 1, 1 - (place - floor), place - floor};
}

// The value of one bin: the mean of its samples, or the largest weighted pixel.
double Pool(std::span<const double> plane, size_t width, std::span<const Neighbours> rows,
            std::span<const Neighbours> columns, bool average) {
  double sum = 0;
  std::optional<double> largest;
  for (const Neighbours& row : rows) {
    for (const Neighbours& column : columns) {
      const double values[] = {
          row.low_weight * column.low_weight * plane[row.low * width + column.low],
          row.low_weight * column.high_weight * plane[row.low * width + column.high],
          row.high_weight * column.low_weight * plane[row.high * width + column.low],
          row.high_weight * column.high_weight * plane[row.high * width + column.high]};
      sum += values[0] + values[1] + values[2] + values[3];
      const double here = *std::max_element(std::begin(values), std::end(values));
      largest = largest ? std::max(*largest, here) : here;
    }
  }
  if (!average) return largest.value_or(0);
  return sum / static_cast<double>(std::max<size_t>(rows.size() * columns.size(), 1));
}

std::vector<std::vector<Neighbours>> SamplesOf(const Sampler& sampler, const Bins& bins,
                                               int64_t count, int64_t size) {
  std::vector<std::vector<Neighbours>> samples(static_cast<size_t>(count));
  for (int64_t bin = 0; bin < count; ++bin) {
    for (int64_t i = 0; i < bins.samples; ++i) {
      samples[static_cast<size_t>(bin)].push_back(NeighboursOf(sampler.Place(bins, bin, i), size));
    }
  }
  return samples;
}

Status CheckRoiShapes(const Call& call) {
  VERNIER_TRY(call.ExpectRank(0, 4));
  VERNIER_TRY(call.ExpectRank(1, 2));
  VERNIER_TRY(call.ExpectRank(2, 1));
  const Dims& image = call.Input(0).dims;
  const Dims& regions = call.Input(1).dims;
  if (regions[1] != 4 || regions[0] != call.Input(2).dims[0]) {
    return call.Wrong("regions of shape " + ShapeText(regions) + " and batch indices of shape " +
                      ShapeText(call.Input(2).dims) + " do not fit; expected (n, 4) and (n,)");
  }
  return image[2] > 0 && image[3] > 0 ? Status() : call.Wrong("the image has no pixels");
}

}  // namespace

/// ONNX RoiAlign-10, -16 and -22. As in ONNX's reference, `max` takes the largest of the four
/// weighted pixels of a sample.
Result<Outputs> RoiAlign(const Call& call) {
  VERNIER_TRY(call.ExpectInputs(3, 3));
  VERNIER_TRY(CheckRoiShapes(call));
  VERNIER_ASSIGN_OR_RETURN(const RoiOptions options, RoiOptionsOf(call));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> x, call.Floats(0));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> regions, call.Floats(1));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<int64_t> batches, call.Integers(2));
  const Dims& dims = call.Input(0).dims;
  const auto channels = static_cast<size_t>(dims[1]);
  const auto width = static_cast<size_t>(dims[3]);
  const size_t pixels = static_cast<size_t>(dims[2]) * width;
  const Sampler sampler(options, CoordinateRounding(call.Input(1).dtype));
  std::vector<double> y;
  for (size_t r = 0; r < batches.size(); ++r) {
    const double* region = regions.data() + r * 4;
    if (batches[r] < 0 || batches[r] >= dims[0]) {
      return call.Wrong("region " + std::to_string(r) + " is of batch " +
                        std::to_string(batches[r]) + ", and there are " + std::to_string(dims[0]));
    }
    const Bins across = sampler.BinsOf(region[0], region[2], options.width);
    const Bins down = sampler.BinsOf(region[1], region[3], options.height);
    if (!(across.size + down.size < Sampler::kMostSamples)) {
      return call.Wrong("region " + std::to_string(r) + " is too large or not a number");
    }
    const auto columns = SamplesOf(sampler, across, options.width, dims[3]);
    const auto rows = SamplesOf(sampler, down, options.height, dims[2]);
    for (size_t c = 0; c < channels; ++c) {
      const size_t plane = (static_cast<size_t>(batches[r]) * channels + c) * pixels;
      const std::span<const double> image = std::span(x).subspan(plane, pixels);
      for (const auto& row : rows) {
        for (const auto& column : columns) {
          y.push_back(Pool(image, width, row, column, options.average));
        }
      }
    }
  }
  return Outputs{MakeFloats(
      call.Input(0).dtype,
      {static_cast<int64_t>(batches.size()), dims[1], options.height, options.width}, y)};
}

}  // namespace vernier::pluginref
