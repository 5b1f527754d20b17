#include "nested_value.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "empty_value.h"
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

using Inputs = std::span<const vn_tensor* const>;

const vn_tensor* FindInput(Inputs inputs, std::string_view name) {
  for (const vn_tensor* input : inputs) {
    if (sdk::View(input->name) == name) return input;
  }
  return nullptr;
}

bool HasPart(Inputs inputs, std::string_view whole) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const vn_tensor* input) {
    return BelongsTo(sdk::View(input->name), whole);
  });
}

// The scalar of a length or of whether something is there.
template <typename T>
Result<T> ReadScalar(const vn_tensor& t) {
  if (t.rank != 0 || t.byte_size != sizeof(T)) {
    return InvalidArgument("input '" + std::string(sdk::View(t.name)) + "' is not a scalar of " +
                           std::to_string(sizeof(T)) + " bytes");
  }
  T number;
  std::memcpy(&number, t.data, sizeof(T));
  return number;
}

Result<Value> Combine(const Api& api, std::span<const Value> values, ONNXType type) {
  std::vector<const OrtValue*> pointers;
  for (const Value& value : values) pointers.push_back(value.get());
  Value combined(api);
  VERNIER_TRY(
      Take(api, api.table->CreateValue(pointers.data(), pointers.size(), type, combined.slot())));
  return combined;
}

// A tensor of one dimension over the memory of `data`.
Result<Value> ListOver(const Api& api, DType dtype, size_t count, std::span<char> data) {
  sdk::TensorSpec spec;
  spec.dtype = dtype;
  spec.shape = {static_cast<int64_t>(count)};
  return ValueOver(api, spec, data.data(), data.size());
}

Result<Value> TextList(const Api& api, std::span<const std::string> texts) {
  const auto count = static_cast<int64_t>(texts.size());
  Value value(api);
  VERNIER_TRY(
      Take(api, api.table->CreateTensorAsOrtValue(
                    api.allocator, &count, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, value.slot())));
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  VERNIER_TRY(Take(api, api.table->FillStringTensor(value.get(), pointers.data(), texts.size())));
  return value;
}

Result<Value> KeyList(const Api& api, const NestedInput& input, std::span<const std::string> keys,
                      std::vector<int64_t>& numbers) {
  if (input.has_text_keys) return TextList(api, keys);
  for (const std::string& key : keys) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
    if (error != std::errc() || end != key.data() + key.size()) {
      return InvalidArgument("input '" + input.name + "': its keys are integers, got '" + key +
                             "'");
    }
    numbers.push_back(number);
  }
  return ListOver(api, DType::kInt64, numbers.size(),
                  std::span(reinterpret_cast<char*>(numbers.data()), numbers.size() * 8));
}

// Of numbers; ONNX Runtime copies keys and values.
Result<Value> AssembleMap(const Api& api, const NestedInput& input, const std::string& name,
                          Inputs inputs) {
  std::vector<std::string> keys;
  std::vector<char> bytes;
  std::optional<DType> dtype;
  for (const vn_tensor* part : inputs) {
    const std::string_view called = sdk::View(part->name);
    if (!called.starts_with(name + "{") || !called.ends_with("}") || CountedBy(called) != 0) {
      continue;
    }
    const std::optional<DType> type = vernier::FromAbi(part->dtype_code, part->dtype_bits);
    const bool fits = type && *type != DType::kString && part->byte_size == ByteSize(*type, 1) &&
                      (!dtype || *dtype == *type);
    if (!fits) {
      return InvalidArgument("input '" + std::string(called) +
                             "': the values of a map are single numbers of one type");
    }
    dtype = type;
    keys.emplace_back(called.substr(name.size() + 1, called.size() - name.size() - 2));
    const char* const data = static_cast<const char*>(part->data);
    bytes.insert(bytes.end(), data, data + part->byte_size);
  }
  if (keys.empty())
    return InvalidArgument("input '" + name + "': ONNX Runtime needs a key in a map");
  if (const vn_tensor* const count = FindInput(inputs, KeyCountName(name)); count != nullptr) {
    VERNIER_ASSIGN_OR_RETURN(const auto said, ReadScalar<int64_t>(*count));
    if (said != static_cast<int64_t>(keys.size())) {
      return InvalidArgument("input '" + name + "' has " + std::to_string(keys.size()) +
                             " keys, but '" + KeyCountName(name) + "' is " + std::to_string(said));
    }
  }
  std::vector<int64_t> numbers;
  std::vector<Value> parts;
  VERNIER_ASSIGN_OR_RETURN(Value key_list, KeyList(api, input, keys, numbers));
  VERNIER_ASSIGN_OR_RETURN(Value value_list, ListOver(api, *dtype, keys.size(), bytes));
  parts.push_back(std::move(key_list));
  parts.push_back(std::move(value_list));
  return Combine(api, parts, ONNX_TYPE_MAP);
}

