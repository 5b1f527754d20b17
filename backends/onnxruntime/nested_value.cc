#include "nested_value.h"

#include <cstring>
#include <memory>
#include <utility>

#include "vernier/part_names.h"

namespace vernier::ort {
namespace {

template <typename T>
sdk::OutputTensor Scalar(std::string name, DType dtype, T number) {
  const auto kept = std::make_shared<T>(number);
  sdk::OutputTensor scalar;
  scalar.name = std::move(name);
  scalar.dtype = dtype;
  scalar.data = kept.get();
  scalar.byte_size = sizeof(T);
  scalar.keep_alive = kept;
  return scalar;
}

sdk::OutputTensor Count(std::string name, size_t count) {
  return Scalar(std::move(name), DType::kInt64, static_cast<int64_t>(count));
}

// The text of a string in Arrow's layout.
std::string_view TextAt(const sdk::OutputTensor& strings, size_t count, size_t index) {
  const auto* offsets = static_cast<const int64_t*>(strings.data);
  const char* text = reinterpret_cast<const char*>(offsets + count + 1);
  return {text + offsets[index], static_cast<size_t>(offsets[index + 1] - offsets[index])};
}

sdk::OutputTensor TextScalar(std::string name, std::string_view text) {
  const int64_t offsets[] = {0, static_cast<int64_t>(text.size())};
  const auto kept = std::make_shared<std::vector<char>>(sizeof(offsets) + text.size());
  std::memcpy(kept->data(), offsets, sizeof(offsets));
  if (!text.empty()) std::memcpy(kept->data() + sizeof(offsets), text.data(), text.size());
  sdk::OutputTensor scalar;
  scalar.name = std::move(name);
  scalar.dtype = DType::kString;
  scalar.data = kept->data();
  scalar.byte_size = kept->size();
  scalar.keep_alive = kept;
  return scalar;
}

// One element of a tensor, over its memory.
sdk::OutputTensor ElementOf(const sdk::OutputTensor& all, size_t count, size_t index,
                            std::string name) {
  if (all.dtype == DType::kString) return TextScalar(std::move(name), TextAt(all, count, index));
  const size_t size = all.byte_size / count;
  sdk::OutputTensor one;
  one.name = std::move(name);
  one.dtype = all.dtype;
  one.data = static_cast<const char*>(all.data) + index * size;
  one.byte_size = size;
  one.keep_alive = all.keep_alive;
  return one;
}

Result<Value> ItemOf(const Api& api, const Value& value, size_t index) {
  Value item(api);
  VERNIER_TRY(Take(
      api, api.table->GetValue(value.get(), static_cast<int>(index), api.allocator, item.slot())));
  return item;
}

// The keys and the values of a map are two tensors of one dimension.
Status AddValues(const Api& api, const std::string& name, const Value& map,
                 std::vector<sdk::OutputTensor>& parts) {
  VERNIER_ASSIGN_OR_RETURN(Value key_item, ItemOf(api, map, 0));
  VERNIER_ASSIGN_OR_RETURN(Value value_item, ItemOf(api, map, 1));
  VERNIER_ASSIGN_OR_RETURN(const sdk::OutputTensor keys, ToTensor(api, name, std::move(key_item)));
  VERNIER_ASSIGN_OR_RETURN(const sdk::OutputTensor values,
                           ToTensor(api, name, std::move(value_item)));
  const bool has_texts = keys.dtype == DType::kString;
  const bool is_plain = keys.skipped.empty() && values.skipped.empty() && keys.shape.size() == 1 &&
                        keys.shape == values.shape && (has_texts || keys.dtype == DType::kInt64);
  if (!is_plain) return BackendError("output '" + name + "' is a map of unknown types");
  const auto count = static_cast<size_t>(keys.shape[0]);
  parts.push_back(Count(KeyCountName(name), count));
  for (size_t i = 0; i < count; ++i) {
    const std::string key = has_texts ? std::string(TextAt(keys, count, i))
                                      : std::to_string(static_cast<const int64_t*>(keys.data)[i]);
    parts.push_back(ElementOf(values, count, i, ValueName(name, key)));
  }
  return {};
}

Status AddParts(const Api& api, const std::string& name, Value value,
                std::vector<sdk::OutputTensor>& parts);

Status AddElements(const Api& api, const std::string& name, const Value& sequence,
                   std::vector<sdk::OutputTensor>& parts) {
  size_t length = 0;
  VERNIER_TRY(Take(api, api.table->GetValueCount(sequence.get(), &length)));
  parts.push_back(Count(LengthName(name), length));
  for (size_t i = 0; i < length; ++i) {
    VERNIER_ASSIGN_OR_RETURN(Value element, ItemOf(api, sequence, i));
    VERNIER_TRY(AddParts(api, ElementName(name, i), std::move(element), parts));
  }
  return {};
}

Status AddParts(const Api& api, const std::string& name, Value value,
                std::vector<sdk::OutputTensor>& parts) {
  ONNXType type{};
  VERNIER_TRY(Take(api, api.table->GetValueType(value.get(), &type)));
  if (type == ONNX_TYPE_SEQUENCE) return AddElements(api, name, value, parts);
  if (type == ONNX_TYPE_MAP) return AddValues(api, name, value, parts);
  VERNIER_ASSIGN_OR_RETURN(sdk::OutputTensor tensor, ToTensor(api, name, std::move(value)));
  parts.push_back(std::move(tensor));
  return {};
}

}  // namespace

std::string WordFor(ONNXType type) {
  switch (type) {
    case ONNX_TYPE_TENSOR:
      return "";
    case ONNX_TYPE_SEQUENCE:
      return "a sequence, not a tensor";
    case ONNX_TYPE_MAP:
      return "a map, not a tensor";
    case ONNX_TYPE_OPTIONAL:
      return "an optional, not a tensor";
    case ONNX_TYPE_SPARSETENSOR:
      return "a sparse tensor";
    default:
      return "of a type that is opaque or unknown, not a tensor";
  }
}

Result<sdk::OutputTensor> ToOutput(const Api& api, const std::string& name, Value value,
                                   bool is_optional) {
  int is_there = 0, is_tensor = 0;
  if (value.get() != nullptr) VERNIER_TRY(Take(api, api.table->HasValue(value.get(), &is_there)));
  if (is_there != 0) VERNIER_TRY(Take(api, api.table->IsTensor(value.get(), &is_tensor)));
  sdk::OutputTensor output;
  if (is_tensor != 0) {
    VERNIER_ASSIGN_OR_RETURN(output, ToTensor(api, name, std::move(value)));
  } else if (is_there != 0) {
    ONNXType type{};
    VERNIER_TRY(Take(api, api.table->GetValueType(value.get(), &type)));
    output.skipped = WordFor(type);
    if (type == ONNX_TYPE_SEQUENCE || type == ONNX_TYPE_MAP) {
      VERNIER_TRY(AddParts(api, name, std::move(value), output.parts));
    }
  } else {
    output.skipped = "an optional that is absent";
  }
  output.name = name;
  if (is_optional) {
    output.parts.insert(output.parts.begin(),
                        Scalar(PresenceName(name), DType::kBool, is_there != 0));
  }
  return output;
}

}  // namespace vernier::ort
