#include "io/polygraphy/polygraphy_array.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/archive/npy.h"
#include "io/archive/zip_reader.h"
#include "io/bytes/base64.h"
#include "io/bytes/text_encoding.h"
#include "io/polygraphy/base64_source.h"
#include "io/polygraphy/polygraphy_type.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

using JsonKind = JsonValue::Kind;
using Bytes = std::vector<std::byte>;

// "PK" and the 3 or 5 of an archive's first record, in base64.
constexpr std::string_view kZipStart = "UEs";
constexpr uint64_t kScanned = uint64_t{64} << 10;

Status ErrorAt(JsonValue value, std::string_view what) {
  return Malformed("byte " + std::to_string(value.offset()) + ": " + std::string(what));
}

// The old forms: an .npy file, or an .npz archive, of which the first member counts.
Result<Tensor> FromBytes(std::span<const std::byte> bytes, std::optional<DType> stored_as) {
  constexpr std::byte kZip[] = {std::byte{'P'}, std::byte{'K'}};
  if (bytes.size() < 2 || !std::equal(kZip, kZip + 2, bytes.begin())) {
    return ReadNpy(bytes, stored_as);
  }
  VERNIER_ASSIGN_OR_RETURN(const ZipReader archive, ZipReader::Open(bytes));
  if (archive.size() == 0) {
    return Malformed("Array payload is empty or invalid (NPZ archive contains no arrays).");
  }
  VERNIER_ASSIGN_OR_RETURN(const auto content, archive.OpenMember(archive.Member(0)));
  VERNIER_ASSIGN_OR_RETURN(Tensor tensor, ReadNpy(*content, nullptr, stored_as));
  VERNIER_TRY(content->Finish());
  return tensor;
}

Result<Bytes> DecodeAll(JsonRange text) {
  VERNIER_ASSIGN_OR_RETURN(Base64Source source, Base64Source::Open(text));
  Bytes bytes(static_cast<size_t>(source.remaining()));
  VERNIER_TRY(source.Read(bytes));
  return bytes;
}

// NumPy ignores what is behind the elements, but base64 it must be.
Status ReadToEnd(ByteSource& source) {
  Bytes block;
  while (source.remaining() > 0) {
    block.resize(static_cast<size_t>(std::min<uint64_t>(kScanned, source.remaining())));
    VERNIER_TRY(source.Read(block));
  }
  return {};
}

Result<Tensor> FromBase64(JsonRange text, TensorPool* pool, std::optional<DType> stored_as) {
  VERNIER_ASSIGN_OR_RETURN(Base64Source source,
                           Base64Source::Open(text, pool == nullptr ? nullptr : &pool->threads()));
  Result<Tensor> tensor = ReadNpy(source, pool, stored_as);
  if (tensor.ok()) {
    VERNIER_TRY(ReadToEnd(source));
    return tensor;
  }
  char start[3] = {};
  if (text.size() < sizeof(start)) return tensor;
  VERNIER_TRY(text.text->ReadAt(text.begin, start));
  if (std::string_view(start, sizeof(start)) != kZipStart) return tensor;
  VERNIER_ASSIGN_OR_RETURN(const Bytes bytes, DecodeAll(text));
  return FromBytes(bytes, stored_as);
}

Result<Tensor> FromLatin1(std::string_view text, std::optional<DType> stored_as) {
  Bytes bytes;
  bytes.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    const char32_t c = NextCodePoint(text, position);
    if (c > 0xff) return Malformed("the payload is neither base64 nor latin-1");
    bytes.push_back(static_cast<std::byte>(c));
  }
  return FromBytes(bytes, stored_as);
}

// Whether the text has escapes or characters that only the old forms have.
Result<bool> MayBeOldForm(JsonRange text) {
  std::string block(kScanned, '\0');
  for (uint64_t begin = text.begin; begin < text.end; begin += block.size()) {
    block.resize(static_cast<size_t>(std::min<uint64_t>(kScanned, text.end - begin)));
    VERNIER_TRY(text.text->ReadAt(begin, block));
    if (begin == text.begin && block.starts_with("PK")) return true;
    const bool unusual = std::any_of(block.begin(), block.end(),
                                     [](char c) { return c == '\\' || (c & 0x80) != 0; });
    if (unusual) return true;
  }
  return false;
}

