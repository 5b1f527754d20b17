// A new ONNX model composed of parts of another one: nodes, with new names for their tensors if
// need be, the initializers that they read, and the declarations that the caller gives. Weights are
// not copied: the result is made of views into the source, and external data stays where it is.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/onnx/byte_pieces.h"
#include "model/onnx/onnx_model.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// New names of tensors, by their old ones. Names that are absent stay.
using TensorRenames = std::unordered_map<std::string_view, std::string>;

class ModelComposer {
 public:
  /// `source` must outlive what Finish() returns.
  explicit ModelComposer(const OnnxModel& source);

  /// Declares an input or output. An undefined dtype leaves it untyped, a missing shape unranked.
  void AddInput(const TensorInfo& info) { inputs_.push_back(info); }
  void AddOutput(const TensorInfo& info) { outputs_.push_back(info); }

  /// Appends a node of the main graph or of a body. Initializers of the main graph that it reads,
  /// also from within its own bodies, come along. `renames` hold for the node and its bodies, and
  /// the node is called `name` unless that is empty.
  void AddNode(const OnnxGraph& graph, const OnnxNode& node, const TensorRenames& renames = {},
               std::string_view name = {});

  /// Takes an initializer along that no node reads.
  void KeepInitializer(std::string_view name);

  /// Makes the initializers of a body, whose nodes are being added, known.
  void OpenBody(const OnnxGraph& body) { Remember(body); }

  /// Declares what the source declares of these tensors within.
  void AddValueInfo(const OnnxValue& value) { value_info_.push_back(value.bytes); }

  /// The model. Functions, opset imports and metadata are those of the source.
  /// kUnimplemented for an initializer that the file splits.
  Result<BytePieces> Finish() const;

 private:
  void Remember(const OnnxGraph& graph);
  void FindSparse();
  Status AppendInitializers(BytePieces& graph) const;

  const OnnxModel& source_;
  std::unordered_map<std::string_view, const OnnxTensor*> initializers_;
  std::unordered_map<std::string_view, std::string_view> sparse_;  // the whole fields
  std::vector<std::string_view> used_;  // initializers, in the order of first use
  std::unordered_set<std::string_view> seen_;
  std::vector<TensorInfo> inputs_, outputs_;
  std::vector<std::string_view> value_info_;
  BytePieces nodes_;
};

/// The node, and its bodies, with other names for tensors, and `name` for its own unless that is
/// empty. `model` must outlive the result.
BytePieces RenamedNode(const OnnxModel& model, const OnnxGraph& graph, const OnnxNode& node,
                       const TensorRenames& renames, std::string_view name = {});

/// A ValueInfoProto.
std::string MakeValueInfo(const TensorInfo& info);

}  // namespace vernier
