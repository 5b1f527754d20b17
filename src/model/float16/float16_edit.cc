#include "model/float16/float16_edit.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "model/float16/float16_functions.h"
#include "model/float16/float16_names.h"
#include "model/float16/float16_range.h"
#include "model/float16/float16_transposes.h"
#include "model/onnx/onnx_parser.h"
#include "model/onnx/wire_fields.h"
#include "model/shapes/onnx_infer.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

using M = OnnxMessage;

class Converter {
 public:
  Converter(const OnnxModel& model, std::span<const std::string_view> outputs,
            const WeightSources& sources, Float16Kept kept, Float16Range range)
      : model_(model),
        kept_(std::move(kept)),
        functions_(model),
        names_(model, functions_, outputs, kept_, edit_) {
    edit_.losses = std::make_shared<Float16Losses>();
    if (range == Float16Range::kClamp) {
      edit_.losses->largest = kPolygraphyLargestFloat16;
    } else {
      KeepFusedTransposes(model, kept_);
    }
    if (range == Float16Range::kKeepNodes) {
      BeyondFloat16(model, functions_, sources, kept_, edit_).Find();
    }
    for (size_t i = 0; sources.external != nullptr && i < sources.external->slices.size(); ++i) {
      slices_[model.external_tensors()[i].bytes.data()] = &sources.external->slices[i];
    }
    for (const ReplacedValues& values : sources.detached) {
      detached_[values.tensor.bytes.data()] = &values.values;
    }
  }

  Result<Float16Edit> Convert() {
    if (model_.contents().graph_parts > 1) {
      return Unimplemented("--fp-to-fp16: '" + model_.path() +
                           "' gives its graph in several parts; save it anew with onnx first");
    }
    size_t function = 0;
    for (const WireField& field : FieldsOf(model_.bytes(), M::kModel)) {
      if (field.type != WireType::kBytes) continue;
      if (field.number == 7) VERNIER_TRY(MainGraph(field.content));
      if (field.number == 25) {
        VERNIER_TRY(Function(field.content, model_.contents().functions[function++]));
      }
    }
    return std::move(edit_);
  }

 private:
  Status MainGraph(std::string_view bytes);
  Status Function(std::string_view bytes, const OnnxFunction& function);
  Status Graph(std::string_view bytes, Float16Scope& scope);
  Status CheckSupported(const Float16Scope& scope) const;
  Status Value(const WireField& field, const Float16Scope& scope);
  void Type(std::string_view bytes, M message, std::vector<WirePatch>& patches) const;

  Status Node(std::string_view bytes, size_t index, Float16Scope& scope, Float16NodeNames& names);
  Status Attribute(const WireField& field, const OnnxNode& node, Float16Scope& scope, size_t& body);
  Status Body(std::string_view bytes, const OnnxNode& node, Float16Scope& scope, size_t body);
  void AddMissingAttributes(std::string_view bytes, const OnnxNode& node);
  Status Tensor(const OnnxTensor& tensor);
  Result<BytePieces> NarrowedValues(const OnnxTensor& tensor) const;

  void Replace(std::string_view place, std::string bytes) {
    BytePieces pieces;
    pieces.AddOwned(std::move(bytes));
    edit_.patches.push_back({place, std::move(pieces)});
  }
  void Insert(const char* at, std::string bytes) {
    if (!bytes.empty()) Replace({at, 0}, std::move(bytes));
  }
  void ReplaceNumber(const WireField& field, uint64_t value) {
    std::string bytes;
    AppendVarintField(bytes, field.number, value);
    Replace(field.field, std::move(bytes));
  }

  const OnnxModel& model_;
  Float16Kept kept_;
  std::unordered_map<const char*, const ExternalSlice*> slices_;
  std::unordered_map<const char*, const BytePieces*> detached_;
  Float16Edit edit_;
  Float16Functions functions_;
  Float16Names names_;
};

