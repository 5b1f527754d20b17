#include "message_reader.h"

namespace vernier::pluginref {
namespace {

class WrongWireType final : public protozero::exception {
 public:
  WrongWireType(uint32_t field, protozero::pbf_wire_type type)
      : text_("field " + std::to_string(field) + " of a message cannot have wire type " +
              std::to_string(static_cast<uint32_t>(type))) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace

void MessageReader::Expect(Type type) const {
  if (!in_.has_wire_type(type)) throw WrongWireType(in_.tag(), in_.wire_type());
}

int64_t MessageReader::Integer() {
  Expect(Type::varint);
  return in_.get_int64();
}

float MessageReader::Float() {
  Expect(Type::fixed32);
  return in_.get_float();
}

std::string MessageReader::Text() {
  Expect(Type::length_delimited);
  const protozero::data_view view = in_.get_view();
  return {view.data(), view.size()};
}

MessageReader MessageReader::Message() {
  Expect(Type::length_delimited);
  const protozero::data_view view = in_.get_view();
  return MessageReader({view.data(), view.size()});
}

void MessageReader::AppendIntegers(std::vector<int64_t>& out) {
  if (!Packed()) {
    out.push_back(Integer());
    return;
  }
  for (const int64_t value : in_.get_packed_int64()) out.push_back(value);
}

void MessageReader::AppendFloats(std::vector<float>& out) {
  if (!Packed()) {
    out.push_back(Float());
    return;
  }
  for (const float value : in_.get_packed_float()) out.push_back(value);
}

void MessageReader::AppendDoubles(std::vector<double>& out) {
  if (!Packed()) {
    Expect(Type::fixed64);
    out.push_back(in_.get_double());
    return;
  }
  for (const double value : in_.get_packed_double()) out.push_back(value);
}

}  // namespace vernier::pluginref