Result<Value> AssembleValue(const Api& api, const NestedInput& input, const std::string& name,
                            Inputs inputs) {
  if (const vn_tensor* const tensor = FindInput(inputs, name)) return FromAbi(api, *tensor);
  const bool is_map = std::any_of(inputs.begin(), inputs.end(), [&](const vn_tensor* part) {
    return sdk::View(part->name).starts_with(name + "{");
  });
  if (is_map) return AssembleMap(api, input, name, inputs);
  const vn_tensor* const length = FindInput(inputs, LengthName(name));
  std::vector<Value> elements;
  while (HasPart(inputs, ElementName(name, elements.size()))) {
    VERNIER_ASSIGN_OR_RETURN(Value element,
                             AssembleValue(api, input, ElementName(name, elements.size()), inputs));
    elements.push_back(std::move(element));
  }
  auto said = static_cast<int64_t>(elements.size());
  if (length != nullptr) {
    VERNIER_ASSIGN_OR_RETURN(said, ReadScalar<int64_t>(*length));
  }
  if (said != static_cast<int64_t>(elements.size())) {
    return InvalidArgument("input '" + name + "' has " + std::to_string(elements.size()) +
                           " elements, but its length '" + LengthName(name) + "' is " +
                           std::to_string(said));
  }
  if (elements.empty() && length == nullptr) {
    return InvalidArgument("input '" + name + "' has neither elements nor a length '" +
                           LengthName(name) + "'");
  }
  if (elements.empty()) {
    return MakeEmptySequence(api, input.element).Annotate("input '" + name + "'");
  }
  return Combine(api, elements, ONNX_TYPE_SEQUENCE);
}

}  // namespace

Result<NestedInput> ReadNestedInput(const Api& api, std::string name, const OrtTypeInfo* type) {
  NestedInput input;
  input.name = std::move(name);
  const OrtApi& table = *api.table;
  ONNXType kind{};
  VERNIER_TRY(Take(api, table.GetOnnxTypeFromTypeInfo(type, &kind)));
  if (kind == ONNX_TYPE_MAP) {
    const OrtMapTypeInfo* map = nullptr;
    ONNXTensorElementDataType key{};
    VERNIER_TRY(Take(api, table.CastTypeInfoToMapTypeInfo(type, &map)));
    VERNIER_TRY(Take(api, table.GetMapKeyType(map, &key)));
    input.has_text_keys = key == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
    return input;
  }
  OrtTypeInfo* inner = nullptr;
  if (kind == ONNX_TYPE_SEQUENCE) {
    const OrtSequenceTypeInfo* sequence = nullptr;
    VERNIER_TRY(Take(api, table.CastTypeInfoToSequenceTypeInfo(type, &sequence)));
    VERNIER_TRY(Take(api, table.GetSequenceElementType(sequence, &inner)));
  } else if (kind == ONNX_TYPE_OPTIONAL) {
    const OrtOptionalTypeInfo* optional = nullptr;
    VERNIER_TRY(Take(api, table.CastTypeInfoToOptionalTypeInfo(type, &optional)));
    VERNIER_TRY(Take(api, table.GetOptionalContainedTypeInfo(optional, &inner)));
  }
  if (inner == nullptr) return input;
  const Handle<OrtTypeInfo> owned(inner, table.ReleaseTypeInfo);
  ONNXType held{};
  VERNIER_TRY(Take(api, table.GetOnnxTypeFromTypeInfo(inner, &held)));
  if (held != ONNX_TYPE_TENSOR) return ReadNestedInput(api, std::move(input.name), inner);
  input.holds_tensor = kind == ONNX_TYPE_OPTIONAL;
  if (input.holds_tensor) return input;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  VERNIER_TRY(Take(api, table.CastTypeInfoToTensorInfo(inner, &tensor)));
  VERNIER_TRY(Take(api, table.GetTensorElementType(tensor, &input.element)));
  return input;
}

Result<Value> Assemble(const Api& api, const NestedInput& input, Inputs inputs) {
  // ONNX's test data do not distinguish an optional tensor from a sequence of one.
  const vn_tensor* const only =
      input.holds_tensor ? FindInput(inputs, ElementName(input.name, 0)) : nullptr;
  if (only != nullptr) return FromAbi(api, *only);
  const vn_tensor* const presence = FindInput(inputs, PresenceName(input.name));
  if (presence == nullptr) return AssembleValue(api, input, input.name, inputs);
  VERNIER_ASSIGN_OR_RETURN(const auto is_there, ReadScalar<uint8_t>(*presence));
  // A value that a node Optional makes for this ends the process when it is fed.
  if (is_there == 0) {
    return Unimplemented("input '" + input.name +
                         "': ONNX Runtime's C interface does not accept an absent optional");
  }
  return AssembleValue(api, input, input.name, inputs);
}

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