Status Converter::CheckSupported(const Float16Scope& scope) const {
  if (!scope.graph.sparse_initializers.empty()) {
    return Unimplemented("--fp-to-fp16: sparse initializers cannot be converted");
  }
  if (!scope.is_main()) return {};
  for (const auto* values : {&scope.graph.inputs, &scope.graph.outputs}) {
    for (const OnnxValue& value : *values) {
      std::vector<WirePatch> patches;
      Type(value.bytes, M::kValueInfo, patches);
      if (value.kind == OnnxValueKind::kTensor || patches.empty()) continue;
      return Unimplemented("--fp-to-fp16: " + QuotePython(value.name) + " is a " +
                           std::string(OnnxValueKindName(value.kind)) +
                           " of float32, which no cast keeps as it is");
    }
  }
  return {};
}

void Converter::Type(std::string_view bytes, M message, std::vector<WirePatch>& patches) const {
  struct Inner {
    M message;
    uint32_t field;
    M child;
  };
  constexpr Inner kInner[] = {{M::kValueInfo, 2, M::kType},        {M::kType, 1, M::kTensorType},
                              {M::kType, 4, M::kSequenceType},     {M::kType, 5, M::kMapType},
                              {M::kType, 8, M::kSparseTensorType}, {M::kType, 9, M::kOptionalType},
                              {M::kSequenceType, 1, M::kType},     {M::kMapType, 2, M::kType},
                              {M::kOptionalType, 1, M::kType}};
  const bool tensor = message == M::kTensorType || message == M::kSparseTensorType;
  for (const WireField& field : FieldsOf(bytes, message)) {
    if (tensor && field.number == 1 && field.type == WireType::kVarint &&
        field.value == kOnnxFloat) {
      std::string number;
      AppendVarintField(number, 1, kOnnxFloat16);
      BytePieces pieces;
      pieces.AddOwned(std::move(number));
      patches.push_back({field.field, std::move(pieces)});
    }
    for (const Inner& inner : kInner) {
      const bool here = inner.message == message && inner.field == field.number;
      if (here && field.type == WireType::kBytes) Type(field.content, inner.child, patches);
    }
  }
}

Status Converter::Value(const WireField& field, const Float16Scope& scope) {
  std::string_view name;
  for (const WireField& inner : FieldsOf(field.content, M::kValueInfo)) {
    if (inner.number == 1) name = inner.content;
  }
  const auto full = scope.float_names.find(name);
  const bool stays = full != scope.float_names.end() && full->second == name;
  if (stays || scope.kept.contains(name) || names_.IsOutput(name, scope)) return {};
  Type(field.content, M::kValueInfo, edit_.patches);
  return {};
}

Status Converter::MainGraph(std::string_view bytes) {
  Float16Scope scope{.graph = model_.graph(),
                     .types = functions_.inference().OfGraph(model_.graph(), {})};
  return Graph(bytes, scope);
}

Status Converter::Function(std::string_view bytes, const OnnxFunction& function) {
  const ValueTypes* types = functions_.TypesIn(function);
  if (types == nullptr) return {};
  Float16Scope scope{.graph = function.body, .fields = kFieldsOfFunction, .types = *types};
  return Graph(bytes, scope);
}

