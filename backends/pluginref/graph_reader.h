// An ONNX graph with its weights, as far as the reference operators need it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array.h"
#include "vernier/status.h"

namespace vernier::pluginref {

/// Which member counts follows from what the operator expects of the attribute.
struct Attribute {
  double number = 0;    ///< `f`
  int64_t integer = 0;  ///< `i`
  std::string text;     ///< `s`
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  std::optional<Array> tensor;
  int type = 0;  ///< AttributeProto.AttributeType
};

struct Node {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs;  ///< an empty name: absent
  std::map<std::string, Attribute> attributes;

  /// "node 'norm' (GroupNormalization)"; by its first output where it has no name.
  std::string Title() const;
};

/// An input or output as declared.
struct Value {
  std::string name;
  DType dtype = DType::kUndefined;
  std::optional<Dims> dims;  ///< -1: dynamic; absent: unknown rank
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Value> inputs;  ///< without initializers
  std::vector<Value> outputs;
  std::map<std::string, Array> constants;
  int64_t opset = 0;  ///< of ai.onnx
};

/// Reads a model. Weights in files are looked for below `folder`. kMalformed for bytes that are no
/// model, weights that do not fit their shape, and paths that lead out of the folder.
Result<Graph> ReadGraph(std::string_view bytes, const std::string& folder);

}  // namespace vernier::pluginref
