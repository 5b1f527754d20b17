#include "model/onnx/embedded_values.h"

#include <optional>
#include <string>

#include "io/test_data/tensor_proto.h"
#include "model/onnx/wire_fields.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// float_data, int32_data, string_data, int64_data, double_data, uint64_data
bool HoldsListedValues(const OnnxTensor& tensor) {
  for (const WireField& field : FieldsOf(tensor.bytes, OnnxMessage::kTensor)) {
    const uint32_t number = field.number;
    if ((number >= 4 && number <= 7) || number == 10 || number == 11) return true;
  }
  return false;
}

Status CheckValues(const OnnxTensor& tensor) {
  const std::optional<int64_t> count = ElementCount(tensor.dims);
  if (!count) return Malformed("its shape " + FormatDims(tensor.dims) + " is impossible");
  if (tensor.external || tensor.split || tensor.dtype == DType::kUndefined) return {};
  if (tensor.raw_data.empty()) {
    if (!HoldsListedValues(tensor)) return {};
    const std::string_view bytes = tensor.bytes;
    return ParseTensorProto(std::as_bytes(std::span(bytes.data(), bytes.size()))).status();
  }
  const std::optional<uint64_t> needed = ByteSize(tensor.dtype, static_cast<uint64_t>(*count));
  if (!needed || tensor.raw_data.size() == *needed) return {};
  return Malformed("its values are " + Counted(tensor.raw_data.size(), "byte") + ", but " +
                   std::string(DTypeName(tensor.dtype)) + " " + FormatDims(tensor.dims) +
                   " needs " + std::to_string(*needed));
}

class EmbeddedCheck {
 public:
  explicit EmbeddedCheck(const OnnxModel& model) : model_(model) {}

  Status Graph(const OnnxGraph& graph) const {
    for (const OnnxTensor& tensor : graph.initializers) VERNIER_TRY(Values(tensor, {}));
    for (const OnnxNode& node : graph.nodes) {
      for (const OnnxAttribute& attribute : model_.Attributes(node)) {
        if (attribute.tensor) VERNIER_TRY(Values(*attribute.tensor, Owner(node, attribute)));
      }
    }
    return {};
  }

 private:
  static std::string Owner(const OnnxNode& node, const OnnxAttribute& attribute) {
    return " (" + std::string(attribute.name) + " of " + std::string(node.op_type) + " node " +
           QuotePython(node.name) + ")";
  }

  Status Values(const OnnxTensor& tensor, const std::string& owner) const {
    return CheckValues(tensor).Annotate("'" + model_.path() + "': tensor " +
                                        QuotePython(tensor.name) + owner);
  }

  const OnnxModel& model_;
};

}  // namespace

Status CheckEmbeddedValues(const OnnxModel& model) {
  const EmbeddedCheck check(model);
  VERNIER_TRY(check.Graph(model.graph()));
  for (const OnnxGraph& body : model.contents().subgraphs) VERNIER_TRY(check.Graph(body));
  for (const OnnxFunction& function : model.contents().functions) {
    VERNIER_TRY(check.Graph(function.body));
  }
  return {};
}

}  // namespace vernier