Status Converter::Graph(std::string_view bytes, Float16Scope& scope) {
  VERNIER_TRY(CheckSupported(scope));
  names_.Plan(scope);
  const GraphFields& parts = scope.fields;
  const std::vector<WireField> fields = FieldsOf(bytes, parts.message);
  const char* first_node = nullptr;
  size_t node = 0, initializer = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    const WireField& field = fields[i];
    if (field.type != WireType::kBytes) continue;
    if (field.number == parts.node && node < scope.graph.nodes.size()) {
      if (first_node == nullptr) first_node = field.field.data();
      Float16NodeNames names = names_.NamesOf(node, scope);
      Insert(field.field.data(), std::move(names.casts_before));
      VERNIER_TRY(Node(field.content, node, scope, names));
      if (!names.casts_after.empty() && i + 1 == fields.size()) {
        return Unimplemented(
            "--fp-to-fp16: a graph ends with a node; save the model anew with onnx");
      }
      if (i + 1 < fields.size()) Insert(fields[i + 1].field.data(), std::move(names.casts_after));
      ++node;
    } else if (field.number == parts.initializer && initializer < scope.graph.initializers.size()) {
      const OnnxTensor& tensor = scope.graph.initializers[initializer++];
      if (!scope.kept.contains(tensor.name)) VERNIER_TRY(Tensor(tensor));
    } else if (field.number == parts.value_info ||
               (!scope.is_main() &&
                (field.number == parts.input || field.number == parts.output))) {
      VERNIER_TRY(Value(field, scope));
    }
  }
  if (first_node != nullptr) Insert(first_node, std::move(scope.first_casts));
  return {};
}

Status Converter::Node(std::string_view bytes, size_t index, Float16Scope& scope,
                       Float16NodeNames& names) {
  const OnnxNode& node = scope.graph.nodes[index];
  size_t input = 0, output = 0, body = 0;
  // The nodes within are looked at one by one all the same.
  const bool holds = node.subgraph_count > 0 && kept_.contains(&node);
  for (const WireField& field : FieldsOf(bytes, M::kNode)) {
    if (field.type != WireType::kBytes || field.number == 0) continue;
    if (field.number == 1 || field.number == 2) {
      const std::string& name = field.number == 1 ? names.inputs[input++] : names.outputs[output++];
      if (name == field.content) continue;
      std::string renamed;
      AppendBytesField(renamed, field.number, name);
      Replace(field.field, std::move(renamed));
    } else if (field.number == 5 && (holds || !scope.node_stays[index])) {
      VERNIER_TRY(Attribute(field, node, scope, body));
    }
  }
  if (!scope.node_stays[index]) AddMissingAttributes(bytes, node);
  return {};
}

Status Converter::Attribute(const WireField& attribute, const OnnxNode& node, Float16Scope& scope,
                            size_t& body) {
  const std::vector<WireField> fields = FieldsOf(attribute.content, M::kAttribute);
  std::string_view name;
  for (const WireField& field : fields) {
    if (field.number == 1) name = field.content;
  }
  const bool type_number = (node.op_type == "Cast" && name == "to") ||
                           (node.op_type == "SequenceEmpty" && name == "dtype") ||
                           (node.op_type == "DequantizeLinear" && name == "output_dtype");
  for (const WireField& field : fields) {
    const bool message = field.type == WireType::kBytes;
    if (field.number == 3 && type_number && field.value == kOnnxFloat)
      ReplaceNumber(field, kOnnxFloat16);
    if (message && (field.number == 5 || field.number == 10)) {
      OnnxTensor tensor;
      WireSource source(field.content);
      ParseOnnxTensor(WireReader(source, M::kTensor, field.content), tensor);
      VERNIER_TRY(Tensor(tensor));
    }
    if (message && (field.number == 6 || field.number == 11)) {
      VERNIER_TRY(Body(field.content, node, scope, body++));
    }
    if (message && field.number == 14) Type(field.content, M::kType, edit_.patches);
    if (message && (field.number == 22 || field.number == 23)) {
      return Unimplemented("--fp-to-fp16: sparse constants cannot be converted");
    }
  }
  return {};
}

Status Converter::Body(std::string_view bytes, const OnnxNode& node, Float16Scope& scope,
                       size_t body) {
  const std::span<const OnnxSubgraph> bodies = scope.graph.Subgraphs(node);
  if (body >= bodies.size()) return Unimplemented("--fp-to-fp16: a body is given in several parts");
  const OnnxGraph& graph = model_.Subgraph(bodies[body]);
  Float16Scope inner{.graph = graph,
                     .outer = &scope,
                     .types = functions_.inference().OfBody(scope.graph, node, graph, scope.types),
                     .of_kept_node = kept_.contains(&node)};
  return Graph(bytes, inner);
}