Result<Tensor> DecodePayload(JsonRange text, TensorPool* pool, std::optional<DType> stored_as) {
  Result<Tensor> tensor = FromBase64(text, pool, stored_as);
  if (tensor.ok() || tensor.status().code() != StatusCode::kMalformed) return tensor;
  VERNIER_ASSIGN_OR_RETURN(const bool old, MayBeOldForm(text));
  if (!old) return tensor;
  std::string raw(static_cast<size_t>(text.size()), '\0');
  VERNIER_TRY(text.text->ReadAt(text.begin, raw));
  const std::string unescaped = UnescapeJson(raw);
  if (unescaped.size() != raw.size()) {
    const JsonText memory(unescaped);
    Result<Tensor> again = FromBase64({&memory, 0, memory.size()}, pool, stored_as);
    if (again.ok()) return again;
  }
  return FromLatin1(unescaped, stored_as);
}

Result<std::optional<DType>> StoredTypeOf(JsonValue object) {
  const auto name = object.Find("dtype");
  if (!name) return std::optional<DType>();
  const std::optional<DType> dtype =
      name->is(JsonKind::kString) ? DTypeFromName(name->Text()) : std::nullopt;
  if (!dtype) return ErrorAt(*name, "the array's \"dtype\" is unknown");
  return dtype;
}

// NumPy's scalars of Python's own types, which Polygraphy saves as bare numbers. Nothing for what
// is no such number.
Result<std::optional<Tensor>> FromScalar(JsonValue value) {
  const auto wrap = [](DType dtype, const auto& number) -> Result<std::optional<Tensor>> {
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor,
                             Tensor::Copy(dtype, {}, std::as_bytes(std::span(&number, 1))));
    return std::optional(std::move(tensor));
  };
  if (value.is(JsonKind::kTrue) || value.is(JsonKind::kFalse)) {
    return wrap(DType::kBool, uint8_t{value.is(JsonKind::kTrue)});
  }
  if (!value.is(JsonKind::kNumber)) return std::optional<Tensor>();
  if (value.raw().find_first_not_of("-0123456789") != std::string_view::npos) {
    return wrap(DType::kFloat64, JsonNumberValue(value.raw()));
  }
  const std::optional<int64_t> whole = ParseInt(value.raw());
  if (!whole) return ErrorAt(value, "the number is larger than an int64 holds");
  return wrap(DType::kInt64, *whole);
}

}  // namespace

Result<Tensor> DecodePolygraphyArray(JsonValue value, TensorPool* pool) {
  VERNIER_ASSIGN_OR_RETURN(std::string type, PolygraphyTypeOf(value));
  if (type == "LazyArray") {
    const auto values = value.Find("values");
    if (!values) return ErrorAt(value, "a LazyArray lacks its \"values\"");
    value = *values;
    VERNIER_ASSIGN_OR_RETURN(std::optional<Tensor> scalar, FromScalar(value));
    if (scalar) return *std::move(scalar);
    VERNIER_ASSIGN_OR_RETURN(type, PolygraphyTypeOf(value));
  }
  if (type == "Tensor") {
    return ErrorAt(value,
                   "this is a PyTorch tensor, whose encoding is PyTorch's own; save the data "
                   "again as NumPy arrays (tensor.numpy())");
  }
  if (type != "ndarray") {
    std::string found = type.empty() ? std::string(value.KindName()) : "of type " + type;
    if (found == "a list") found = "a plain list, which does not say its element type";
    return ErrorAt(value, "expected an array, but the value is " + found +
                              "; --save-inputs and --save-outputs write arrays, and .npz files "
                              "hold them, too");
  }
  const auto array = value.Find("array");
  if (!array || !array->IsText()) return ErrorAt(value, "an ndarray lacks its \"array\"");
  VERNIER_ASSIGN_OR_RETURN(const std::optional<DType> stored_as, StoredTypeOf(value));
  return DecodePayload(array->Range(), pool, stored_as)
      .Annotate("the array at byte " + std::to_string(array->offset()));
}

void WritePolygraphyArray(JsonWriter& writer, const Tensor& tensor, PolygraphyArrayForm form) {
  const bool lazy = form == PolygraphyArrayForm::kLazyArray;
  if (lazy) {
    writer.BeginObject();
    writer.Key("values");
  }
  writer.BeginObject();
  writer.Key("array");
  ByteSink& sink = writer.BeginRaw();
  Base64Sink base64(sink);
  Status status = sink.WriteText("\"");
  if (status.ok()) status = WriteNpy(tensor, base64);
  if (status.ok()) status = base64.Finish();
  if (status.ok()) status = sink.WriteText("\"");
  writer.Fail(std::move(status));
  if (NpyLosesType(tensor.dtype())) {
    writer.Key("dtype");
    writer.String(DTypeName(tensor.dtype()));
  }
  writer.Key("polygraphy_class");
  writer.String("ndarray");
  writer.EndObject();
  if (!lazy) return;
  writer.Key("polygraphy_class");
  writer.String("LazyArray");
  writer.EndObject();
}

}  // namespace vernier
