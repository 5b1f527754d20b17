#include "tensor_reader.h"

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace vernier::pluginref {
namespace {

namespace fs = std::filesystem;

// Field numbers of onnx.proto (IR version 13).
enum TensorField {
  kTensorDims = 1,
  kTensorType = 2,
  kTensorFloats = 4,
  kTensorInt32s = 5,
  kTensorStrings = 6,
  kTensorInt64s = 7,
  kTensorName = 8,
  kTensorRaw = 9,
  kTensorDoubles = 10,
  kTensorUint64s = 11,
  kTensorExternal = 13,
  kTensorLocation = 14
};

void ReadExternalEntry(MessageReader in, std::map<std::string, std::string>& out) {
  std::string key, value;
  while (in.Next()) {
    if (in.field() == 1) {
      key = in.Text();
    } else if (in.field() == 2) {
      value = in.Text();
    } else {
      in.Skip();
    }
  }
  out[key] = value;
}

Result<uint64_t> Number(const std::string& text, const std::string& what) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return Malformed(what + " is '" + text + "', no number");
}

Result<std::string> ReadExternal(const TensorParts& parts, const std::string& folder,
                                 uint64_t expected) {
  const std::string what = "the weights file of '" + parts.name + "'";
  const auto entry = [&](const char* key) {
    const auto found = parts.external.find(key);
    return found == parts.external.end() ? std::string() : found->second;
  };
  const fs::path location = entry("location");
  bool leaves = location.empty() || location.is_absolute();
  for (const fs::path& part : location) leaves |= part == "..";
  if (leaves)
    return Malformed(what + " is '" + location.string() + "', outside of the model's folder");
  uint64_t offset = 0;
  if (!entry("offset").empty()) {
    VERNIER_ASSIGN_OR_RETURN(offset, Number(entry("offset"), what + ": its offset"));
  }
  std::ifstream file(fs::path(folder) / location, std::ios::binary | std::ios::ate);
  const auto size = file ? static_cast<uint64_t>(file.tellg()) : 0;
  if (!file || offset > size || expected > size - offset) {
    return Malformed(what + ", '" + location.string() + "', is missing or too short");
  }
  std::string bytes(expected, '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) return Malformed(what + ", '" + location.string() + "', cannot be read");
  return bytes;
}

template <typename T>
std::string AsBytes(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Integers of the file's wide members to elements of `size` bytes.
std::string Narrow(const std::vector<int64_t>& values, size_t size) {
  std::string bytes;
  for (const int64_t value : values) {
    char raw[sizeof(value)];
    std::memcpy(raw, &value, sizeof(value));
    bytes.append(raw, size);  // little endian, as the elements themselves
  }
  return bytes;
}

std::string ArrowStrings(const std::vector<std::string>& strings) {
  std::vector<int64_t> offsets = {0};
  std::string texts;
  for (const std::string& text : strings) {
    texts += text;
    offsets.push_back(static_cast<int64_t>(texts.size()));
  }
  return AsBytes(offsets) + texts;
}

std::string ElementBytes(const TensorParts& parts, DType dtype) {
  if (parts.raw) return *parts.raw;
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      return AsBytes(parts.floats);
    case DType::kFloat64:
    case DType::kComplex128:
      return AsBytes(parts.doubles);
    default:
      return Narrow(parts.integers, static_cast<size_t>(std::max(BitsOf(dtype) / 8, 1)));
  }
}

Array Owning(DType dtype, Dims dims, const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {dtype, std::move(dims), std::make_shared<const Bytes>(first, first + text.size())};
}

}  // namespace

TensorParts ReadParts(MessageReader in) {
  TensorParts parts;
  while (in.Next()) {
    switch (in.field()) {
      case kTensorDims:
        in.AppendIntegers(parts.dims);
        break;
      case kTensorType:
        parts.type = in.Integer();
        break;
      case kTensorFloats:
        in.AppendFloats(parts.floats);
        break;
      case kTensorDoubles:
        in.AppendDoubles(parts.doubles);
        break;
      case kTensorInt32s:
      case kTensorInt64s:
      case kTensorUint64s:
        in.AppendIntegers(parts.integers);
        break;
      case kTensorStrings:
        parts.strings.push_back(in.Text());
        break;
      case kTensorName:
        parts.name = in.Text();
        break;
      case kTensorRaw:
        parts.raw = in.Text();
        break;
      case kTensorExternal:
        ReadExternalEntry(in.Message(), parts.external);
        break;
      case kTensorLocation:
        parts.is_external = in.Integer() == 1;
        break;
      default:
        in.Skip();
    }
  }
  return parts;
}

Result<Array> ReadTensor(const TensorParts& parts, const std::string& folder) {
  const std::string who = "the constant '" + parts.name + "'";
  const std::optional<DType> dtype = DTypeFromOnnx(parts.type);
  if (!dtype) return Malformed(who + " has the unknown element type " + std::to_string(parts.type));
  Result<size_t> counted = CountOf(parts.dims);
  if (!counted.ok()) return std::move(counted).Annotate(who).status();
  if (*dtype == DType::kString) {
    if (parts.strings.size() != *counted)
      return Malformed(who + " has too few or too many strings");
    return Owning(*dtype, parts.dims, ArrowStrings(parts.strings));
  }
  const uint64_t expected = ByteSize(*dtype, *counted).value_or(0);
  std::string bytes;
  if (parts.is_external) {
    VERNIER_ASSIGN_OR_RETURN(bytes, ReadExternal(parts, folder, expected));
  } else {
    bytes = ElementBytes(parts, *dtype);
  }
  if (bytes.size() != expected) {
    return Malformed(who + " has " + std::to_string(bytes.size()) + " bytes; " +
                     std::string(DTypeName(*dtype)) + " of shape " + ShapeText(parts.dims) +
                     " needs " + std::to_string(expected));
  }
  return Owning(*dtype, parts.dims, bytes);
}

}  // namespace vernier::pluginref
