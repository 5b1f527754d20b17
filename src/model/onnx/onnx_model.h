// An ONNX model as its file describes it. The file is mapped; names are views into the map, weights
// are never read. Structure only: whether operators exist and types agree is the runtime's
// business.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/files/mapped_file.h"
#include "vernier/dtype.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

enum class OnnxValueKind : uint8_t {
  kUntyped,
  kTensor,
  kSparseTensor,
  kSequence,
  kMap,
  kOptional,
  kOpaque
};

/// "tensor", "sequence", ...
std::string_view OnnxValueKindName(OnnxValueKind kind);

/// A ValueInfoProto: a graph's input, output or annotated intermediate value.
struct OnnxValue {
  std::string_view name;
  OnnxValueKind kind = OnnxValueKind::kUntyped;
  DType dtype = DType::kUndefined;  ///< kUndefined also for types that vernier does not know
  int32_t onnx_type = 0;            ///< the number in the file
  std::string_view bytes;           ///< the whole ValueInfoProto
};

/// Name, dtype and shape of a (sparse) tensor; of other kinds only the name.
TensorInfo ToTensorInfo(const OnnxValue& value);

/// A TensorProto without its values.
struct OnnxTensor {
  std::string_view name;
  DType dtype = DType::kUndefined;
  int32_t onnx_type = 0;
  Dims dims;  ///< as written; may be negative or too large in a malformed file
  bool external = false;
  bool split = false;               ///< the file gives it in several parts, which protobuf merges
  std::string_view bytes;           ///< the whole TensorProto (its last part if split)
  std::string_view raw_data;        ///< where embedded raw values lie; not read
  std::string_view location;        ///< of external data, as written; the next two too
  std::string_view offset, length;  ///< decimal text, empty if absent
};

struct OnnxSubgraph {
  std::string_view attribute;
  uint32_t graph = 0;  ///< for OnnxModel::Subgraph
};

struct OnnxNode {
  std::string_view name;
  std::string_view op_type;
  std::string_view domain;
  std::string_view overload;
  std::string_view bytes;  ///< the whole NodeProto
  uint32_t first_value = 0, input_count = 0, output_count = 0;
  uint32_t first_subgraph = 0, subgraph_count = 0;
};

struct OnnxGraph {
  std::string_view name;
  std::vector<OnnxNode> nodes;  ///< in the file's order
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;
  std::vector<OnnxValue> value_info;
  std::vector<OnnxTensor> initializers;
  std::vector<std::string_view> sparse_initializers;  ///< names
  uint64_t quantization_annotations = 0;

  /// An empty name is an absent optional input or an unused output.
  std::span<const std::string_view> Inputs(const OnnxNode& node) const {
    return std::span(node_values).subspan(node.first_value, node.input_count);
  }
  std::span<const std::string_view> Outputs(const OnnxNode& node) const {
    return std::span(node_values)
        .subspan(size_t{node.first_value} + node.input_count, node.output_count);
  }
  std::span<const OnnxSubgraph> Subgraphs(const OnnxNode& node) const {
    return std::span(node_subgraphs).subspan(node.first_subgraph, node.subgraph_count);
  }

  std::vector<std::string_view> node_values;  ///< inputs, then outputs, of one node after another
  std::vector<OnnxSubgraph> node_subgraphs;
  std::string_view doc_string;
};

struct OnnxOpset {
  std::string_view domain;  ///< empty: ai.onnx
  int64_t version = 0;
};

struct OnnxEntry {
  std::string_view key, value;
};

struct OnnxFunction {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<OnnxOpset> opsets;
  OnnxGraph body;  ///< only nodes and value_info
};

/// One attribute of a node. Which members count follows from `type`; sub-graphs are in
/// OnnxGraph::Subgraphs.
struct OnnxAttribute {
  std::string_view name;
  std::string_view reference;  ///< ref_attr_name: the enclosing function's attribute
  int32_t type = 0;            ///< AttributeProto.AttributeType
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::optional<OnnxTensor> tensor;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
};

/// What the file holds besides the map itself.
struct OnnxContents {
  int64_t ir_version = 0;
  std::string_view producer_name, producer_version, domain, doc_string;
  int64_t model_version = 0;
  std::vector<OnnxOpset> opsets;
  std::vector<OnnxEntry> metadata;
  uint32_t graph_parts = 0;  ///< 1, or more when the file splits the graph, which protobuf merges
  OnnxGraph graph;
  std::deque<OnnxGraph> subgraphs;
  std::vector<OnnxFunction> functions;
  /// Every tensor whose values lie in another file: initializers, attributes, sparse tensors, those
  /// in sub-graphs and in functions.
  std::vector<OnnxTensor> external_tensors;
};

class OnnxModel {
 public:
  /// kMalformed, one sentence with path, byte offset and field, when the file is missing, is not
  /// ONNX, or breaks protobuf's rules. Contents of fields that hold weights are not checked.
  static Result<OnnxModel> Open(const std::string& path);

  /// The same for bytes that `owner` keeps alive. `path` is for messages and for external data.
  static Result<OnnxModel> FromBytes(std::span<const std::byte> bytes,
                                     std::shared_ptr<const void> owner, std::string path);

  /// kMalformed when the file became shorter or unreadable since Open(): what was made of its bytes
  /// must not be used then. To be called when the work with the model is done, and before anything
  /// is written that is made from it.
  Status CheckIntact() const;

  const std::string& path() const { return path_; }
  std::string_view bytes() const { return bytes_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  const OnnxContents& contents() const { return contents_; }
  const OnnxGraph& graph() const { return contents_.graph; }
  const OnnxGraph& Subgraph(const OnnxSubgraph& link) const {
    return contents_.subgraphs[link.graph];
  }
  std::span<const OnnxTensor> external_tensors() const { return contents_.external_tensors; }

  /// The version of ai.onnx, 0 if the file imports none.
  int64_t opset() const;

  /// Inputs that a caller must feed: without those that an initializer gives a default, as ONNX
  /// Runtime counts them.
  std::vector<TensorInfo> RequiredInputs() const;
  std::vector<TensorInfo> Outputs() const;

  /// The node's attributes, read again from the map.
  std::vector<OnnxAttribute> Attributes(const OnnxNode& node) const;

  /// Nodes of the main graph in the file and in sub-graphs, as Polygraphy counts them.
  uint64_t NodeCount() const;

 private:
  OnnxModel() = default;

  std::string path_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const MappedFile> file_;  // where it was opened by name
  std::string_view bytes_;
  OnnxContents contents_;
};

}  // namespace vernier
