// Which nodes read numbers that float16 cannot hold. Internal to model.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_set>

#include "model/float16/float16_edit.h"
#include "model/float16/float16_functions.h"
#include "model/onnx/onnx_model.h"
#include "model/shapes/onnx_infer.h"

namespace vernier {

/// Looks for nodes of the main graph, and of bodies in it, that read from an initializer or a
/// Constant, also through nodes that only rearrange values,
/// - finite values beyond float16's range, or
/// - a single number nearer to zero than float16 can be; and for nodes that magnify how small a
///   result of such a node may be, as the Log of x + 1e-10.
class BeyondFloat16 {
 public:
  /// All must outlive this.
  BeyondFloat16(const OnnxModel& model, Float16Functions& functions, const WeightSources& sources,
                Float16Kept& kept, Float16Edit& edit)
      : model_(model), functions_(functions), sources_(sources), kept_(kept), edit_(edit) {}

  /// Adds the nodes to `kept`, and of those that compute something the names to the edit's
  /// `out_of_range` and `near_zero`. Left out are nodes with bodies and calls of functions, which
  /// cannot be kept, and weights that cannot be read now; and for the sake of numbers near zero
  /// nodes beside values of unknown types, as no casts could be placed there.
  void Find() { Visit(model_.graph(), functions_.inference().OfGraph(model_.graph(), {}), {}); }

 private:
  using Names = std::unordered_set<std::string_view>;
  using Test = bool (*)(std::span<const std::byte> floats);

  struct Values {
    Names beyond;  // some are beyond the range
    Names tiny;    // one number, which is too near to zero
    Names small;   // results that may be as small as such a number
  };

  void Visit(const OnnxGraph& graph, const ValueTypes& types, Values values);
  void VisitNode(const OnnxGraph& graph, const OnnxNode& node, const ValueTypes& types,
                 Values& values);
  bool Holds(const OnnxTensor& tensor, Test test) const;
  bool Makes(const OnnxNode& node, Test test) const;

  const OnnxModel& model_;
  Float16Functions& functions_;
  const WeightSources& sources_;
  Float16Kept& kept_;
  Float16Edit& edit_;
};

}  // namespace vernier
