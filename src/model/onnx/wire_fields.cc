#include "model/onnx/wire_fields.h"

namespace vernier {

std::vector<WireField> FieldsOf(std::string_view message, OnnxMessage type) {
  std::vector<WireField> fields;
  WireSource source(message);
  WireReader reader(source, type, message);
  while (reader.Next()) {
    WireField field{reader.field(), reader.type(), {}, {}, 0};
    if (reader.type() == WireType::kBytes) {
      field.content = reader.Bytes();
    } else if (reader.type() == WireType::kVarint) {
      field.value = reader.Varint();
    } else {
      reader.Skip();
    }
    field.field = reader.FieldBytes();
    fields.push_back(field);
  }
  return fields;
}

}  // namespace vernier
