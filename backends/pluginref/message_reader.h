// A cursor over the fields of a protobuf message.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace vernier::pluginref {

/// protozero's cursor, for files that may be damaged: that one takes for granted that a field has
/// the wire type of what is read from it, and where it has not, ends the process in an assertion
/// or, without assertions, makes something of other bytes. All functions throw protozero::exception
/// for a damaged message.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : in_(bytes.data(), bytes.size()) {}

  /// Goes to the next field; false at the end. What follows a true one reads or skips its value.
  bool Next() { return in_.next(); }
  uint32_t field() const { return in_.tag(); }

  int64_t Integer();
  float Float();
  std::string Text();
  MessageReader Message();
  void Skip() { in_.skip(); }

  /// Repeated numbers, which are one field each, or all of them in one.
  void AppendIntegers(std::vector<int64_t>& out);
  void AppendFloats(std::vector<float>& out);
  void AppendDoubles(std::vector<double>& out);

 private:
  using Type = protozero::pbf_wire_type;
  bool Packed() const { return in_.has_wire_type(Type::length_delimited); }
  void Expect(Type type) const;

  protozero::pbf_reader in_;
};

}  // namespace vernier::pluginref
