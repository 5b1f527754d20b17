#include "model/shapes/onnx_infer_codes.h"

#include <algorithm>
#include <utility>

namespace vernier {
namespace {

constexpr int32_t kFloat = 1, kUint8 = 2, kInt32 = 6, kInt64 = 7, kString = 8, kBool = 9;

int32_t ConstantType(const NodeFacts& facts) {
  if (const OnnxAttribute* value = facts.attributes.Find("value")) {
    return value->tensor ? value->tensor->onnx_type : 0;
  }
  for (const auto& [name, type] : {std::pair("value_float", kFloat),
                                   {"value_floats", kFloat},
                                   {"value_int", kInt64},
                                   {"value_ints", kInt64},
                                   {"value_string", kString},
                                   {"value_strings", kString}}) {
    if (facts.attributes.Find(name) != nullptr) return type;
  }
  return 0;
}

int32_t AttributeType(char code, const NodeFacts& facts) {
  const auto number = [&](std::string_view name, int64_t fallback) {
    return static_cast<int32_t>(facts.attributes.Int(name, fallback));
  };
  switch (code) {
    case 'A':
      return number("to", 0);
    case 'B':
      return number("dtype", facts.Input(0).type);
    case 'F':
      return number("dtype", kFloat);
    case 'M':
      return number("dtype", kInt32);
    case 'T':
      return number("stash_type", kFloat);
    case 'W':
      return number("output_datatype", kFloat);
    case 'K':
      return ConstantType(facts);
    case 'S': {
      const OnnxAttribute* value = facts.attributes.Find("value");
      return value == nullptr ? kFloat : value->tensor ? value->tensor->onnx_type : 0;
    }
    case 'Q': {
      if (facts.Has(2)) return facts.Input(2).type;  // of the zero point
      const int32_t type = number("output_dtype", 0);
      return type != 0 ? type : kUint8;
    }
    case 'D': {
      const int32_t type = number("output_dtype", 0);
      if (type != 0) return type;
      return facts.opset < 19 ? kFloat : facts.Input(1).type;
    }
    default:
      return 0;
  }
}

std::optional<int64_t> MatrixRank(const KnownValue& a, const KnownValue& b) {
  if (!a.rank || !b.rank || *a.rank < 1 || *b.rank < 1) return std::nullopt;
  if (*a.rank == 1 && *b.rank == 1) return 0;
  if (*a.rank == 1) return *b.rank - 1;
  if (*b.rank == 1) return *a.rank - 1;
  return std::max(*a.rank, *b.rank);
}

std::optional<int64_t> BroadcastRank(const NodeFacts& facts) {
  int64_t rank = 0;
  for (const KnownValue& input : facts.inputs) {
    if (!input.rank) return std::nullopt;
    rank = std::max(rank, *input.rank);
  }
  return rank;
}

std::optional<int64_t> ReducedRank(const NodeFacts& facts) {
  const std::optional<int64_t> rank = facts.Input(0).rank;
  if (!rank || facts.attributes.Int("keepdims", 1) != 0) return rank;
  if (const OnnxAttribute* axes = facts.attributes.Find("axes")) {
    return *rank - static_cast<int64_t>(axes->ints.size());
  }
  if (facts.Has(1)) {
    const std::optional<int64_t> count = facts.Input(1).length;
    // An empty list of axes may mean all of them or none.
    return count && *count > 0 ? std::optional(*rank - *count) : std::nullopt;
  }
  if (facts.attributes.Int("noop_with_empty_axes", 0) != 0) return std::nullopt;
  return 0;
}

std::optional<int64_t> RankFromAxes(char code, const NodeFacts& facts) {
  const std::optional<int64_t> rank = facts.Input(0).rank;
  std::optional<int64_t> count = facts.Input(1).length;
  if (const OnnxAttribute* axes = facts.attributes.Find("axes")) {
    count = static_cast<int64_t>(axes->ints.size());
  }
  if (!rank || !count) return std::nullopt;
  return code == 's' ? *rank - *count : *rank + *count;
}

std::optional<int64_t> ConstantRank(const NodeFacts& facts) {
  const OnnxAttribute* value = facts.attributes.Find("value");
  if (value != nullptr && value->tensor) return static_cast<int64_t>(value->tensor->dims.size());
  for (const char* list : {"value_ints", "value_floats", "value_strings"}) {
    if (facts.attributes.Find(list) != nullptr) return 1;
  }
  for (const char* scalar : {"value_int", "value_float", "value_string"}) {
    if (facts.attributes.Find(scalar) != nullptr) return 0;
  }
  return std::nullopt;
}

// Those that are nothing without the first input's.
std::optional<int64_t> RankFromFirst(char code, const NodeFacts& facts) {
  const std::optional<int64_t> rank = facts.Input(0).rank;
  const KnownValue second = facts.Input(1);
  if (!rank) return std::nullopt;
  switch (code) {
    case 'g':
      return second.rank ? std::optional(*rank + *second.rank - 1) : std::nullopt;
    case 'x':
      return second.length ? std::optional(std::max(*rank, *second.length)) : std::nullopt;
    case 'n':
      return facts.attributes.Int("keepdims", 1) == 0 ? *rank - 1 : *rank;
    case 'o':
      return *rank + 1;
    default:
      return std::nullopt;
  }
}

}  // namespace

int32_t TypeByCode(char code, const NodeFacts& facts) {
  if (code >= '0' && code <= '9') return facts.Input(static_cast<size_t>(code - '0')).type;
  switch (code) {
    case 'b':
      return kBool;
    case 'i':
      return kInt64;
    case 'w':
      return kInt32;
    case 'f':
      return kFloat;
    case 'u':
      return kUint8;
    case 's':
      return kString;
    default:
      return AttributeType(code, facts);
  }
}

std::optional<int64_t> RankByCode(char code, const NodeFacts& facts) {
  if (code >= '0' && code <= '9') return facts.Input(static_cast<size_t>(code - '0')).rank;
  if (code >= 'a' && code <= 'e') return code - 'a';
  const KnownValue first = facts.Input(0);
  const KnownValue second = facts.Input(1);
  const auto list_size = [&](std::string_view name) -> std::optional<int64_t> {
    const OnnxAttribute* list = facts.attributes.Find(name);
    return list ? std::optional(static_cast<int64_t>(list->ints.size())) : std::nullopt;
  };
  switch (code) {
    case '+':
      return BroadcastRank(facts);
    case 'm':
      return MatrixRank(first, second);
    case 'q':
      return MatrixRank(first, facts.Input(3));
    case 'r':
      return facts.inputs.size() > 1 ? second.length : list_size("shape");
    case 's':
    case 'u':
      return RankFromAxes(code, facts);
    case 'R':
      return ReducedRank(facts);
    case 'l':
      return first.length;
    case 'p':
      return list_size("shape");
    case 'K':
      return ConstantRank(facts);
    default:
      return RankFromFirst(code, facts);
  }
}

// Lengths matter for the vectors that shapes are computed with.
std::optional<int64_t> VectorLength(const NodeFacts& facts) {
  const KnownValue first = facts.Input(0);
  if (facts.node.op_type == "Shape") {
    const bool part =
        facts.attributes.Find("start") != nullptr || facts.attributes.Find("end") != nullptr;
    return part ? std::nullopt : first.rank;
  }
  if (facts.node.op_type == "Constant") {
    const OnnxAttribute* value = facts.attributes.Find("value");
    if (value != nullptr && value->tensor && value->tensor->dims.size() == 1) {
      return value->tensor->dims[0];
    }
    const OnnxAttribute* ints = facts.attributes.Find("value_ints");
    return ints ? std::optional(static_cast<int64_t>(ints->ints.size())) : std::nullopt;
  }
  if (facts.node.op_type == "Concat") {
    int64_t sum = 0;
    for (const KnownValue& input : facts.inputs) {
      if (!input.length || *input.length < 0 || *input.length > kLargestRank) return std::nullopt;
      sum += *input.length;
    }
    return sum;
  }
  if (facts.node.op_type == "Unsqueeze" && first.rank == 0) return 1;
  if (facts.node.op_type == "Cast" || facts.node.op_type == "Identity") return first.length;
  return std::nullopt;
}

}  // namespace vernier
