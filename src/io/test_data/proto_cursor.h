// Protobuf's wire format, field by field, as far as ONNX's test data need it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "vernier/status.h"

namespace vernier {

namespace wire {
enum Type : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
}  // namespace wire

using ProtoBytes = std::span<const std::byte>;

/// One field: a number or a range of bytes.
struct ProtoField {
  uint64_t number = 0;
  uint64_t type = 0;
  uint64_t value = 0;
  ProtoBytes bytes;
};

/// Reads fields in order; kMalformed for invalid protobuf.
class ProtoCursor {
 public:
  explicit ProtoCursor(ProtoBytes bytes) : bytes_(bytes) {}
  bool done() const { return position_ == bytes_.size(); }

  Result<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !done(); shift += 7) {
      const auto byte = std::to_integer<uint64_t>(bytes_[position_++]);
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return Error();
  }

  Result<ProtoBytes> Take(uint64_t size) {
    if (size > bytes_.size() - position_) return Error();
    const ProtoBytes taken = bytes_.subspan(position_, static_cast<size_t>(size));
    position_ += static_cast<size_t>(size);
    return taken;
  }

  Result<ProtoField> Next() {
    ProtoField field;
    VERNIER_ASSIGN_OR_RETURN(const uint64_t key, Varint());
    field.number = key >> 3;
    field.type = key & 7;
    if (field.type == wire::kVarint) {
      VERNIER_ASSIGN_OR_RETURN(field.value, Varint());
      return field;
    }
    uint64_t size = field.type == wire::kFixed64 ? 8 : 4;
    if (field.type == wire::kBytes) {
      VERNIER_ASSIGN_OR_RETURN(size, Varint());
    } else if (field.type != wire::kFixed64 && field.type != wire::kFixed32) {
      return Error();
    }
    VERNIER_ASSIGN_OR_RETURN(field.bytes, Take(size));
    return field;
  }

 private:
  Status Error() const {
    return Malformed("byte " + std::to_string(position_) + ": this is not an ONNX tensor");
  }

  ProtoBytes bytes_;
  size_t position_ = 0;
};

}  // namespace vernier
