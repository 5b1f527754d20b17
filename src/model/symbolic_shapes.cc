#include "model/symbolic_shapes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/onnx_order.h"

namespace vernier {
namespace {

// The sizes that open dimensions get in one of two trials.
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

// What two trials with other sizes say of one tensor.
std::vector<Dim> NamedSizes(const Dims& first, const Dims& second,
                            const std::map<std::pair<int64_t, int64_t>, std::string>& names) {
  std::vector<Dim> shape;
  for (size_t axis = 0; axis < first.size(); ++axis) {
    Dim& dim = shape.emplace_back();
    const auto name = names.find({first[axis], second[axis]});
    if (name != names.end()) {
      dim.symbol = name->second;
    } else if (first[axis] == second[axis]) {
      dim.value = first[axis];
    }
  }
  return shape;
}

}  // namespace

Result<std::vector<TensorInfo>> FollowNamedSizes(const OnnxModel& model,
                                                 std::span<const InputDims> inputs,
                                                 std::span<const std::string> names) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> order, TopologicalOrder(model));
  // A size that does not depend on the inputs is the same in both; one that equals an input's has
  // that input's sizes.
  TrialSizes trials[] = {TrialSizes(1000), TrialSizes(1400)};
  ShapeTracker first(model, Sized(model, inputs, trials[0]), ShapeTrust::kInputs);
  ShapeTracker second(model, Sized(model, inputs, trials[1]), ShapeTrust::kInputs);
  for (const uint32_t index : order) {
    first.Visit(model.graph(), model.graph().nodes[index]);
    second.Visit(model.graph(), model.graph().nodes[index]);
  }
  std::map<std::pair<int64_t, int64_t>, std::string> symbols;
  for (const auto& [name, size] : trials[0].sizes()) {
    symbols[{size, trials[1].sizes().at(name)}] = name;
  }
  std::vector<TensorInfo> found;
  for (const std::string& name : names) {
    TensorInfo& info = found.emplace_back(TensorInfo{name, DType::kUndefined, std::nullopt});
    const Dims* a = first.Find(name);
    const Dims* b = second.Find(name);
    if (a != nullptr && b != nullptr && a->size() == b->size()) {
      info.shape = NamedSizes(*a, *b, symbols);
    }
  }
  return found;
}

}  // namespace vernier
