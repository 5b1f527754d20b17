// The operators that the reference backend has, by name.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array.h"
#include "graph_reader.h"
#include "vernier/status.h"

namespace vernier::pluginref {

/// One node with the arrays that go into it. All messages name the node.
class Call {
 public:
  /// `inputs` has nullptr for an absent one. Nothing is owned.
  Call(const Node& node, std::vector<const Array*> inputs, int64_t opset)
      : node_(node), inputs_(std::move(inputs)), opset_(opset) {}

  /// kMalformed when there are fewer or more inputs than these, or one of the first `least` is
  /// absent.
  Status ExpectInputs(size_t least, size_t most) const;

  /// An input that ExpectInputs has found.
  const Array& Input(size_t index) const { return *inputs_[index]; }
  /// nullptr where it is absent.
  const Array* Optional(size_t index) const {
    return index < inputs_.size() ? inputs_[index] : nullptr;
  }
  /// Elements of an input of one of the four float types; kMalformed for another.
  Result<std::vector<double>> Floats(size_t index) const;
  /// Elements of an int32 or int64 input; kMalformed for another.
  Result<std::vector<int64_t>> Integers(size_t index) const;
  /// kMalformed unless the input has this many dimensions.
  Status ExpectRank(size_t index, size_t rank) const;

  double Number(const std::string& attribute, double fallback) const;
  int64_t Integer(const std::string& attribute, int64_t fallback) const;
  std::string Word(const std::string& attribute, std::string_view fallback) const;
  std::vector<int64_t> Integers(const std::string& attribute, std::vector<int64_t> fallback) const;

  const Node& node() const { return node_; }
  int64_t opset() const { return opset_; }

  Status Wrong(const std::string& why) const { return Malformed(node_.Title() + ": " + why); }

 private:
  const Node& node_;
  std::vector<const Array*> inputs_;
  int64_t opset_;
};

using Outputs = std::vector<Array>;
using Operator = Result<Outputs> (*)(const Call&);

/// nullptr for an operator that there is no reference of. An operator is known by its name in any
/// domain, as in Polygraphy: TensorRT's plug-ins have none of their own.
Operator FindOperator(std::string_view op);

/// "BatchedNMS_TRT, Constant, ...", sorted.
std::string OperatorNames();

Result<Outputs> Identity(const Call& call);
Result<Outputs> Constant(const Call& call);
Result<Outputs> InstanceNormalization(const Call& call);
Result<Outputs> MeanVarianceNormalization(const Call& call);
Result<Outputs> GroupNormalization(const Call& call);
Result<Outputs> LayerNormalization(const Call& call);
Result<Outputs> ScatterNd(const Call& call);
Result<Outputs> GridSample(const Call& call);
Result<Outputs> RoiAlign(const Call& call);
Result<Outputs> EfficientNms(const Call& call);
Result<Outputs> BatchedNms(const Call& call);

}  // namespace vernier::pluginref
