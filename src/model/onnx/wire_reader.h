// Reading ONNX's protobuf wire format without copying: a cursor over one message. Varints are
// decoded by protozero; the cursor adds what hostile files need (64-bit lengths, a depth limit,
// positions in errors) and never throws.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_schema.h"
#include "vernier/status.h"

namespace vernier {

/// Messages nested deeper than this are refused, as protobuf's own parsers do.
inline constexpr int kWireDepthLimit = 100;

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// What all cursors over one file share: where it starts, and its first fault. After a fault every
/// cursor is at its end, so that readers need not test after each value.
class WireSource {
 public:
  explicit WireSource(std::string_view file) : file_(file) {}

  void Fail(const char* at, OnnxMessage message, uint32_t field, std::string reason);
  bool failed() const { return fault_.has_value(); }

  /// kMalformed: "'m.onnx' is not a valid ONNX file: byte 57, NodeProto.attribute: <reason>".
  Status FaultStatus(std::string_view path) const;

  std::string_view file() const { return file_; }

 private:
  struct Fault {
    size_t offset;
    OnnxMessage message;
    uint32_t field;
    std::string reason;
  };

  std::string_view file_;
  std::optional<Fault> fault_;
};

/// A cursor over the fields of one message. After Next() exactly one of the value functions must be
/// called. Values of a faulty file are zero or empty.
class WireReader {
 public:
  WireReader(WireSource& source, OnnxMessage message, std::string_view bytes, int depth = 0)
      : source_(&source),
        begin_(bytes.data()),
        at_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        message_(message),
        depth_(depth) {}

  /// Reads the next tag. False at the end, or when the file has a fault.
  bool Next();

  /// Whether the field is `number` and has that wire type; with another wire type protobuf treats a
  /// field as unknown.
  bool Is(uint32_t number, WireType type) const { return field_ == number && type_ == type; }

  uint32_t field() const { return field_; }
  WireType type() const { return type_; }
  OnnxMessage message() const { return message_; }
  int depth() const { return depth_; }

  uint64_t Varint();
  int64_t Int64() { return static_cast<int64_t>(Varint()); }
  int32_t Int32() { return static_cast<int32_t>(Varint()); }
  uint32_t Fixed32();
  std::string_view Bytes();

  /// Appends the number, or the packed numbers, of a repeated field.
  void AppendInts(std::vector<int64_t>& out);
  void AppendFloats(std::vector<float>& out);

  /// A cursor over the value, a message of the type `child`.
  WireReader Message(OnnxMessage child);

  /// Passes over the value; what the schema calls a message is checked to the bottom.
  void Skip();

  /// The bytes of the current field: with its tag once the value was read.
  std::string_view FieldBytes() const { return {tag_at_, static_cast<size_t>(at_ - tag_at_)}; }
  std::string_view MessageBytes() const { return {begin_, static_cast<size_t>(end_ - begin_)}; }

  void Fail(std::string reason) { FailAt(at_, std::move(reason)); }
  bool failed() const { return source_->failed(); }

 private:
  void FailAt(const char* at, std::string reason);
  void SkipFixed(size_t size);
  void CheckPacked(OnnxField kind, std::string_view bytes);
  WireReader Packed();
  uint64_t ShortVarint(const char* what);

  WireSource* source_;
  const char* begin_;
  const char* at_;
  const char* end_;
  const char* tag_at_ = nullptr;
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  OnnxMessage message_;
  int depth_;
};

/// Appends a field's tag, a varint, or a length-delimited field to `out`.
void AppendVarint(std::string& out, uint64_t value);
void AppendTag(std::string& out, uint32_t field, WireType type);
void AppendVarintField(std::string& out, uint32_t field, uint64_t value);
void AppendBytesField(std::string& out, uint32_t field, std::string_view bytes);

}  // namespace vernier
