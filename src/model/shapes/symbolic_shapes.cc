#include "model/shapes/symbolic_shapes.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "model/onnx/onnx_order.h"

namespace vernier {
namespace {

// What open dimensions are in the trials. A size that does not depend on them is the same in all;
// one that always equals an input's has that input's sizes. Rules round where windows have strides:
// sizes that far apart are not rounded to one.
constexpr int64_t kTrials[] = {1000, 1400, 9000};
using Sizes = std::array<int64_t, std::size(kTrials)>;

// The sizes that open dimensions get in one of the trials.
class TrialSizes {
 public:
  explicit TrialSizes(int64_t first) : next_(first) {}

  /// Equal names have equal sizes; a dimension without a name has one of its own.
  int64_t Of(const Dim& dim) {
    if (!dim.dynamic()) return dim.value;
    if (dim.symbol.empty()) return NextPrime();
    const auto [place, added] = sizes_.emplace(dim.symbol, 0);
    if (added) place->second = NextPrime();
    return place->second;
  }

  const std::map<std::string, int64_t>& sizes() const { return sizes_; }

 private:
  // Sums and products of such sizes are hardly ever another one.
  int64_t NextPrime() {
    const auto is_prime = [](int64_t n) {
      for (int64_t d = 2; d * d <= n; ++d) {
        if (n % d == 0) return false;
      }
      return true;
    };
    do ++next_;
    while (!is_prime(next_));
    return next_;
  }

  int64_t next_;
  std::map<std::string, int64_t> sizes_;
};

std::vector<InputDims> Sized(const OnnxModel& model, std::span<const InputDims> given,
                             TrialSizes& trial) {
  std::vector<InputDims> sized;
  for (const TensorInfo& input : model.RequiredInputs()) {
    const auto fixed = std::find_if(given.begin(), given.end(),
                                    [&](const InputDims& dims) { return dims.name == input.name; });
    if (fixed != given.end()) {
      sized.push_back(*fixed);
    } else if (input.shape) {
      InputDims& dims = sized.emplace_back(InputDims{input.name, {}});
      for (const Dim& dim : *input.shape) dims.dims.push_back(trial.Of(dim));
    }
  }
  return sized;
}

// What the trials say of one tensor.
std::optional<std::vector<Dim>> NamedSizes(const std::vector<ShapeTracker>& shapes,
                                           std::string_view name,
                                           const std::map<Sizes, std::string>& symbols) {
  const Dims* first = shapes.front().Find(name);
  if (first == nullptr) return std::nullopt;
  std::vector<Dim> shape(first->size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    Sizes sizes{};
    for (size_t trial = 0; trial < sizes.size(); ++trial) {
      const Dims* dims = shapes[trial].Find(name);
      if (dims == nullptr || dims->size() != shape.size()) return std::nullopt;
      sizes[trial] = (*dims)[axis];
    }
    const auto symbol = symbols.find(sizes);
    if (symbol != symbols.end()) {
      shape[axis].symbol = symbol->second;
    } else if (std::all_of(sizes.begin(), sizes.end(),
                           [&](int64_t size) { return size == sizes[0]; })) {
      shape[axis].value = sizes[0];
    }
  }
  return shape;
}

}  // namespace

Result<std::vector<TensorInfo>> FollowNamedSizes(const OnnxModel& model,
                                                 std::span<const InputDims> inputs,
                                                 std::span<const std::string> names) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> order, TopologicalOrder(model));
  std::vector<ShapeTracker> shapes;
  std::map<std::string, Sizes> sizes;  // by the name of the dimension
  for (size_t trial = 0; trial < std::size(kTrials); ++trial) {
    TrialSizes open(kTrials[trial]);
    ShapeTracker& tracker =
        shapes.emplace_back(model, Sized(model, inputs, open), ShapeTrust::kInputs);
    for (const uint32_t index : order) tracker.Visit(model.graph(), model.graph().nodes[index]);
    for (const auto& [name, size] : open.sizes()) sizes[name][trial] = size;
  }
  std::map<Sizes, std::string> symbols;
  for (const auto& [name, of_name] : sizes) symbols[of_name] = name;
  std::vector<TensorInfo> found;
  for (const std::string& name : names) {
    found.push_back({name, DType::kUndefined, NamedSizes(shapes, name, symbols)});
  }
  return found;
}

}  // namespace vernier
