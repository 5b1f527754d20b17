#include "io/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "io/json_tape.h"
#include "io/json_writer.h"
#include "util/number_text.h"

namespace vernier {
namespace {

using Kind = JsonValue::Kind;

constexpr uint64_t kMaxHeader = 100'000'000;
constexpr std::string_view kMetadata = "__metadata__";

struct TypeRow {
  std::string_view name;
  DType dtype;
};

constexpr std::array<TypeRow, 17> kTypes = {{
    {"F64", DType::kFloat64},
    {"F32", DType::kFloat32},
    {"F16", DType::kFloat16},
    {"BF16", DType::kBFloat16},
    {"F8_E4M3", DType::kFloat8E4M3FN},
    {"F8_E5M2", DType::kFloat8E5M2},
    {"I64", DType::kInt64},
    {"I32", DType::kInt32},
    {"I16", DType::kInt16},
    {"I8", DType::kInt8},
    {"U64", DType::kUint64},
    {"U32", DType::kUint32},
    {"U16", DType::kUint16},
    {"U8", DType::kUint8},
    {"BOOL", DType::kBool},
    {"C64", DType::kComplex64},
    {"F4", DType::kFloat4E2M1},
}};

Status Bad(const std::string& name, std::string_view what) {
  return Malformed("tensor '" + name + "' of the safetensors file " + std::string(what));
}

Result<Dims> Integers(JsonValue value, const std::string& name) {
  Dims numbers;
  for (const JsonValue element : value.Elements()) {
    const auto number = element.is(Kind::kNumber) ? ParseInt(element.raw()) : std::nullopt;
    if (!number || *number < 0) return Bad(name, "has a shape or offset that is no count");
    numbers.push_back(*number);
  }
  return numbers;
}

Result<SafetensorsEntry> ReadEntry(const JsonValue::Member& member) {
  SafetensorsEntry entry;
  entry.name = member.key;
  const auto type = member.value.Find("dtype");
  const auto shape = member.value.Find("shape");
  const auto offsets = member.value.Find("data_offsets");
  if (!type || !shape || !shape->is(Kind::kArray) || !offsets || !offsets->is(Kind::kArray)) {
    return Bad(entry.name, "lacks its dtype, shape or data_offsets");
  }
  const std::string type_name = type->Text();
  const auto* row = std::find_if(kTypes.begin(), kTypes.end(),
                                 [&](const TypeRow& r) { return r.name == type_name; });
  if (row == kTypes.end()) return Bad(entry.name, "has the unknown dtype '" + type_name + "'");
  entry.dtype = row->dtype;
  VERNIER_ASSIGN_OR_RETURN(entry.dims, Integers(*shape, entry.name));
  VERNIER_ASSIGN_OR_RETURN(const Dims range, Integers(*offsets, entry.name));
  if (range.size() != 2 || range[0] > range[1]) {
    return Bad(entry.name, "has data_offsets that are no range");
  }
  entry.begin = static_cast<uint64_t>(range[0]);
  entry.end = static_cast<uint64_t>(range[1]);
  const auto count = ElementCount(entry.dims);
  const auto size = count ? ByteSize(entry.dtype, static_cast<uint64_t>(*count)) : std::nullopt;
  if (!size || *size != entry.end - entry.begin) {
    return Bad(entry.name, "has a size that does not fit shape " + FormatDims(entry.dims));
  }
  return entry;
}

Status CheckRanges(const std::vector<SafetensorsEntry>& entries, uint64_t size) {
  std::vector<const SafetensorsEntry*> sorted;
  for (const SafetensorsEntry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const SafetensorsEntry* a, const SafetensorsEntry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t position = 0;
  for (const SafetensorsEntry* entry : sorted) {
    if (entry->begin != position) {
      return Bad(entry->name, entry->begin < position ? "overlaps another" : "follows a hole");
    }
    position = entry->end;
  }
  if (position == size) return {};
  return Malformed("the safetensors file holds " + std::to_string(size) +
                   " bytes of data, but its tensors need " + std::to_string(position));
}

// Counts what it passes on, if anywhere.
class CountingSink final : public ByteSink {
 public:
  explicit CountingSink(ByteSink* target = nullptr) : target_(target) {}
  Status Write(std::span<const std::byte> bytes) override {
    size_ += bytes.size();
    return target_ == nullptr ? Status() : target_->Write(bytes);
  }
  uint64_t size() const { return size_; }

 private:
  ByteSink* target_;
  uint64_t size_ = 0;
};

// The inside of a JSON string whose text is JSON in ASCII on one line.
class QuotingSink final : public ByteSink {
 public:
  explicit QuotingSink(ByteSink& target) : target_(target) {}
  Status Write(std::span<const std::byte> bytes) override {
    std::string quoted;
    for (const std::byte byte : bytes) {
      const auto c = static_cast<char>(byte);
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    return target_.WriteText(quoted);
  }

 private:
  ByteSink& target_;
};

void WriteEntry(JsonWriter& writer, const SafetensorsEntry& entry) {
  writer.Key(entry.name);
  writer.BeginObject();
  writer.Key("dtype");
  writer.String(SafetensorsTypeName(entry.dtype).value_or(""));
  writer.Key("shape");
  writer.BeginArray();
  for (const int64_t dim : entry.dims) writer.Integer(dim);
  writer.EndArray();
  writer.Key("data_offsets");
  writer.BeginArray();
  writer.Integer(static_cast<int64_t>(entry.begin));
  writer.Integer(static_cast<int64_t>(entry.end));
  writer.EndArray();
  writer.EndObject();
}

Status WriteMetadata(const SafetensorsHeaderParts& parts, JsonWriter& writer) {
  writer.Key(kMetadata);
  writer.BeginObject();
  writer.Key(parts.metadata_key);
  ByteSink& raw = writer.BeginRaw();
  QuotingSink quoting(raw);
  VERNIER_TRY(raw.WriteText("\""));
  VERNIER_TRY(parts.metadata(quoting));
  VERNIER_TRY(raw.WriteText("\""));
  writer.EndObject();
  return {};
}

Status WriteText(const SafetensorsHeaderParts& parts, ByteSink& sink) {
  JsonWriter writer(sink, JsonLayout::kCompact);
  writer.BeginObject();
  if (parts.metadata) VERNIER_TRY(WriteMetadata(parts, writer));
  VERNIER_TRY(parts.entries([&writer](const SafetensorsEntry& entry) {
    WriteEntry(writer, entry);
    return Status();
  }));
  writer.EndObject();
  return writer.Finish();
}

}  // namespace

Result<SafetensorsHeader> ReadSafetensorsHeader(ByteSource& file) {
  const uint64_t size = file.remaining();
  uint64_t length = 0;
  if (size < sizeof(length)) return Malformed("the file is too short for safetensors");
  VERNIER_TRY(file.Read(std::as_writable_bytes(std::span(&length, size_t{1}))));
  if (length > kMaxHeader || length > file.remaining()) {
    return Malformed("the safetensors header claims " + std::to_string(length) +
                     " bytes; the file has " + std::to_string(size) +
                     " and at most 100000000 are read");
  }
  std::string text(static_cast<size_t>(length), '\0');
  VERNIER_TRY(file.Read(std::as_writable_bytes(std::span(text.data(), text.size()))));
  if (!text.starts_with('{')) return Malformed("the safetensors header is no JSON object");
  Result<JsonTape> tape = JsonTape::Parse(text);
  if (!tape.ok()) return std::move(tape).Annotate("safetensors header").status();
  SafetensorsHeader header;
  header.data_offset = sizeof(length) + length;
  size_t keys = 0;
  tape->root().ForEachRawKey([&keys](std::string_view) { ++keys; });
  const std::vector<JsonValue::Member> members = tape->root().Members();
  if (keys != members.size()) return Malformed("the safetensors header names a tensor twice");
  for (const JsonValue::Member& member : members) {
    if (member.key == kMetadata) {
      for (const auto& [key, value] : member.value.Members()) {
        if (value.is(Kind::kString)) header.metadata[key] = value.Text();
      }
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(SafetensorsEntry entry, ReadEntry(member));
    header.entries.push_back(std::move(entry));
  }
  VERNIER_TRY(CheckRanges(header.entries, size - header.data_offset));
  return header;
}

std::optional<std::string_view> SafetensorsTypeName(DType dtype) {
  // Four-bit types need an even number of elements and a recent library.
  if (BitsOf(dtype) == 4) return std::nullopt;
  const auto* row = std::find_if(kTypes.begin(), kTypes.end(),
                                 [dtype](const TypeRow& r) { return r.dtype == dtype; });
  return row == kTypes.end() ? std::nullopt : std::optional(row->name);
}

Result<uint64_t> SafetensorsHeaderSize(const SafetensorsHeaderParts& parts) {
  CountingSink count;
  VERNIER_TRY(WriteText(parts, count));
  const uint64_t text = count.size() + (8 - count.size() % 8) % 8;
  if (text > kMaxHeader) return IoError("the safetensors header would exceed 100 MB");
  return sizeof(uint64_t) + text;
}

Status WriteSafetensorsHeader(const SafetensorsHeaderParts& parts, uint64_t size, ByteSink& sink) {
  const uint64_t length = size - sizeof(uint64_t);
  VERNIER_TRY(sink.Write(std::as_bytes(std::span(&length, size_t{1}))));
  CountingSink counted(&sink);
  VERNIER_TRY(WriteText(parts, counted));
  return sink.WriteText(std::string(static_cast<size_t>(length - counted.size()), ' '));
}

}  // namespace vernier
