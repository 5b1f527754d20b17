// Operators that bring groups of elements to mean 0 and variance 1. Sums are in float64 and the
// result is rounded once: it follows the operator's definition, not the arithmetic of a library.
#include <cmath>

#include "operators.h"
#include "strides.h"

namespace vernier::pluginref {
namespace {

/// Which group each element belongs to, with the groups' sizes and moments.
struct Groups {
  std::vector<size_t> of;
  std::vector<double> mean, variance;
};

Groups Measure(std::span<const double> x, std::vector<size_t> group_of, size_t count) {
  Groups groups{std::move(group_of), std::vector<double>(count), std::vector<double>(count)};
  std::vector<double> sizes(count);
  for (size_t i = 0; i < x.size(); ++i) {
    groups.mean[groups.of[i]] += x[i];
    ++sizes[groups.of[i]];
  }
  for (size_t g = 0; g < count; ++g) groups.mean[g] /= sizes[g];
  for (size_t i = 0; i < x.size(); ++i) {
    const double difference = x[i] - groups.mean[groups.of[i]];
    groups.variance[groups.of[i]] += difference * difference;
  }
  for (size_t g = 0; g < count; ++g) groups.variance[g] /= sizes[g];
  return groups;
}

// Groups of `size` elements that lie side by side.
Groups MeasureRuns(std::span<const double> x, size_t size) {
  std::vector<size_t> of(x.size());
  for (size_t i = 0; i < of.size(); ++i) of[i] = i / size;
  return Measure(x, std::move(of), size == 0 ? 0 : x.size() / size);
}

// scale * (x - mean) / sqrt(variance + epsilon) + bias, where scale and bias are known by an index.
template <typename IndexOf>
std::vector<double> Normalize(std::span<const double> x, const Groups& groups, double epsilon,
                              std::span<const double> scale, std::span<const double> bias,
                              IndexOf index_of) {
  std::vector<double> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t group = groups.of[i];
    const double normal = (x[i] - groups.mean[group]) / std::sqrt(groups.variance[group] + epsilon);
    const auto [s, b] = index_of(i);
    y[i] = scale[s] * normal + (bias.empty() ? 0 : bias[b]);
  }
  return y;
}

Status ExpectLength(const Call& call, size_t input, int64_t length, std::string_view meaning) {
  const Dims& dims = call.Input(input).dims;
  if (dims == Dims{length}) return {};
  return call.Wrong("input '" + call.node().inputs[input] + "' has shape " + ShapeText(dims) +
                    "; expected " + ShapeText(Dims{length}) + ", " + std::string(meaning));
}

Status ExpectChannels(const Call& call) {
  if (call.Input(0).dims.size() >= 2) return {};
  return call.Wrong("input '" + call.node().inputs[0] + "' has shape " +
                    ShapeText(call.Input(0).dims) + "; expected a batch and channels at least");
}

// The axes that an attribute names, as one flag a dimension.
Result<std::vector<bool>> AxisFlags(const Call& call, std::span<const int64_t> axes, size_t rank) {
  std::vector<bool> flags(rank, false);
  for (const int64_t axis : axes) {
    const int64_t place = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
    if (place < 0 || place >= static_cast<int64_t>(rank)) {
      return call.Wrong("axis " + std::to_string(axis) + " is outside of the input's " +
                        std::to_string(rank) + " dimensions");
    }
    flags[static_cast<size_t>(place)] = true;
  }
  return flags;
}

}  // namespace

/// ONNX InstanceNormalization-1, -6 and -22; Polygraphy 0.53.6's, which computes in the input's
/// type.
Result<Outputs> InstanceNormalization(const Call& call) {
  VERNIER_TRY(call.ExpectInputs(3, 3));
  VERNIER_TRY(ExpectChannels(call));
  const Array& input = call.Input(0);
  const int64_t channels = input.dims[1];
  VERNIER_TRY(ExpectLength(call, 1, channels, "one a channel"));
  VERNIER_TRY(ExpectLength(call, 2, channels, "one a channel"));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> x, call.Floats(0));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> scale, call.Floats(1));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> bias, call.Floats(2));
  const size_t size = Product(std::span(input.dims).subspan(2));
  const Groups groups = MeasureRuns(x, size);
  const auto channel = [&](size_t i) {
    const size_t c = i / size % static_cast<size_t>(channels);
    return std::pair(c, c);
  };
  const double epsilon = call.Number("epsilon", static_cast<double>(1e-5F));
  return Outputs{
      MakeFloats(input.dtype, input.dims, Normalize(x, groups, epsilon, scale, bias, channel))};
}

