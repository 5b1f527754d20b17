// What one node gives, by the letters of onnx_infer_rules.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/onnx/onnx_attributes.h"
#include "model/onnx/onnx_model.h"

namespace vernier {

/// Ranks beyond it are taken for faults of the file.
inline constexpr int64_t kLargestRank = 64;

struct KnownValue {
  int32_t type = 0;  ///< TensorProto.DataType, 0 if unknown
  std::optional<int64_t> rank;
  std::optional<int64_t> length;  ///< of a vector
};

/// A node and what is known of its inputs.
struct NodeFacts {
  const OnnxNode& node;
  std::span<const std::string_view> names;  ///< of the inputs; empty: left out
  std::span<const KnownValue> inputs;
  NodeAttributes& attributes;
  int64_t opset = 0;  ///< of ai.onnx

  KnownValue Input(size_t index) const {
    return index < inputs.size() ? inputs[index] : KnownValue();
  }
  bool Has(size_t index) const { return index < names.size() && !names[index].empty(); }
};

int32_t TypeByCode(char code, const NodeFacts& facts);
std::optional<int64_t> RankByCode(char code, const NodeFacts& facts);

/// Of an output that is a vector. Lengths matter for those that shapes are computed with.
std::optional<int64_t> VectorLength(const NodeFacts& facts);

}  // namespace vernier
