#include "operators.h"

#include <algorithm>
#include <array>

namespace vernier::pluginref {
namespace {

struct OperatorRow {
  std::string_view name;
  Operator run;
};

// Sorted, for messages.
constexpr std::array<OperatorRow, 12> kOperators = {{
    {"BatchedNMSDynamic_TRT", &BatchedNms},
    {"BatchedNMS_TRT", &BatchedNms},
    {"Constant", &Constant},
    {"EfficientNMS_TRT", &EfficientNms},
    {"GridSample", &GridSample},
    {"GroupNormalization", &GroupNormalization},
    {"Identity", &Identity},
    {"InstanceNormalization", &InstanceNormalization},
    {"LayerNormalization", &LayerNormalization},
    {"MeanVarianceNormalization", &MeanVarianceNormalization},
    {"RoiAlign", &RoiAlign},
    {"ScatterND", &ScatterNd},
}};

const Attribute* Find(const Node& node, const std::string& name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : &found->second;
}

}  // namespace

Status Call::ExpectInputs(size_t least, size_t most) const {
  const bool fits = inputs_.size() >= least && inputs_.size() <= most;
  if (!fits) {
    return Wrong("has " + std::to_string(inputs_.size()) + " inputs; expected " +
                 std::to_string(least) +
                 (most > least ? " to " + std::to_string(most) : std::string()));
  }
  const auto absent =
      std::find(inputs_.begin(), inputs_.begin() + static_cast<ptrdiff_t>(least), nullptr);
  if (absent == inputs_.begin() + static_cast<ptrdiff_t>(least)) return {};
  return Wrong("input " + std::to_string(absent - inputs_.begin()) + " is absent");
}

Result<std::vector<double>> Call::Floats(size_t index) const {
  const Array& array = Input(index);
  if (IsFloat(array.dtype)) return ReadFloats(array);
  return Wrong("input '" + node_.inputs[index] + "' is " + std::string(DTypeName(array.dtype)) +
               "; expected float16, bfloat16, float32 or float64");
}

Result<std::vector<int64_t>> Call::Integers(size_t index) const {
  const Array& array = Input(index);
  std::optional<std::vector<int64_t>> values = ReadIntegers(array);
  if (values) return *std::move(values);
  return Wrong("input '" + node_.inputs[index] + "' is " + std::string(DTypeName(array.dtype)) +
               "; expected int32 or int64");
}

Status Call::ExpectRank(size_t index, size_t rank) const {
  const Dims& dims = Input(index).dims;
  if (dims.size() == rank) return {};
  return Wrong("input '" + node_.inputs[index] + "' has shape " + ShapeText(dims) + "; expected " +
               std::to_string(rank) + " dimensions");
}

double Call::Number(const std::string& attribute, double fallback) const {
  const Attribute* found = Find(node_, attribute);
  return found == nullptr ? fallback : found->number;
}

int64_t Call::Integer(const std::string& attribute, int64_t fallback) const {
  const Attribute* found = Find(node_, attribute);
  return found == nullptr ? fallback : found->integer;
}

std::string Call::Word(const std::string& attribute, std::string_view fallback) const {
  const Attribute* found = Find(node_, attribute);
  return found == nullptr ? std::string(fallback) : found->text;
}

std::vector<int64_t> Call::Integers(const std::string& attribute,
                                    std::vector<int64_t> fallback) const {
  const Attribute* found = Find(node_, attribute);
  return found == nullptr ? std::move(fallback) : found->integers;
}

Operator FindOperator(std::string_view op) {
  for (const OperatorRow& row : kOperators) {
    if (row.name == op) return row.run;
  }
  return nullptr;
}

std::string OperatorNames() {
  std::string names;
  for (const OperatorRow& row : kOperators) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

/// ONNX Identity-1 to -25, and Polygraphy 0.53.6's: the input as it is.
Result<Outputs> Identity(const Call& call) {
  VERNIER_TRY(call.ExpectInputs(1, 1));
  return Outputs{call.Input(0)};
}

/// ONNX Constant-1 to -25, as far as its value is a tensor, a number or a list of them.
Result<Outputs> Constant(const Call& call) {
  VERNIER_TRY(call.ExpectInputs(0, 0));
  for (const auto& [name, attribute] : call.node().attributes) {
    if (name == "value" && attribute.tensor) return Outputs{*attribute.tensor};
    if (name == "value_float") {
      return Outputs{MakeFloats(DType::kFloat32, {}, std::vector<double>{attribute.number})};
    }
    if (name == "value_int") {
      return Outputs{
          MakeArray<int64_t>(DType::kInt64, {}, std::vector<int64_t>{attribute.integer})};
    }
    if (name == "value_floats") {
      const auto count = static_cast<int64_t>(attribute.numbers.size());
      return Outputs{MakeFloats(DType::kFloat32, {count}, attribute.numbers)};
    }
    if (name == "value_ints") {
      const auto count = static_cast<int64_t>(attribute.integers.size());
      return Outputs{MakeArray<int64_t>(DType::kInt64, {count}, attribute.integers)};
    }
  }
  return call.Wrong("expected an attribute value, value_float(s) or value_int(s)");
}

}  // namespace vernier::pluginref
