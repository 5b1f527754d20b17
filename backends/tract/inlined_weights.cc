#include "inlined_weights.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <system_error>

#include "proto_bytes.h"

namespace vernier::tract {
namespace {

namespace fs = std::filesystem;

// Numbers of fields in onnx.proto.
enum TensorField : uint32_t { kRawData = 9, kExternalData = 13, kDataLocation = 14 };
constexpr uint32_t kEntryKey = 1, kEntryValue = 2, kExternal = 1;

enum class Message { kModel, kGraph, kFunction, kNode, kAttribute, kTensor };

struct Child {
  Message of;
  uint32_t field;
  Message is;
};

// The ways down to a tensor.
constexpr Child kChildren[] = {
    {Message::kModel, 7, Message::kGraph},       {Message::kModel, 25, Message::kFunction},
    {Message::kGraph, 1, Message::kNode},        {Message::kGraph, 5, Message::kTensor},
    {Message::kFunction, 7, Message::kNode},     {Message::kNode, 5, Message::kAttribute},
    {Message::kAttribute, 5, Message::kTensor},  {Message::kAttribute, 6, Message::kGraph},
    {Message::kAttribute, 10, Message::kTensor}, {Message::kAttribute, 11, Message::kGraph},
};

std::optional<Message> ChildOf(Message message, const tf::ProtoField& field) {
  constexpr uint32_t kLengthDelimited = 2;
  for (const Child& child : kChildren) {
    const bool fits = child.of == message && child.field == field.id;
    if (fits && field.wire_type == kLengthDelimited) return child.is;
  }
  return std::nullopt;
}

struct Place {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Result<Place> PlaceOf(std::string_view tensor) {
  Place place;
  for (const std::string_view entry : tf::AllFieldBytes(tensor, kExternalData)) {
    const std::string_view key = tf::FieldBytes(entry, kEntryKey);
    const std::string_view value = tf::FieldBytes(entry, kEntryValue);
    if (key == "location") place.location = std::string(value);
    if (key != "offset" && key != "length") continue;
    uint64_t number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    if (read.ec != std::errc() || read.ptr != value.data() + value.size()) {
      return Malformed("external weights: the " + std::string(key) + " '" + std::string(value) +
                       "' is not a number of bytes");
    }
    if (key == "offset") place.offset = number;
    if (key == "length") place.length = number;
  }
  return place;
}

Result<std::string> ReadPlace(const Place& place, const fs::path& folder) {
  const fs::path path = folder / place.location;
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) {
    return Malformed("the external weights '" + path.string() + "' cannot be read");
  }
  const uint64_t rest = size - std::min(size, place.offset);
  const uint64_t length = place.length.value_or(rest);
  if (place.offset > size || length > rest) {
    return Malformed("the external weights '" + path.string() + "' have " + std::to_string(size) +
                     " bytes, and the model needs " + std::to_string(length) + " from byte " +
                     std::to_string(place.offset));
  }
  std::string bytes(length, '\0');
  file.seekg(static_cast<std::streamoff>(place.offset));
  if (!file.read(bytes.data(), static_cast<std::streamsize>(length))) {
    return Malformed("the external weights '" + path.string() + "' cannot be read");
  }
  return bytes;
}

Result<std::string> TensorWithData(std::string_view tensor, const fs::path& folder) {
  if (tf::FieldNumber(tensor, kDataLocation) != kExternal) return std::string(tensor);
  VERNIER_ASSIGN_OR_RETURN(const Place place, PlaceOf(tensor));
  VERNIER_ASSIGN_OR_RETURN(const std::string data, ReadPlace(place, folder));
  tf::ProtoWriter written;
  tf::ProtoReader reader(tensor);
  while (const std::optional<tf::ProtoField> field = reader.Next()) {
    const bool replaced =
        field->id == kRawData || field->id == kExternalData || field->id == kDataLocation;
    if (!replaced) written.Raw(field->whole);
  }
  if (!reader.ok()) return Malformed("this is not an ONNX model, or a damaged one");
  written.Bytes(kRawData, data);
  return written.bytes();
}

Result<std::string> Rewritten(Message message, std::string_view bytes, const fs::path& folder) {
  if (message == Message::kTensor) return TensorWithData(bytes, folder);
  tf::ProtoWriter written;
  tf::ProtoReader reader(bytes);
  while (const std::optional<tf::ProtoField> field = reader.Next()) {
    const std::optional<Message> child = ChildOf(message, *field);
    if (!child) {
      written.Raw(field->whole);
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(const std::string inner, Rewritten(*child, field->bytes, folder));
    written.Bytes(field->id, inner);
  }
  if (!reader.ok()) return Malformed("this is not an ONNX model, or a damaged one");
  return written.bytes();
}

}  // namespace

Result<std::string> WithWeightsInside(std::string_view model, const fs::path& folder) {
  return Rewritten(Message::kModel, model, folder);
}

}  // namespace vernier::tract