// Attributes that are float32 when they are left out.
void Converter::AddMissingAttributes(std::string_view bytes, const OnnxNode& node) {
  const bool zeros = node.op_type == "ConstantOfShape";
  const bool sequence = node.op_type == "SequenceEmpty";
  if ((!zeros && !sequence) || bytes.empty()) return;
  const std::string_view name = zeros ? "value" : "dtype";
  for (const OnnxAttribute& attribute : model_.Attributes(node)) {
    if (attribute.name == name) return;
  }
  std::string attribute, field, tensor;
  AppendBytesField(attribute, 1, name);
  if (zeros) {
    AppendVarintField(tensor, 1, 1);
    AppendVarintField(tensor, 2, kOnnxFloat16);
    AppendBytesField(tensor, 9, std::string_view("\0\0", 2));
    AppendBytesField(attribute, 5, tensor);
    AppendVarintField(attribute, 20, 4);
  } else {
    AppendVarintField(attribute, 3, kOnnxFloat16);
    AppendVarintField(attribute, 20, 2);
  }
  AppendBytesField(field, 5, attribute);
  Insert(bytes.data(), std::move(field));
}

Result<BytePieces> Converter::NarrowedValues(const OnnxTensor& tensor) const {
  BytePieces values;
  if (const auto found = detached_.find(tensor.bytes.data()); found != detached_.end()) {
    for (const BytePiece& piece : found->second->pieces()) {
      if (piece.external) {
        values.AddNarrowedExternal(*piece.external, edit_.losses);
      } else {
        values.AddNarrowedView(piece.bytes, edit_.losses);
      }
    }
    return values;
  }
  if (tensor.external) {
    const auto found = slices_.find(tensor.bytes.data());
    if (found == slices_.end()) {
      return Unimplemented("--fp-to-fp16 needs the weights that --ignore-external-data leaves out");
    }
    values.AddNarrowedExternal(*found->second, edit_.losses);
    return values;
  }
  if (tensor.raw_data.data() != nullptr) {
    values.AddNarrowedView(tensor.raw_data, edit_.losses);
    return values;
  }
  std::vector<float> floats;
  WireSource source(tensor.bytes);
  WireReader reader(source, M::kTensor, tensor.bytes);
  while (reader.Next()) {
    if (reader.field() == 4) {
      reader.AppendFloats(floats);
    } else {
      reader.Skip();
    }
  }
  std::string halfs(floats.size() * 2, '\0');
  NarrowToFloat16(std::as_bytes(std::span(floats)), reinterpret_cast<std::byte*>(halfs.data()),
                  *edit_.losses);
  values.AddOwned(std::move(halfs));
  return values;
}

Status Converter::Tensor(const OnnxTensor& tensor) {
  if (tensor.onnx_type != kOnnxFloat) return {};
  if (tensor.split) {
    return Unimplemented("--fp-to-fp16: tensor " + QuotePython(tensor.name) +
                         " is given in several parts");
  }
  VERNIER_ASSIGN_OR_RETURN(BytePieces values, NarrowedValues(tensor));
  for (const WireField& field : FieldsOf(tensor.bytes, M::kTensor)) {
    if (field.number == 2 && field.type == WireType::kVarint) ReplaceNumber(field, kOnnxFloat16);
  }
  if (values.size() > 0) edit_.values.push_back({tensor, std::move(values)});
  return {};
}

}  // namespace

Result<Float16Edit> ConvertToFloat16(const OnnxModel& model,
                                     std::span<const std::string_view> outputs,
                                     const WeightSources& sources, const Float16Kept& kept,
                                     Float16Range range) {
  return Converter(model, outputs, sources, kept, range).Convert();
}

}  // namespace vernier