/// ONNX MeanVarianceNormalization-9 and -13; Polygraphy 0.53.6's: 1e-9 is added to the standard
/// deviation, not to the variance.
Result<Outputs> MeanVarianceNormalization(const Call& call) {
  constexpr double kEpsilon = 1e-9;
  VERNIER_TRY(call.ExpectInputs(1, 1));
  const Array& input = call.Input(0);
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> x, call.Floats(0));
  VERNIER_ASSIGN_OR_RETURN(std::vector<bool> kept,
                           AxisFlags(call, call.Integers("axes", {0, 2, 3}), input.dims.size()));
  kept.flip();
  const std::vector<size_t> steps = StepsOf(input.dims, kept);
  size_t count = 1;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) count *= static_cast<size_t>(input.dims[i]);
  }
  std::vector<size_t> of(x.size());
  for (size_t i = 0; i < of.size(); ++i) of[i] = Follow(i, input.dims, steps);
  const Groups groups = Measure(x, std::move(of), count);
  std::vector<double> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t group = groups.of[i];
    y[i] = (x[i] - groups.mean[group]) / (std::sqrt(groups.variance[group]) + kEpsilon);
  }
  return Outputs{MakeFloats(input.dtype, input.dims, y)};
}

/// ONNX GroupNormalization-18 (scale and bias a group) and -21 (a channel).
Result<Outputs> GroupNormalization(const Call& call) {
  constexpr int64_t kScaleOfChannels = 21;
  VERNIER_TRY(call.ExpectInputs(3, 3));
  VERNIER_TRY(ExpectChannels(call));
  const Array& input = call.Input(0);
  const int64_t channels = input.dims[1];
  const int64_t count = call.Integer("num_groups", 0);
  if (count <= 0 || channels % count != 0) {
    return call.Wrong("num_groups is " + std::to_string(count) + ", which does not divide the " +
                      std::to_string(channels) + " channels");
  }
  const bool by_channel = call.opset() >= kScaleOfChannels;
  for (const size_t index : {size_t{1}, size_t{2}}) {
    VERNIER_TRY(ExpectLength(
        call, index, by_channel ? channels : count,
        by_channel ? "one a channel (since opset 21)" : "one a group (before opset 21)"));
  }
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> x, call.Floats(0));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> scale, call.Floats(1));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> bias, call.Floats(2));
  const size_t pixels = Product(std::span(input.dims).subspan(2));
  const auto channels_of_group = static_cast<size_t>(channels / count);
  const Groups groups = MeasureRuns(x, pixels * channels_of_group);
  const auto weight = [&](size_t i) {
    const size_t channel = i / pixels % static_cast<size_t>(channels);
    const size_t w = by_channel ? channel : channel / channels_of_group;
    return std::pair(w, w);
  };
  const double epsilon = call.Number("epsilon", static_cast<double>(1e-5F));
  return Outputs{
      MakeFloats(input.dtype, input.dims, Normalize(x, groups, epsilon, scale, bias, weight))};
}

/// ONNX LayerNormalization-17, with its optional outputs Mean and InvStdDev in float32 (stash_type
/// 1).
Result<Outputs> LayerNormalization(const Call& call) {
  VERNIER_TRY(call.ExpectInputs(2, 3));
  const Array& input = call.Input(0);
  const size_t rank = input.dims.size();
  const int64_t axis_given = call.Integer("axis", -1);
  VERNIER_TRY(AxisFlags(call, std::vector<int64_t>{axis_given}, rank).status());
  const auto axis =
      static_cast<size_t>(axis_given < 0 ? axis_given + static_cast<int64_t>(rank) : axis_given);
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> x, call.Floats(0));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> scale, call.Floats(1));
  std::vector<double> bias;
  const auto scale_steps = BroadcastSteps(call.Input(1).dims, input.dims);
  auto bias_steps = scale_steps;
  if (call.Optional(2) != nullptr) {
    VERNIER_ASSIGN_OR_RETURN(bias, call.Floats(2));
    bias_steps = BroadcastSteps(call.Input(2).dims, input.dims);
  }
  if (!scale_steps || !bias_steps) {
    return call.Wrong("its scale or bias cannot be broadcast to the input's shape " +
                      ShapeText(input.dims));
  }
  const Groups groups = MeasureRuns(x, Product(std::span(input.dims).subspan(axis)));
  const double epsilon = call.Number("epsilon", static_cast<double>(1e-5F));
  const auto weight = [&](size_t i) {
    return std::pair(Follow(i, input.dims, *scale_steps), Follow(i, input.dims, *bias_steps));
  };
  Outputs outputs{
      MakeFloats(input.dtype, input.dims, Normalize(x, groups, epsilon, scale, bias, weight))};
  if (call.node().outputs.size() < 2) return outputs;
  Dims reduced = input.dims;
  for (size_t i = axis; i < rank; ++i) reduced[i] = 1;
  std::vector<double> inverse(groups.variance.size());
  for (size_t g = 0; g < inverse.size(); ++g) {
    inverse[g] = 1 / std::sqrt(groups.variance[g] + epsilon);
  }
  outputs.push_back(MakeFloats(DType::kFloat32, reduced, groups.mean));
  outputs.push_back(MakeFloats(DType::kFloat32, reduced, inverse));
  outputs.resize(std::min<size_t>(outputs.size(), call.node().outputs.size()));
  return outputs;
}

}  // namespace vernier::pluginref
