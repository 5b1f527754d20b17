// Element types and ranks of intermediate values that a model does not annotate: enough to declare
// marked outputs. Only what ONNX's operator definitions make certain, because a runtime refuses a
// model whose output declares another type than it computes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/onnx/onnx_model.h"

namespace vernier {

struct InferredType {
  int32_t onnx_type = 0;    ///< TensorProto.DataType, 0 if unknown
  std::optional<int> rank;  ///< dimensions' sizes are not inferred
};

/// One entry per name. Operators of other domains and values that are not tensors stay unknown; so
/// do the ranks of what model-local functions and operators of ai.onnx.ml give, and all of those
/// that import another opset of ai.onnx than the model does. Source of the rules: ONNX's operator
/// definitions up to version 25.
std::vector<InferredType> InferTypes(const OnnxModel& model,
                                     std::span<const std::string_view> names);

/// Element types (TensorProto.DataType) by the names of values; 0 where it is unknown.
using ValueTypes = std::unordered_map<std::string_view, int32_t>;

class CallTypes;

/// The types of values in the graphs and functions of one model. What its functions give is found
/// out once, so one serves all graphs of the model, which must outlive it.
class TypeInference {
 public:
  explicit TypeInference(const OnnxModel& model);
  ~TypeInference();

  /// The types of all values of one graph, initializers included. `outer` are those of the
  /// enclosing graphs, and what is known of the graph's inputs where it does not declare them
  /// itself.
  ValueTypes OfGraph(const OnnxGraph& graph, const ValueTypes& outer);

  /// The same for a body of `node`, which is in `graph`, whose values are of these types. Bodies
  /// need not declare what the node's inputs say.
  ValueTypes OfBody(const OnnxGraph& graph, const OnnxNode& node, const OnnxGraph& body,
                    const ValueTypes& types);

  /// The types of a function's values when it is called with arguments of these types, 0 for those
  /// that are left out. Empty where it imports another opset of ai.onnx than the model.
  ValueTypes OfFunction(const OnnxFunction& function, std::span<const int32_t> arguments);

 private:
  std::unique_ptr<CallTypes> calls_;
};

/// TypeInference::OfGraph and OfBody, for a single graph.
ValueTypes InferGraphTypes(const OnnxModel& model, const OnnxGraph& graph, const ValueTypes& outer);
ValueTypes InferBodyTypes(const OnnxModel& model, const OnnxGraph& graph, const OnnxNode& node,
                          const OnnxGraph& body, const ValueTypes& types);

}  // namespace vernier
