#include "io/test_data/nested_proto.h"

#include <span>
#include <utility>
#include <vector>

#include "io/test_data/proto_cursor.h"
#include "io/test_data/tensor_proto.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

// Field numbers that SequenceProto and OptionalProto share.
enum NestedField : uint64_t {
  kNestedName = 1,
  kElementType = 2,
  kTensorValue = 3,
  kSparseValue = 4,
  kSequenceValue = 5,
  kLastNestedField = 7,
};

// Their element types.
enum ElementType : uint64_t { kNothing = 0, kTensorElements = 1, kSequenceElements = 3 };
constexpr uint64_t kLastElementType = 5;

struct NestedFields {
  std::string name;
  uint64_t element_type = kNothing;
  std::vector<ProtoBytes> tensors, sequences;
  bool has_others = false;  // maps, sparse tensors, optionals
};

// TensorProto has sizes where the others have a name, and its name and raw data behind their last
// field. The first field is enough for most files.
bool IsNested(ProtoBytes bytes) {
  bool has_name = false, has_tensor = false;
  ProtoCursor cursor(bytes);
  while (!cursor.done()) {
    const Result<ProtoField> field = cursor.Next();
    if (!field.ok() || field->number > kLastNestedField) return false;
    if (field->number == kElementType) {
      if (field->type != wire::kVarint || field->value > kLastElementType) return false;
      continue;
    }
    if (field->type != wire::kBytes || field->number == kSparseValue) return false;
    has_name |= field->number == kNestedName;
    has_tensor |= field->number == kTensorValue;
  }
  return has_name || has_tensor;
}

Result<NestedFields> ReadNested(ProtoBytes bytes) {
  NestedFields nested;
  ProtoCursor cursor(bytes);
  while (!cursor.done()) {
    VERNIER_ASSIGN_OR_RETURN(const ProtoField field, cursor.Next());
    if (field.number == kNestedName) {
      nested.name.assign(reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size());
    } else if (field.number == kElementType) {
      nested.element_type = field.value;
    } else if (field.number == kTensorValue) {
      nested.tensors.push_back(field.bytes);
    } else if (field.number == kSequenceValue) {
      nested.sequences.push_back(field.bytes);
    } else {
      nested.has_others = true;
    }
  }
  return nested;
}

template <typename T>
Result<NamedTensor> MakeScalar(std::string name, DType dtype, T number) {
  VERNIER_ASSIGN_OR_RETURN(Tensor tensor,
                           Tensor::Copy(dtype, {}, std::as_bytes(std::span(&number, 1))));
  return NamedTensor{std::move(name), std::move(tensor)};
}

Status AddSequence(const NestedFields& sequence, const std::string& name, TensorMap& parts) {
  VERNIER_ASSIGN_OR_RETURN(
      NamedTensor length,
      MakeScalar(LengthName(name), DType::kInt64, static_cast<int64_t>(sequence.tensors.size())));
  parts.push_back(std::move(length));
  for (size_t i = 0; i < sequence.tensors.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(NamedTensor element, ParseTensorProto(sequence.tensors[i]));
    parts.push_back({ElementName(name, i), std::move(element.tensor)});
  }
  return {};
}

Status AddNested(const NestedFields& nested, const std::string& name, TensorMap& parts) {
  const bool is_sequence = nested.element_type == kTensorElements && nested.sequences.empty();
  const bool is_absent =
      nested.element_type == kNothing && nested.tensors.empty() && nested.sequences.empty();
  const bool is_optional = nested.element_type == kSequenceElements &&
                           nested.sequences.size() == 1 && nested.tensors.empty();
  if (nested.has_others || (!is_sequence && !is_absent && !is_optional)) {
    return Malformed(
        "the ONNX value is no tensor, no sequence of tensors and no optional with one "
        "of these, which is not read here");
  }
  if (is_sequence) return AddSequence(nested, name, parts);
  VERNIER_ASSIGN_OR_RETURN(NamedTensor presence, MakeScalar(PresenceName(name), DType::kBool,
                                                            static_cast<uint8_t>(is_optional)));
  parts.push_back(std::move(presence));
  if (is_absent) return {};
  VERNIER_ASSIGN_OR_RETURN(const NestedFields sequence, ReadNested(nested.sequences[0]));
  if (sequence.has_others || sequence.element_type != kTensorElements ||
      !sequence.sequences.empty()) {
    return Malformed(
        "the ONNX value is an optional with something else than a sequence of "
        "tensors, which is not read here");
  }
  return AddSequence(sequence, name, parts);
}

}  // namespace

Result<TensorMap> ParseTestData(std::span<const std::byte> bytes, const std::string& fallback) {
  TensorMap tensors;
  if (!IsNested(bytes)) {
    VERNIER_ASSIGN_OR_RETURN(NamedTensor tensor, ParseTensorProto(bytes));
    if (tensor.name.empty()) tensor.name = fallback;
    tensors.push_back(std::move(tensor));
    return tensors;
  }
  VERNIER_ASSIGN_OR_RETURN(const NestedFields nested, ReadNested(bytes));
  VERNIER_TRY(AddNested(nested, nested.name.empty() ? fallback : nested.name, tensors));
  return tensors;
}

}  // namespace vernier
