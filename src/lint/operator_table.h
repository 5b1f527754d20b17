// What the operators of ONNX take and give, version by version. Source: the onnx package, whose
// definitions scripts/operator-table.py writes to operators.txt.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vernier {

/// A set of element types: bit n is TensorProto.DataType n; bit 31 is whatever is no tensor.
using TypeSet = uint32_t;
inline constexpr TypeSet kNotATensor = TypeSet{1} << 31;

/// One formal input or output.
struct OperatorPlace {
  size_t type = 0;        ///< index into OperatorVersion::types
  bool optional = false;  ///< may be left out by an empty name
  bool variadic = false;  ///< stands for any number; always the last one
  bool mixed = false;     ///< variadic, and the types need not be the same
};

struct OperatorType {
  std::string_view name;  ///< "T"
  TypeSet types = 0;
};

struct OperatorAttribute {
  std::string_view name;
  int32_t type = 0;  ///< AttributeProto.AttributeType
  bool required = false;
};

struct OperatorVersion {
  int64_t since = 0;
  bool deprecated = false;  ///< then nothing below is known
  int64_t min_inputs = 0, max_inputs = 0, min_outputs = 0, max_outputs = 0;
  std::vector<OperatorPlace> inputs, outputs;
  std::vector<OperatorType> types;
  std::vector<OperatorAttribute> attributes;

  /// The place that an input or output of that index takes; nullptr beyond the last.
  static const OperatorPlace* At(const std::vector<OperatorPlace>& places, size_t index);
};

class OperatorTable {
 public:
  OperatorTable();

  /// "" and "ai.onnx" are the same domain.
  static std::string_view Domain(std::string_view domain);

  int64_t newest_ir() const { return newest_ir_; }
  /// 0 for a domain that the table does not have.
  int64_t NewestOpset(std::string_view domain) const;
  /// Whether every operator of the domain is in the table with its versions.
  bool Complete(std::string_view domain) const;
  /// Whether there is such an operator in any version.
  bool Knows(std::string_view domain, std::string_view op) const;
  /// As the opset has it: nullptr if it came later, or only its name is known.
  const OperatorVersion* Find(std::string_view domain, std::string_view op, int64_t opset) const;
  /// The version of the operator that came first; 0 where only the name is known.
  int64_t FirstVersion(std::string_view domain, std::string_view op) const;
  /// Is the number one of TensorProto.DataType that the table's operators may take?
  bool KnowsType(int32_t onnx_type) const;

 private:
  struct DomainRows {
    int64_t newest = 0;
    bool complete = true;
    std::unordered_map<std::string_view, std::vector<OperatorVersion>> operators;
  };
  const DomainRows* Rows(std::string_view domain) const;
  void ReadLine(std::string_view line);

  int64_t newest_ir_ = 0;
  TypeSet known_types_ = 0;
  std::map<std::string_view, DomainRows> domains_;
  DomainRows* current_ = nullptr;
};

}  // namespace vernier
