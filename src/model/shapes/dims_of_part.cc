#include "model/shapes/dims_of_part.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_attributes.h"

namespace vernier {
namespace {

using Numbers = std::optional<std::vector<int64_t>>;

// Nothing computed of such numbers overflows.
constexpr int64_t kFar = int64_t{1} << 60;

// What an input says, or an attribute as it was before; nullopt where it is not constant.
class ConstantInputs {
 public:
  ConstantInputs(const OnnxModel& model, const OnnxGraph& graph, const OnnxNode& node,
                 const ShapeTracker& shapes)
      : attributes_(model, node), inputs_(graph.Inputs(node)), shapes_(shapes) {}

  bool Has(size_t input) const { return input < inputs_.size() && !inputs_[input].empty(); }
  const Dims* Data() const { return Has(0) ? shapes_.Find(inputs_[0]) : nullptr; }
  Numbers In(size_t input, std::string_view attribute) {
    if (Has(input)) return shapes_.Ints(inputs_[input]);
    return attributes_.Find(attribute) != nullptr ? Numbers(attributes_.Ints(attribute))
                                                  : Numbers();
  }
  NodeAttributes& attributes() { return attributes_; }

 private:
  NodeAttributes attributes_;
  std::span<const std::string_view> inputs_;
  const ShapeTracker& shapes_;
};

std::vector<int64_t> FirstAxes(size_t count) {
  std::vector<int64_t> axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// nullptr for an axis that there is not.
int64_t* SizeAt(Dims& dims, int64_t axis) {
  const auto rank = static_cast<int64_t>(dims.size());
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? &dims[static_cast<size_t>(axis)] : nullptr;
}

// How many elements are from `start` on before `end`, as Slice counts: backward, only an end may be
// before the first element.
int64_t CountOf(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (size <= 0) return 0;
  const auto place = [size, step](int64_t position, int64_t least) {
    position = std::clamp(position, -kFar, kFar);
    if (position < 0) position += size;
    return step > 0 ? std::clamp<int64_t>(position, 0, size)
                    : std::clamp<int64_t>(position, least, size - 1);
  };
  const int64_t distance = place(end, -1) - place(start, 0);
  if (step > 0) return distance > 0 ? (distance - 1) / step + 1 : 0;
  return distance < 0 ? (distance + 1) / step + 1 : 0;
}

std::optional<Dims> SliceDims(ConstantInputs& inputs) {
  Dims dims = *inputs.Data();
  const Numbers starts = inputs.In(1, "starts"), ends = inputs.In(2, "ends");
  if (!starts || !ends || starts->size() != ends->size()) return std::nullopt;
  const bool named = inputs.Has(3) || inputs.attributes().Find("axes") != nullptr;
  const Numbers axes = named ? inputs.In(3, "axes") : Numbers(FirstAxes(starts->size()));
  const Numbers steps =
      inputs.Has(4) ? inputs.In(4, "") : Numbers(std::vector<int64_t>(starts->size(), 1));
  if (!axes || !steps || axes->size() != starts->size() || steps->size() != starts->size()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < axes->size(); ++i) {
    int64_t* const size = SizeAt(dims, (*axes)[i]);
    if (size == nullptr || *size > kFar || (*steps)[i] == 0) return std::nullopt;
    *size = CountOf(*size, (*starts)[i], (*ends)[i], (*steps)[i]);
  }
  return dims;
}

std::optional<Dims> PadDims(ConstantInputs& inputs) {
  Dims dims = *inputs.Data();
  const Numbers pads = inputs.In(1, "pads");
  const Numbers axes = inputs.Has(3) ? inputs.In(3, "") : Numbers(FirstAxes(dims.size()));
  if (!pads || !axes || pads->size() != 2 * axes->size()) return std::nullopt;
  for (size_t i = 0; i < axes->size(); ++i) {
    int64_t* const size = SizeAt(dims, (*axes)[i]);
    const int64_t before = (*pads)[i], after = (*pads)[i + axes->size()];
    const bool near = std::max(before, after) < kFar / 2 && std::min(before, after) > -kFar / 2;
    if (size == nullptr || *size > kFar || !near) return std::nullopt;
    *size += before + after;
    if (*size < 0) return std::nullopt;
  }
  return dims;
}

Dims ShapeDims(ConstantInputs& inputs) {
  const auto rank = static_cast<int64_t>(inputs.Data()->size());
  return {
      CountOf(rank, inputs.attributes().Int("start", 0), inputs.attributes().Int("end", kFar), 1)};
}

}  // namespace

std::optional<Dims> DimsOfPart(const OnnxModel& model, const OnnxGraph& graph, const OnnxNode& node,
                               const ShapeTracker& shapes) {
  if (!node.domain.empty() && node.domain != "ai.onnx") return std::nullopt;
  ConstantInputs inputs(model, graph, node, shapes);
  if (inputs.Data() == nullptr) return std::nullopt;
  if (node.op_type == "Slice") return SliceDims(inputs);
  if (node.op_type == "Pad") return PadDims(inputs);
  return node.op_type == "Shape" ? std::optional(ShapeDims(inputs)) : std::nullopt;
}

}  // namespace vernier
