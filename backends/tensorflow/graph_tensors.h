// The tensors of a graph that take part in a run: its inputs and outputs by Polygraphy's rules, and
// tensors by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tf_api.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::tf {

/// A tensor of the graph and the name it has for the host.
struct GraphTensor {
  TF_Output output{};
  TF_DataType type = 0;
  sdk::TensorSpec spec;
};

/// `operation:index`, or `operation` for its first output. kNotFound with the nearest name.
Result<TF_Output> FindTensor(const Api& api, TF_Graph* graph, std::string_view name);

/// What the graph says of a tensor.
GraphTensor Describe(const Api& api, TF_Graph* graph, TF_Output output, std::string name);

/// "operation:index"
std::string TensorName(const Api& api, TF_Output output);

/// The operations whose names start with this are the saver's, and no part of the model.
struct GraphRules {
  std::string saver_scope;  ///< "save/"; empty: none
};

/// First outputs of the operations that have "Placeholder" in their type.
std::vector<GraphTensor> FindInputs(const Api& api, TF_Graph* graph, const GraphRules& rules);

/// First outputs of the operations that have inputs, that nothing consumes, and that are of none of
/// the kinds and scopes that Polygraphy leaves out.
std::vector<GraphTensor> FindOutputs(const Api& api, TF_Graph* graph, const GraphRules& rules);

/// The outputs of all operations; those that cannot be handed out are in `not_exposed`.
std::vector<GraphTensor> AllTensors(const Api& api, TF_Graph* graph, const GraphRules& rules,
                                    std::vector<sdk::NotExposed>& not_exposed);

/// "float32", "float16+float32", ...: the floating types of the graph's tensors; "integers" if
/// none.
std::string PrecisionOf(const Api& api, TF_Graph* graph);

}  // namespace vernier::tf
