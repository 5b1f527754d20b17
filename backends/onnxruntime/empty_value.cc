#include "empty_value.h"

#include <cstdint>
#include <string_view>

namespace vernier::ort {
namespace {

// Field numbers of onnx.proto.
constexpr uint64_t kTensorType = 1, kSequenceType = 4, kOptionalType = 9;  // TypeProto
constexpr uint64_t kAttributeInt = 2, kAttributeType = 13;                 // AttributeProto.type

std::string VarintBytes(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

std::string NumberField(uint64_t field, uint64_t value) {
  return VarintBytes(field << 3) + VarintBytes(value);
}

std::string BytesField(uint64_t field, std::string_view bytes) {
  return VarintBytes(field << 3 | 2) + VarintBytes(bytes.size()) + std::string(bytes);
}

// The type within that of a sequence or optional, whose message has it as its first field.
std::string InnerType(std::string_view type) {
  size_t at = 1;  // behind the key of the outer message
  const auto skip = [&] {
    while (at < type.size() && (type[at] & 0x80) != 0) ++at;
    ++at;
  };
  skip();  // its size
  ++at;    // the key of the inner one
  skip();
  return std::string(type.substr(at));
}

bool HasKey(const std::string& type, uint64_t field) {
  return !type.empty() && type[0] == static_cast<char>(field << 3 | 2);
}

// A node without inputs that makes the value: SequenceEmpty or Optional.
std::string NodeBytes(const std::string& type) {
  const std::string inner = InnerType(type);
  const bool is_sequence = HasKey(type, kSequenceType);
  // Of TypeProto.Tensor, elem_type is the only field, and its value one byte.
  const std::string attribute =
      is_sequence
          ? BytesField(1, "dtype") + NumberField(3, static_cast<unsigned char>(inner.back())) +
                NumberField(20, kAttributeInt)
          : BytesField(1, "type") + BytesField(14, inner) + NumberField(20, kAttributeType);
  return BytesField(2, "value") + BytesField(4, is_sequence ? "SequenceEmpty" : "Optional") +
         BytesField(5, attribute);
}

std::string ModelBytes(const std::string& type) {
  const std::string output = BytesField(1, "value") + BytesField(2, type);
  const std::string graph =
      BytesField(1, NodeBytes(type)) + BytesField(2, "empty") + BytesField(12, output);
  constexpr uint64_t kIrVersion = 8, kOpset = 15;  // the first with optionals
  return NumberField(1, kIrVersion) + BytesField(7, graph) + BytesField(8, NumberField(2, kOpset));
}

Result<std::string> Wrapped(const Api& api, uint64_t field, OrtTypeInfo* inner) {
  const Handle<OrtTypeInfo> owned(inner, api.table->ReleaseTypeInfo);
  VERNIER_ASSIGN_OR_RETURN(const std::string bytes, TypeBytes(api, inner));
  return bytes.empty() ? bytes : BytesField(field, BytesField(1, bytes));
}

}  // namespace

Result<std::string> TypeBytes(const Api& api, const OrtTypeInfo* type) {
  const OrtApi& table = *api.table;
  ONNXType kind{};
  VERNIER_TRY(Take(api, table.GetOnnxTypeFromTypeInfo(type, &kind)));
  OrtTypeInfo* inner = nullptr;
  if (kind == ONNX_TYPE_TENSOR) {
    const OrtTensorTypeAndShapeInfo* info = nullptr;
    ONNXTensorElementDataType element{};
    VERNIER_TRY(Take(api, table.CastTypeInfoToTensorInfo(type, &info)));
    VERNIER_TRY(Take(api, table.GetTensorElementType(info, &element)));
    return BytesField(kTensorType, NumberField(1, static_cast<uint64_t>(element)));
  }
  if (kind == ONNX_TYPE_SEQUENCE) {
    const OrtSequenceTypeInfo* sequence = nullptr;
    VERNIER_TRY(Take(api, table.CastTypeInfoToSequenceTypeInfo(type, &sequence)));
    VERNIER_TRY(Take(api, table.GetSequenceElementType(sequence, &inner)));
    return Wrapped(api, kSequenceType, inner);
  }
  if (kind == ONNX_TYPE_OPTIONAL) {
    const OrtOptionalTypeInfo* optional = nullptr;
    VERNIER_TRY(Take(api, table.CastTypeInfoToOptionalTypeInfo(type, &optional)));
    VERNIER_TRY(Take(api, table.GetOptionalContainedTypeInfo(optional, &inner)));
    return Wrapped(api, kOptionalType, inner);
  }
  return std::string();
}

std::string SequenceType(const std::string& type) {
  return HasKey(type, kOptionalType) ? InnerType(type) : type;
}

Result<Value> MakeEmpty(const Api& api, const std::string& type) {
  if (type.empty()) return Unimplemented("ONNX Runtime cannot make an empty one of that type");
  const OrtApi& table = *api.table;
  OrtSessionOptions* raw_options = nullptr;
  VERNIER_TRY(Take(api, table.CreateSessionOptions(&raw_options)));
  const Handle<OrtSessionOptions> options(raw_options, table.ReleaseSessionOptions);
  VERNIER_TRY(Take(api, table.SetIntraOpNumThreads(raw_options, 1)));
  VERNIER_TRY(Take(api, table.SetSessionLogSeverityLevel(raw_options, ORT_LOGGING_LEVEL_ERROR)));
  const std::string model = ModelBytes(type);
  OrtSession* raw_session = nullptr;
  VERNIER_TRY(Take(api, table.CreateSessionFromArray(api.env, model.data(), model.size(),
                                                     raw_options, &raw_session)));
  const Handle<OrtSession> session(raw_session, table.ReleaseSession);
  Value value(api);
  const char* const name = "value";
  VERNIER_TRY(
      Take(api, table.Run(raw_session, nullptr, nullptr, nullptr, 0, &name, 1, value.slot())));
  return value;
}

}  // namespace vernier::ort
