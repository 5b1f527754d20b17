#include "io/peer_array.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/base64.h"
#include "io/npy.h"
#include "io/peer_type.h"
#include "io/text_encoding.h"
#include "io/zip_reader.h"

namespace vernier {
namespace {

using Kind = JsonValue::Kind;
using Bytes = std::vector<std::byte>;

Status ErrorAt(JsonValue value, std::string_view what) {
  return Malformed("byte " + std::to_string(value.offset()) + ": " + std::string(what));
}

Result<Tensor> FromOwnedBytes(std::shared_ptr<const Bytes> bytes, std::optional<DType> stored_as) {
  constexpr std::byte kZip[] = {std::byte{'P'}, std::byte{'K'}};
  if (bytes->size() < 2 || !std::equal(kZip, kZip + 2, bytes->begin())) {
    return ReadNpy(*bytes, bytes, stored_as);
  }
  VERNIER_ASSIGN_OR_RETURN(const ZipReader archive, ZipReader::Open(*bytes, bytes));
  if (archive.members().empty()) {
    return Malformed("Array payload is empty or invalid (NPZ archive contains no arrays).");
  }
  VERNIER_ASSIGN_OR_RETURN(ZipContent content, archive.Read(archive.members().front()));
  return ReadNpy(content.bytes, std::move(content.owner), stored_as);
}

Result<std::shared_ptr<const Bytes>> DecodeAll(std::string_view text) {
  VERNIER_ASSIGN_OR_RETURN(const uint64_t size, Base64DecodedSize(text));
  auto bytes = std::make_shared<Bytes>(static_cast<size_t>(size));
  VERNIER_TRY(DecodeBase64(text, *bytes));
  return std::shared_ptr<const Bytes>(std::move(bytes));
}

// The usual case decodes straight into the tensor's memory: header first, then the elements.
Result<Tensor> FromBase64(std::string_view text, std::optional<DType> stored_as) {
  VERNIER_ASSIGN_OR_RETURN(const uint64_t size, Base64DecodedSize(text));
  Bytes start(static_cast<size_t>(std::min<uint64_t>(size, 12)));
  VERNIER_TRY(DecodeBase64(text, start));
  const Result<uint64_t> preamble = NpyPreambleSize(start);
  if (preamble.ok()) {
    start.resize(static_cast<size_t>(std::min(*preamble, size)));
    VERNIER_TRY(DecodeBase64(text, start));
    VERNIER_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(start));
    VERNIER_ASSIGN_OR_RETURN(const DType dtype, NpyElementType(header, stored_as));
    VERNIER_TRY(NpyDataSize(header, size - header.data_offset).status());
    if (NpyIsDense(header, dtype)) {
      VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(dtype, header.shape));
      VERNIER_TRY(DecodeBase64Range(text, header.data_offset, buffer.bytes()));
      return std::move(buffer).Freeze();
    }
  }
  VERNIER_ASSIGN_OR_RETURN(auto bytes, DecodeAll(text));
  return FromOwnedBytes(std::move(bytes), stored_as);
}

Result<Tensor> FromLatin1(std::string_view text, std::optional<DType> stored_as) {
  auto bytes = std::make_shared<Bytes>();
  bytes->reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    const char32_t c = NextCodePoint(text, position);
    if (c > 0xff) return Malformed("the payload is neither base64 nor latin-1");
    bytes->push_back(static_cast<std::byte>(c));
  }
  return FromOwnedBytes(std::move(bytes), stored_as);
}

Result<Tensor> DecodePayload(std::string_view raw, std::optional<DType> stored_as) {
  Result<Tensor> tensor = FromBase64(raw, stored_as);
  if (tensor.ok() || tensor.status().code() != StatusCode::kMalformed) return tensor;
  const bool escaped = raw.find('\\') != std::string_view::npos;
  const bool ascii = std::all_of(raw.begin(), raw.end(), [](char c) { return (c & 0x80) == 0; });
  if (!escaped && ascii && !raw.starts_with("PK")) return tensor;  // not one of the old forms
  const std::string text = UnescapeJson(raw);
  if (escaped) {
    Result<Tensor> unescaped = FromBase64(text, stored_as);
    if (unescaped.ok()) return unescaped;
  }
  return FromLatin1(text, stored_as);
}

Result<std::optional<DType>> StoredType(JsonValue object) {
  const auto name = object.Find("dtype");
  if (!name) return std::optional<DType>();
  const std::optional<DType> dtype =
      name->is(Kind::kString) ? DTypeFromName(name->Text()) : std::nullopt;
  if (!dtype) return ErrorAt(*name, "the array's \"dtype\" is none that is known");
  return dtype;
}

}  // namespace

Result<Tensor> DecodePeerArray(JsonValue value) {
  VERNIER_ASSIGN_OR_RETURN(std::string type, PeerTypeOf(value));
  if (type == "LazyArray") {
    const auto values = value.Find("values");
    if (!values) return ErrorAt(value, "a LazyArray lacks its \"values\"");
    value = *values;
    VERNIER_ASSIGN_OR_RETURN(type, PeerTypeOf(value));
  }
  if (type == "Tensor") {
    return ErrorAt(value,
                   "this is a PyTorch tensor, whose encoding is PyTorch's own; save the data "
                   "again as NumPy arrays (tensor.numpy())");
  }
  if (type != "ndarray") {
    const std::string found = type.empty() ? std::string(value.KindName()) : "of type " + type;
    return ErrorAt(value, "expected an array, but the value is " + found);
  }
  const auto array = value.Find("array");
  if (!array || !array->is(Kind::kString)) return ErrorAt(value, "an ndarray lacks its \"array\"");
  VERNIER_ASSIGN_OR_RETURN(const std::optional<DType> stored_as, StoredType(value));
  return DecodePayload(array->raw(), stored_as)
      .Annotate("the array at byte " + std::to_string(array->offset()));
}

void WritePeerArray(JsonWriter& writer, const Tensor& tensor, PeerArrayForm form) {
  const bool lazy = form == PeerArrayForm::kLazyArray;
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
