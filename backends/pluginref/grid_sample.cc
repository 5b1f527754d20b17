#include <algorithm>
#include <cmath>

#include "operator_arithmetic.h"
#include "operators.h"
#include "strides.h"

namespace vernier::pluginref {
namespace {

enum class Sampling { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

struct GridOptions {
  Sampling sampling = Sampling::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
};

template <typename Value, size_t size>
Result<Value> WordIn(const Call& call, const char* attribute, const char* fallback,
                     const std::pair<std::string_view, Value> (&words)[size]) {
  const std::string given = call.Word(attribute, fallback);
  std::string known;
  for (const auto& [word, value] : words) {
    if (word == given) return value;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return call.Wrong(std::string(attribute) + " is '" + given + "'; expected one of " + known);
}

Result<GridOptions> GridOptionsOf(const Call& call) {
  constexpr std::pair<std::string_view, Sampling> kSamplings[] = {{"linear", Sampling::kLinear},
                                                                  {"bilinear", Sampling::kLinear},
                                                                  {"nearest", Sampling::kNearest},
                                                                  {"cubic", Sampling::kCubic},
                                                                  {"bicubic", Sampling::kCubic}};
  constexpr std::pair<std::string_view, Padding> kPaddings[] = {
      {"zeros", Padding::kZeros},
      {"border", Padding::kBorder},
      {"reflection", Padding::kReflection}};
  GridOptions options;
  VERNIER_ASSIGN_OR_RETURN(options.sampling, WordIn(call, "mode", "linear", kSamplings));
  VERNIER_ASSIGN_OR_RETURN(options.padding, WordIn(call, "padding_mode", "zeros", kPaddings));
  options.align_corners = call.Integer("align_corners", 0) != 0;
  return options;
}

/// One dimension of the image: places outside of it, and samples between its pixels.
class Axis {
 public:
  Axis(int64_t size, const GridOptions& options, CoordinateRounding round)
      : size_(size),
        options_(options),
        round_(round),
        low_(options.align_corners ? 0 : -0.5),
        high_(static_cast<double>(size) - (options.align_corners ? 1 : 0.5)) {}

  struct Tap {
    int64_t pixel = -1;  ///< -1: padding with zero
    double weight = 0;
  };

  /// The pixels that a coordinate of the grid, -1 to 1 over the image, is made of.
  std::vector<Tap> Taps(double coordinate) const {
    double x = Denormalize(coordinate);
    if (options_.sampling == Sampling::kNearest) x = std::nearbyint(x);  // ties to even
    if (x < low_ || x > high_) {
      if (options_.padding == Padding::kBorder) {
        x = std::clamp(x, 0.0, static_cast<double>(size_ - 1));
      } else if (options_.padding == Padding::kReflection) {
        x = Reflect(x);
      }
    }
    if (options_.sampling == Sampling::kNearest) return {{Pixel(x), 1}};
    const double floor = std::floor(x);
    const double part = x - floor;
    if (options_.sampling == Sampling::kLinear) {
      return {{Pixel(floor), 1 - part}, {Pixel(floor + 1), part}};
    }
    std::vector<Tap> taps;
    for (int i = -1; i <= 2; ++i) {
      taps.push_back({Pixel(floor + i), CubicWeight(std::fabs(part - i))});
    }
    return taps;
  }

 private:
  double Denormalize(double n) const {
    const auto size = static_cast<double>(size_);
    if (options_.align_corners) return round_(round_(round_(n + 1) / 2) * (size - 1));
    return round_(round_(round_(round_(n + 1) * size) - 1) / 2);
  }

  // Off the borders, back and forth, until inside.
  double Reflect(double x) const {
    const double range = high_ - low_;
    if (!(range > 0)) return low_;
    const bool below = x < low_;
    const double beyond = below ? low_ - x : x - high_;
    const double times = std::floor(beyond / range);
    const double rest = beyond - times * range;
    const bool from_near = std::fmod(times, 2) == 0;
    return below == from_near ? low_ + rest : high_ - rest;
  }

  // R. Keys' convolution with a = -0.75, as in ONNX's text.
  static double CubicWeight(double distance) {
    constexpr double kA = -0.75;
    const double d = distance;
    if (d <= 1) return ((kA + 2) * d - (kA + 3)) * d * d + 1;
    return d < 2 ? ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA : 0;
  }

  int64_t Pixel(double x) const {
    const auto last = static_cast<double>(size_ - 1);
    const bool inside = x >= 0 && x <= last;  // false for NaN
    if (!inside && options_.padding == Padding::kZeros) return -1;
    if (!inside && options_.padding == Padding::kReflection) x = std::trunc(Reflect(x));
    return std::isnan(x) ? 0 : static_cast<int64_t>(std::clamp(x, 0.0, last));
  }

  int64_t size_;
  GridOptions options_;
  CoordinateRounding round_;
  double low_, high_;  ///< the borders that coordinates are reflected at
};

// The sum over all combinations of one tap an axis.
double Sample(std::span<const double> image, std::span<const int64_t> dims,
              std::span<const std::vector<Axis::Tap>> taps, size_t axis, size_t place) {
  if (axis == taps.size()) return image[place];
  double sum = 0;
  for (const Axis::Tap& tap : taps[axis]) {
    if (tap.pixel < 0) continue;
    const size_t next = place * static_cast<size_t>(dims[axis]) + static_cast<size_t>(tap.pixel);
    sum += tap.weight * Sample(image, dims, taps, axis + 1, next);
  }
  return sum;
}

Status CheckGridShapes(const Call& call) {
  const Dims& image = call.Input(0).dims;
  const Dims& grid = call.Input(1).dims;
  const bool fits = image.size() >= 3 && grid.size() == image.size() && grid[0] == image[0] &&
                    grid.back() == static_cast<int64_t>(image.size()) - 2;
  if (!fits) {
    return call.Wrong("a grid of shape " + ShapeText(grid) + " does not fit an image of shape " +
                      ShapeText(image) + "; expected (N, ..., " +
                      std::to_string(static_cast<int64_t>(image.size()) - 2) + ")");
  }
  if (Product(std::span(image).subspan(2)) == 0) return call.Wrong("the image has no pixels");
  return {};
}

}  // namespace

/// ONNX GridSample-16, -20 and -22, in any number of dimensions.
Result<Outputs> GridSample(const Call& call) {
  VERNIER_TRY(call.ExpectInputs(2, 2));
  VERNIER_TRY(CheckGridShapes(call));
  VERNIER_ASSIGN_OR_RETURN(const GridOptions options, GridOptionsOf(call));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> x, call.Floats(0));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> grid, call.Floats(1));
  const Array& image = call.Input(0);
  const Dims& grid_dims = call.Input(1).dims;
  const std::span<const int64_t> sizes = std::span(image.dims).subspan(2);
  const size_t rank = sizes.size();
  std::vector<Axis> axes;
  for (const int64_t size : sizes) {
    axes.emplace_back(size, options, CoordinateRounding(call.Input(1).dtype));
  }
  Dims dims = {image.dims[0], image.dims[1]};
  dims.insert(dims.end(), grid_dims.begin() + 1, grid_dims.end() - 1);
  VERNIER_ASSIGN_OR_RETURN(const size_t count, CountOf(dims));
  const size_t points = Product(std::span(dims).subspan(2));
  const size_t pixels = Product(sizes);
  const auto channels = static_cast<size_t>(image.dims[1]);
  std::vector<double> y(count);
  std::vector<std::vector<Axis::Tap>> taps(rank);
  for (size_t at = 0; channels > 0 && at < points * static_cast<size_t>(image.dims[0]); ++at) {
    // A point of the grid is given in reverse order: x, y, z.
    for (size_t a = 0; a < rank; ++a) taps[a] = axes[a].Taps(grid[at * rank + rank - 1 - a]);
    const size_t batch = at / points;
    for (size_t c = 0; c < channels; ++c) {
      const size_t plane = batch * channels + c;
      y[plane * points + at % points] =
          Sample(std::span(x).subspan(plane * pixels, pixels), sizes, taps, 0, 0);
    }
  }
  return Outputs{MakeFloats(image.dtype, std::move(dims), y)};
}

}  // namespace vernier::pluginref
