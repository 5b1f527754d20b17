// Graphs taken apart into their messages, changed, and put together again. For models whose large
// weights were detached: what is here is in memory.
#pragma once

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "vernier/status.h"

namespace vernier {

/// The messages of a GraphProto, without tags. Those of one kind keep the file's order; the order
/// between kinds means nothing.
struct GraphParts {
  std::vector<std::string_view> nodes, initializers, sparse_initializers, inputs, outputs,
      value_info;
  std::vector<std::string_view> rest;  ///< all other fields, whole
};

/// `graph` is a GraphProto of a model that OnnxModel accepted; the parts are views into it.
GraphParts SplitGraph(std::string_view graph);
std::string JoinGraph(const GraphParts& parts);

/// Keeps new messages alive while parts hold views of them.
class MessageStore {
 public:
  std::string_view Keep(std::string bytes) { return kept_.emplace_back(std::move(bytes)); }

 private:
  std::deque<std::string> kept_;
};

/// One graph of a model and what may be changed in it.
struct GraphInModel {
  const OnnxGraph& graph;  ///< as parsed; index i of its lists is index i of the parts at first
  bool main = false;
  std::span<const OnnxGraph* const> enclosing;  ///< from the main graph inwards; empty for that one
  GraphParts& parts;
  MessageStore& store;  ///< lives until the model is written
};

/// Calls `visit` for every graph of the model, bodies of control flow before the graph that holds
/// them, and writes the model with what it changed. Bodies of functions are left alone. The result
/// owns its bytes. kUnimplemented for a file that gives its graph in several parts; errors of
/// `visit`.
Result<OnnxModel> RewriteGraphs(const OnnxModel& model,
                                const std::function<Status(GraphInModel&)>& visit);

/// The node with each input and output renamed by `rename`, which gets the name and whether it is
/// an output. Bodies are left as they are.
std::string RenameValues(std::string_view node,
                         const std::function<std::string(std::string_view, bool)>& rename);

/// A TensorProto under another name.
std::string RenamedTensor(std::string_view tensor, std::string_view name);

/// A whole model from bytes that it then owns.
Result<OnnxModel> OwnModel(std::string bytes, const std::string& path);

}  // namespace vernier
