#include "io/test_data/tensor_proto.h"

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "io/test_data/proto_cursor.h"

namespace vernier {
namespace {

// Field numbers of onnx.proto's TensorProto.
enum Field : uint64_t {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kDataLocation = 14,
};

// Numbers that are varints, alone or packed.
Status AppendVarints(const ProtoField& field, std::vector<int64_t>& out) {
  if (field.type == wire::kVarint) {
    out.push_back(static_cast<int64_t>(field.value));
    return {};
  }
  ProtoCursor cursor(field.bytes);
  while (!cursor.done()) {
    VERNIER_ASSIGN_OR_RETURN(const uint64_t value, cursor.Varint());
    out.push_back(static_cast<int64_t>(value));
  }
  return {};
}

struct ProtoParts {
  std::string name;
  Dims dims;
  std::vector<int64_t> data_type;
  std::vector<int64_t> location;
  std::vector<int64_t> integers;
  std::vector<std::byte> fixed;  // float_data or double_data, in order
  std::vector<std::string> strings;
  std::optional<ProtoBytes> raw;
  bool has_segment = false;
};

std::string TextOf(ProtoBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status ReadField(const ProtoField& field, ProtoParts& parts) {
  switch (field.number) {
    case kDims:
      return AppendVarints(field, parts.dims);
    case kDataType:
      return AppendVarints(field, parts.data_type);
    case kDataLocation:
      return AppendVarints(field, parts.location);
    case kInt32Data:
    case kInt64Data:
    case kUint64Data:
      return AppendVarints(field, parts.integers);
    case kFloatData:
    case kDoubleData:
      parts.fixed.insert(parts.fixed.end(), field.bytes.begin(), field.bytes.end());
      return {};
    case kStringData:
      parts.strings.push_back(TextOf(field.bytes));
      return {};
    case kName:
      parts.name = TextOf(field.bytes);
      return {};
    case kRawData:
      parts.raw = field.bytes;
      return {};
    case kSegment:
      parts.has_segment = true;
      return {};
    default:
      return {};
  }
}

// int32_data, int64_data and uint64_data hold one element each, narrower types in the low bits; of
// four-bit types each number holds two.
std::vector<std::byte> FromIntegers(const std::vector<int64_t>& integers, DType dtype) {
  const size_t width = BitsOf(dtype) < 8 ? 1 : static_cast<size_t>(BitsOf(dtype)) / 8;
  std::vector<std::byte> bytes;
  bytes.reserve(integers.size() * width);
  for (const int64_t value : integers) {
    std::byte element[sizeof(value)];
    std::memcpy(element, &value, sizeof(value));
    bytes.insert(bytes.end(), element, element + std::min(width, sizeof(value)));
  }
  return bytes;
}

Result<Tensor> Assemble(const ProtoParts& parts) {
  if (parts.data_type.empty()) return Malformed("the ONNX tensor has no data type");
  const auto dtype = DTypeFromOnnx(parts.data_type.back());
  if (!dtype) {
    return Malformed("the ONNX tensor has data type " + std::to_string(parts.data_type.back()) +
                     ", which is not supported");
  }
  if (!parts.location.empty() && parts.location.back() != 0) {
    return Malformed("the ONNX tensor keeps its data in another file, which is not read here");
  }
  if (parts.has_segment) return Malformed("the ONNX tensor is one segment of several");
  if (*dtype == DType::kString) {
    const auto count = ElementCount(parts.dims);
    if (!count || static_cast<uint64_t>(*count) != parts.strings.size()) {
      return Malformed("the ONNX tensor has " + std::to_string(parts.strings.size()) +
                       " strings for shape " + FormatDims(parts.dims));
    }
    return Tensor::FromStrings(parts.dims, parts.strings);
  }
  if (parts.raw) return Tensor::Copy(*dtype, parts.dims, *parts.raw);
  if (!parts.fixed.empty()) return Tensor::Copy(*dtype, parts.dims, parts.fixed);
  return Tensor::Copy(*dtype, parts.dims, FromIntegers(parts.integers, *dtype));
}

}  // namespace

Result<NamedTensor> ParseTensorProto(std::span<const std::byte> bytes) {
  ProtoCursor cursor(bytes);
  ProtoParts parts;
  while (!cursor.done()) {
    VERNIER_ASSIGN_OR_RETURN(const ProtoField field, cursor.Next());
    VERNIER_TRY(ReadField(field, parts));
  }
  VERNIER_ASSIGN_OR_RETURN(Tensor tensor, Assemble(parts));
  return NamedTensor{std::move(parts.name), std::move(tensor)};
}

}  // namespace vernier
