#include "ort_value.h"

#include <cstring>
#include <utility>
#include <vector>

namespace vernier::ort {
namespace {

// Both enumerations are ONNX's TensorProto.DataType for the types that ORT has.
ONNXTensorElementDataType ToOrt(DType dtype) {
  return static_cast<ONNXTensorElementDataType>(dtype);
}

Result<Value> StringsFromAbi(const Api& api, const vn_tensor& t, size_t count) {
  Value value(api);
  VERNIER_TRY(Take(
      api, api.table->CreateTensorAsOrtValue(api.allocator, t.shape, t.rank,
                                             ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, value.slot())));
  const auto* offsets = static_cast<const int64_t*>(t.data);
  const char* text = reinterpret_cast<const char*>(offsets + count + 1);
  for (size_t i = 0; i < count; ++i) {
    const auto size = static_cast<size_t>(offsets[i + 1] - offsets[i]);
    char* buffer = nullptr;  // not FillStringTensor, whose strings end at a NUL
    VERNIER_TRY(
        Take(api, api.table->GetResizedStringTensorElementBuffer(value.get(), i, size, &buffer)));
    std::memcpy(buffer, text + offsets[i], size);
  }
  return value;
}

// Arrow's layout: offsets, then the bytes.
Result<std::shared_ptr<std::vector<char>>> StringsToArrow(const Api& api, const OrtValue* value,
                                                          size_t count) {
  size_t length = 0;
  VERNIER_TRY(Take(api, api.table->GetStringTensorDataLength(value, &length)));
  const size_t header = (count + 1) * sizeof(int64_t);
  auto arrow = std::make_shared<std::vector<char>>(header + length);
  std::vector<size_t> starts(count);
  if (count > 0) {
    VERNIER_TRY(Take(api, api.table->GetStringTensorContent(value, arrow->data() + header, length,
                                                            starts.data(), count)));
  }
  for (size_t i = 0; i <= count; ++i) {
    const auto offset = static_cast<int64_t>(i < count ? starts[i] : length);
    std::memcpy(arrow->data() + i * sizeof(offset), &offset, sizeof(offset));
  }
  return arrow;
}

size_t CountOf(std::span<const int64_t> shape) {
  size_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
  return count;
}

Result<Value> NumbersOver(const Api& api, DType dtype, std::span<const int64_t> shape,
                          std::span<char> bytes) {
  OrtMemoryInfo* memory = nullptr;
  VERNIER_TRY(
      Take(api, api.table->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory)));
  const Handle<OrtMemoryInfo> owned(memory, api.table->ReleaseMemoryInfo);
  Value value(api);
  VERNIER_TRY(Take(api, api.table->CreateTensorWithDataAsOrtValue(
                            memory, bytes.data(), bytes.size(), shape.data(), shape.size(),
                            ToOrt(dtype), value.slot())));
  return value;
}

}  // namespace

DType FromOrt(ONNXTensorElementDataType type) {
  return DTypeFromOnnx(static_cast<int64_t>(type)).value_or(DType::kUndefined);
}

Result<Value> FromAbi(const Api& api, const vn_tensor& t) {
  const std::optional<DType> dtype = vernier::FromAbi(t.dtype_code, t.dtype_bits);
  if (!dtype) return InvalidArgument("an input has an unknown element type");
  if (*dtype == DType::kString) {
    return StringsFromAbi(api, t, CountOf(std::span(t.shape, t.rank)));
  }
  // An empty tensor may have a null pointer, which ORT refuses.
  static char nothing;
  void* data = t.data != nullptr ? t.data : &nothing;
  return NumbersOver(api, *dtype, std::span(t.shape, t.rank),
                     std::span(static_cast<char*>(data), t.byte_size));
}

Result<Value> ValueOver(const Api& api, const sdk::TensorSpec& spec, void* data, size_t byte_size) {
  return NumbersOver(api, spec.dtype, spec.shape, std::span(static_cast<char*>(data), byte_size));
}

Result<sdk::OutputTensor> ToTensor(const Api& api, const std::string& name, Value value) {
  sdk::OutputTensor output;
  output.name = name;
  OrtTensorTypeAndShapeInfo* info = nullptr;
  VERNIER_TRY(Take(api, api.table->GetTensorTypeAndShape(value.get(), &info)));
  const Handle<OrtTensorTypeAndShapeInfo> owned(info, api.table->ReleaseTensorTypeAndShapeInfo);
  ONNXTensorElementDataType type{};
  size_t rank = 0;
  VERNIER_TRY(Take(api, api.table->GetTensorElementType(info, &type)));
  VERNIER_TRY(Take(api, api.table->GetDimensionsCount(info, &rank)));
  output.shape.resize(rank);
  VERNIER_TRY(Take(api, api.table->GetDimensions(info, output.shape.data(), rank)));
  output.dtype = FromOrt(type);
  const size_t count = CountOf(output.shape);
  if (output.dtype == DType::kString) {
    VERNIER_ASSIGN_OR_RETURN(const auto arrow, StringsToArrow(api, value.get(), count));
    output.data = arrow->data();
    output.byte_size = arrow->size();
    output.keep_alive = arrow;
    return output;
  }
  const std::optional<uint64_t> size = ByteSize(output.dtype, count);
  if (!size) {
    output.skipped = "a tensor of ONNX type " + std::to_string(static_cast<int>(type)) +
                     ", which is not supported";
    return output;
  }
  void* data = nullptr;
  VERNIER_TRY(Take(api, api.table->GetTensorMutableData(value.get(), &data)));
  output.data = data;
  output.byte_size = *size;
  output.keep_alive = std::make_shared<Value>(std::move(value));
  return output;
}

}  // namespace vernier::ort
