// Protocol buffers as bytes: as much as plug-ins need, compiled into each. libprotobuf would clash
// with the one inside of TensorFlow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vernier::tf {

/// Fields of an entry of a map.
inline constexpr uint32_t kMapKey = 1, kMapValue = 2;

/// One field of a message; `bytes` of a length-delimited one, `number` of a varint or fixed one.
struct ProtoField {
  uint32_t id = 0;
  uint32_t wire_type = 0;
  uint64_t number = 0;
  std::string_view bytes;
  std::string_view whole;  ///< the field with its tag, as it stands
};

/// Goes through the fields of a message. What is cut short or malformed ends it, and `ok` says so.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) : rest_(message) {}

  std::optional<ProtoField> Next();
  bool ok() const { return ok_; }

 private:
  std::optional<uint64_t> Varint();
  std::optional<std::string_view> Take(uint64_t size);

  std::string_view rest_;
  bool ok_ = true;
};

/// The last length-delimited field `id`; empty if there is none.
std::string_view FieldBytes(std::string_view message, uint32_t id);
/// All of them, in order.
std::vector<std::string_view> AllFieldBytes(std::string_view message, uint32_t id);
/// The last varint or fixed field `id`.
uint64_t FieldNumber(std::string_view message, uint32_t id, uint64_t fallback = 0);

/// Builds a message.
class ProtoWriter {
 public:
  ProtoWriter& Number(uint32_t id, uint64_t value);
  ProtoWriter& Double(uint32_t id, double value);
  ProtoWriter& Bytes(uint32_t id, std::string_view bytes);
  ProtoWriter& Raw(std::string_view fields);

  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(uint64_t value);

  std::string bytes_;
};

}  // namespace vernier::tf
