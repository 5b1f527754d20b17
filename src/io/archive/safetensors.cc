#include "io/archive/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "io/json/json_stream.h"
#include "io/json/json_writer.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr uint64_t kMaxHeader = 100'000'000;
constexpr std::string_view kMetadata = "__metadata__";

struct SafetensorsType {
  std::string_view name;
  DType dtype;
};

constexpr std::array<SafetensorsType, 17> kSafetensorsTypes = {{
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

Result<Dims> Integers(JsonStream& stream, const std::string& name) {
  Dims numbers;
  VERNIER_TRY(stream.ForEachElement([&]() -> Status {
    const auto number = stream.is(JsonToken::kNumber) ? ParseInt(stream.raw()) : std::nullopt;
    if (!number || *number < 0) return Bad(name, "has a shape or offset that is not a count");
    numbers.push_back(*number);
    return {};
  }));
  return numbers;
}

Result<DType> TypeNamed(const std::string& type, const std::string& name) {
  const auto* row = std::find_if(kSafetensorsTypes.begin(), kSafetensorsTypes.end(),
                                 [&](const SafetensorsType& r) { return r.name == type; });
  if (row == kSafetensorsTypes.end()) return Bad(name, "has the unknown dtype '" + type + "'");
  return row->dtype;
}

Status CheckEntry(const SafetensorsEntry& entry) {
  const auto count = ElementCount(entry.dims);
  const auto size = count ? ByteSize(entry.dtype, static_cast<uint64_t>(*count)) : std::nullopt;
  if (size && *size == entry.end - entry.begin) return {};
  return Bad(entry.name, "has a size that does not fit shape " + FormatDims(entry.dims));
}

Result<SafetensorsEntry> ReadEntry(JsonStream& stream, const std::string& name) {
  std::optional<std::string> type;
  std::optional<Dims> dims;
  std::optional<Dims> range;
  const auto lacks = [&] { return Bad(name, "lacks its dtype, shape or data_offsets"); };
  if (!stream.is(JsonToken::kBeginObject)) return lacks();
  VERNIER_TRY(stream.ForEachMember([&](const std::string& key) -> Status {
    if (key == "dtype" && stream.is(JsonToken::kString)) {
      VERNIER_ASSIGN_OR_RETURN(type, stream.Text());
      return {};
    }
    const bool numbers = key == "shape" || key == "data_offsets";
    if (!numbers || !stream.is(JsonToken::kBeginArray)) return stream.Skip();
    VERNIER_ASSIGN_OR_RETURN((key == "shape" ? dims : range), Integers(stream, name));
    return {};
  }));
  if (!type || !dims || !range) return lacks();
  SafetensorsEntry entry{.name = name, .dims = *std::move(dims)};
  VERNIER_ASSIGN_OR_RETURN(entry.dtype, TypeNamed(*type, name));
  if (range->size() != 2 || (*range)[0] > (*range)[1]) {
    return Bad(name, "has data_offsets that are not a range");
  }
  entry.begin = static_cast<uint64_t>((*range)[0]);
  entry.end = static_cast<uint64_t>((*range)[1]);
  VERNIER_TRY(CheckEntry(entry));
  return entry;
}

Status ReadMetadata(JsonStream& stream, SafetensorsHeader& header) {
  if (!stream.is(JsonToken::kBeginObject)) return stream.Skip();
  return stream.ForEachMember([&](const std::string& key) -> Status {
    if (key != kSafetensorsMetadataKey || !stream.is(JsonToken::kString)) return stream.Skip();
    VERNIER_ASSIGN_OR_RETURN(const std::string text, stream.Text());
    VERNIER_ASSIGN_OR_RETURN(header.metadata, ReadArchiveMetadata(JsonText(text)));
    return {};
  });
}

Status ReadEntries(JsonStream& stream, SafetensorsHeader& header) {
  const auto twice = [] { return Malformed("the safetensors header names a tensor twice"); };
  bool has_metadata = false;
  VERNIER_TRY(stream.ForEachMember([&](const std::string& name) -> Status {
    if (name == kMetadata) {
      if (std::exchange(has_metadata, true)) return twice();
      return ReadMetadata(stream, header);
    }
    VERNIER_ASSIGN_OR_RETURN(const SafetensorsEntry entry, ReadEntry(stream, name));
    header.names.Add(name);
    header.places.push_back({entry.begin, entry.end, header.types.Keep({entry.dtype, entry.dims})});
    return {};
  }));
  VERNIER_TRY(stream.Advance());  // nothing may be behind it
  return header.names.Finish() ? twice() : Status();
}

Status CheckRanges(const SafetensorsHeader& header, uint64_t size) {
  const auto& places = header.places;
  std::vector<uint32_t> sorted(places.size());
  std::iota(sorted.begin(), sorted.end(), 0u);
  std::sort(sorted.begin(), sorted.end(), [&places](uint32_t a, uint32_t b) {
    return std::pair(places[a].begin, places[a].end) < std::pair(places[b].begin, places[b].end);
  });
  uint64_t position = 0;
  for (const uint32_t index : sorted) {
    const auto& place = places[index];
    if (place.begin != position) {
      return Bad(header.names.Text(index),
                 place.begin < position ? "overlaps another" : "follows a hole");
    }
    position = place.end;
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

Result<SafetensorsHeader> ReadSafetensorsHeader(const JsonText& file) {
  uint64_t length = 0;
  if (file.size() < sizeof(length)) return Malformed("the file is too short for safetensors");
  std::array<char, sizeof(length)> start;
  VERNIER_TRY(file.ReadAt(0, start));
  std::memcpy(&length, start.data(), sizeof(length));
  if (length > kMaxHeader || length > file.size() - sizeof(length)) {
    return Malformed("the safetensors header claims " + std::to_string(length) +
                     " bytes; the file has " + std::to_string(file.size()) +
                     " and at most 100000000 are read");
  }
  char first = 0;
  if (length > 0) VERNIER_TRY(file.ReadAt(sizeof(length), std::span(&first, size_t{1})));
  if (first != '{') return Malformed("the safetensors header is not a JSON object");
  JsonStream stream(file.Range(sizeof(length), sizeof(length) + length), "safetensors header");
  SafetensorsHeader header;
  header.data_offset = sizeof(length) + length;
  VERNIER_TRY(stream.Advance());
  VERNIER_TRY(ReadEntries(stream, header));
  VERNIER_TRY(CheckRanges(header, file.size() - header.data_offset));
  return header;
}

std::optional<std::string_view> SafetensorsTypeName(DType dtype) {
  // Four-bit types need an even number of elements and a recent library.
  if (BitsOf(dtype) == 4) return std::nullopt;
  const auto* row = std::find_if(kSafetensorsTypes.begin(), kSafetensorsTypes.end(),
                                 [dtype](const SafetensorsType& r) { return r.dtype == dtype; });
  return row == kSafetensorsTypes.end() ? std::nullopt : std::optional(row->name);
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
