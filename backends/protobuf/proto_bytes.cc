#include "proto_bytes.h"

#include <cstring>

namespace vernier::tf {
namespace {

constexpr uint32_t kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5;

}  // namespace

std::optional<uint64_t> ProtoReader::Varint() {
  uint64_t value = 0;
  for (size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>(rest_[i]);
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      return value;
    }
  }
  ok_ = false;
  return std::nullopt;
}

std::optional<std::string_view> ProtoReader::Take(uint64_t size) {
  if (size > rest_.size()) {
    ok_ = false;
    return std::nullopt;
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::optional<ProtoField> ProtoReader::Next() {
  if (rest_.empty() || !ok_) return std::nullopt;
  const std::string_view start = rest_;
  const std::optional<uint64_t> tag = Varint();
  if (!tag) return std::nullopt;
  ProtoField field;
  field.id = static_cast<uint32_t>(*tag >> 3);
  field.wire_type = static_cast<uint32_t>(*tag & 7);
  std::optional<uint64_t> number = 0;
  std::optional<std::string_view> bytes = std::string_view();
  if (field.wire_type == kVarint) {
    number = Varint();
  } else if (field.wire_type == kLength) {
    const std::optional<uint64_t> size = Varint();
    bytes = size ? Take(*size) : std::nullopt;
  } else if (field.wire_type == kFixed64 || field.wire_type == kFixed32) {
    bytes = Take(field.wire_type == kFixed64 ? 8 : 4);
    if (bytes) std::memcpy(&*number, bytes->data(), bytes->size());
  } else {
    ok_ = false;
  }
  if (!ok_ || !number || !bytes) return std::nullopt;
  field.number = *number;
  field.bytes = *bytes;
  field.whole = start.substr(0, start.size() - rest_.size());
  return field;
}

std::string_view FieldBytes(std::string_view message, uint32_t id) {
  std::string_view found;
  ProtoReader reader(message);
  while (const std::optional<ProtoField> field = reader.Next()) {
    if (field->id == id) found = field->bytes;
  }
  return found;
}

std::vector<std::string_view> AllFieldBytes(std::string_view message, uint32_t id) {
  std::vector<std::string_view> found;
  ProtoReader reader(message);
  while (const std::optional<ProtoField> field = reader.Next()) {
    if (field->id == id) found.push_back(field->bytes);
  }
  return found;
}

uint64_t FieldNumber(std::string_view message, uint32_t id, uint64_t fallback) {
  ProtoReader reader(message);
  while (const std::optional<ProtoField> field = reader.Next()) {
    if (field->id == id) fallback = field->number;
  }
  return fallback;
}

ProtoWriter& ProtoWriter::Number(uint32_t id, uint64_t value) {
  Varint(static_cast<uint64_t>(id) << 3 | kVarint);
  Varint(value);
  return *this;
}

ProtoWriter& ProtoWriter::Double(uint32_t id, double value) {
  Varint(static_cast<uint64_t>(id) << 3 | kFixed64);
  char raw[sizeof(value)];
  std::memcpy(raw, &value, sizeof(value));
  bytes_.append(raw, sizeof(raw));
  return *this;
}

ProtoWriter& ProtoWriter::Bytes(uint32_t id, std::string_view bytes) {
  Varint(static_cast<uint64_t>(id) << 3 | kLength);
  Varint(bytes.size());
  bytes_ += bytes;
  return *this;
}

ProtoWriter& ProtoWriter::Raw(std::string_view fields) {
  bytes_ += fields;
  return *this;
}

void ProtoWriter::Varint(uint64_t value) {
  for (; value > 0x7f; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

}  // namespace vernier::tf
