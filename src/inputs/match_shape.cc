#include "inputs/match_shape.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/shape_match.h"
#include "inputs/polygraphy_text.h"

namespace vernier {
namespace {

// Polygraphy's shape while it is being worked on: it prints a frozen one differently.
struct Target {
  std::vector<Dim> shape;
  bool frozen = false;

  std::string Text() const {
    if (!frozen) return FormatBoundedShape(shape, ShapeOrigin::kModel);
    return FormatPythonInts(Sizes());
  }
  Dims Sizes() const {
    Dims sizes;
    for (const Dim& dim : shape) sizes.push_back(dim.dynamic() ? -1 : dim.value);
    return sizes;
  }
};

Target Freeze(const Tensor& tensor, std::span<const Dim> shape) {
  Target target{{shape.begin(), shape.end()}, false};
  const auto is_dynamic = [](const Dim& dim) { return dim.dynamic(); };
  const auto dynamic = std::count_if(shape.begin(), shape.end(), is_dynamic);
  if (dynamic == 0) return target;
  if (dynamic == 1) {
    Dims fixed;
    for (const Dim& dim : shape) {
      if (!dim.dynamic()) fixed.push_back(dim.value);
    }
    // A volume beyond 64 bits is beyond the tensor's, which leaves nothing for the open dimension.
    const int64_t volume = ElementCount(fixed).value_or(0);
    const int64_t open = volume == 0 ? 0 : tensor.element_count() / volume;
    for (Dim& dim : target.shape) {
      if (dim.dynamic()) dim = {open, ""};
    }
    target.frozen = true;
  } else if (shape.size() == tensor.dims().size()) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i].dynamic()) target.shape[i] = {tensor.dims()[i], ""};
    }
    target.frozen = true;
  }
  return target;
}

void LogStep(const ShapeStep& step, const Target& target, Logger& logger) {
  const std::string from = FormatDims(step.from);
  switch (step.kind) {
    case ShapeStep::Kind::kReshaped:
      logger.Info("Reshaped array from shape: " + from + " to: " + FormatDims(step.to));
      return;
    case ShapeStep::Kind::kNotReshapable:
      logger.Warning("Could not reshape array from shape: " + from + " to " + target.Text() +
                     ". Skipping reshape.");
      return;
    case ShapeStep::Kind::kNotPermutable:
      logger.Log(Severity::kExtraVerbose,
                 "Array of shape: " + from + " cannot be permuted to: " + target.Text());
      return;
    case ShapeStep::Kind::kPermuted:
      const std::vector<int64_t> axes(step.permutation.begin(), step.permutation.end());
      logger.Info("Permuted array of shape: " + from + " to: " + FormatDims(step.to) +
                  " using permutation " + FormatPythonInts(axes));
      return;
  }
}

}  // namespace

bool FitsShape(std::span<const int64_t> dims, std::span<const Dim> shape) {
  if (dims.size() != shape.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!shape[i].dynamic() && shape[i].value != dims[i]) return false;
  }
  return true;
}

Result<Tensor> MatchShape(const Tensor& tensor, std::span<const Dim> shape, Logger& logger) {
  const Target target = Freeze(tensor, shape);
  VERNIER_ASSIGN_OR_RETURN(ShapeMatch match, MatchShape(tensor, target.Sizes()));
  for (const ShapeStep& step : match.steps) LogStep(step, target, logger);
  return std::move(match.tensor);
}

}  // namespace vernier
