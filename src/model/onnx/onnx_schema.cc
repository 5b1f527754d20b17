#include "model/onnx/onnx_schema.h"

#include <array>
#include <span>

namespace vernier {
namespace {

using enum OnnxField;
using M = OnnxMessage;
using Field = OnnxFieldInfo;

constexpr Field kModelFields[] = {
    {1, "ir_version", kScalar},
    {8, "opset_import", kMessage, M::kOperatorSet},
    {2, "producer_name", kBytes},
    {3, "producer_version", kBytes},
    {4, "domain", kBytes},
    {5, "model_version", kScalar},
    {6, "doc_string", kBytes},
    {7, "graph", kMessage, M::kGraph},
    {14, "metadata_props", kMessage, M::kEntry},
    {20, "training_info", kMessage, M::kTrainingInfo},
    {25, "functions", kMessage, M::kFunction},
    {26, "configuration", kMessage, M::kDeviceConfiguration},
};
constexpr Field kGraphFields[] = {
    {1, "node", kMessage, M::kNode},
    {5, "initializer", kMessage, M::kTensor},
    {13, "value_info", kMessage, M::kValueInfo},
    {11, "input", kMessage, M::kValueInfo},
    {12, "output", kMessage, M::kValueInfo},
    {2, "name", kBytes},
    {10, "doc_string", kBytes},
    {14, "quantization_annotation", kMessage, M::kTensorAnnotation},
    {15, "sparse_initializer", kMessage, M::kSparseTensor},
    {16, "metadata_props", kMessage, M::kEntry},
};
constexpr Field kNodeFields[] = {
    {1, "input", kBytes},
    {2, "output", kBytes},
    {3, "name", kBytes},
    {4, "op_type", kBytes},
    {5, "attribute", kMessage, M::kAttribute},
    {7, "domain", kBytes},
    {6, "doc_string", kBytes},
    {8, "overload", kBytes},
    {9, "metadata_props", kMessage, M::kEntry},
    {10, "device_configurations", kMessage, M::kNodeDeviceConfiguration},
};
constexpr Field kAttributeFields[] = {
    {1, "name", kBytes},
    {20, "type", kScalar},
    {2, "f", kScalar},
    {3, "i", kScalar},
    {4, "s", kBytes},
    {5, "t", kMessage, M::kTensor},
    {6, "g", kMessage, M::kGraph},
    {7, "floats", kPackedWord},
    {8, "ints", kPackedVarint},
    {9, "strings", kBytes},
    {10, "tensors", kMessage, M::kTensor},
    {11, "graphs", kMessage, M::kGraph},
    {13, "doc_string", kBytes},
    {14, "tp", kMessage, M::kType},
    {15, "type_protos", kMessage, M::kType},
    {21, "ref_attr_name", kBytes},
    {22, "sparse_tensor", kMessage, M::kSparseTensor},
    {23, "sparse_tensors", kMessage, M::kSparseTensor},
};
// The values of int32_data, int64_data and uint64_data are weights, so they count as bytes.
constexpr Field kTensorFields[] = {
    {1, "dims", kPackedVarint},
    {2, "data_type", kScalar},
    {3, "segment", kMessage, M::kSegment},
    {4, "float_data", kPackedWord},
    {5, "int32_data", kBytes},
    {6, "string_data", kBytes},
    {7, "int64_data", kBytes},
    {8, "name", kBytes},
    {9, "raw_data", kBytes},
    {10, "double_data", kPackedLong},
    {11, "uint64_data", kBytes},
    {12, "doc_string", kBytes},
    {13, "external_data", kMessage, M::kEntry},
    {14, "data_location", kScalar},
    {16, "metadata_props", kMessage, M::kEntry},
};
constexpr Field kSegmentFields[] = {{1, "begin", kScalar}, {2, "end", kScalar}};
constexpr Field kSparseTensorFields[] = {
    {1, "values", kMessage, M::kTensor},
    {2, "indices", kMessage, M::kTensor},
    {3, "dims", kPackedVarint},
};
constexpr Field kValueInfoFields[] = {
    {1, "name", kBytes},
    {2, "type", kMessage, M::kType},
    {3, "doc_string", kBytes},
    {4, "metadata_props", kMessage, M::kEntry},
};
constexpr Field kTypeFields[] = {
    {1, "tensor_type", kMessage, M::kTensorType},
    {4, "sequence_type", kMessage, M::kSequenceType},
    {5, "map_type", kMessage, M::kMapType},
    {6, "denotation", kBytes},
    {7, "opaque_type", kMessage, M::kOpaqueType},
    {8, "sparse_tensor_type", kMessage, M::kSparseTensorType},
    {9, "optional_type", kMessage, M::kOptionalType},
};
constexpr Field kTensorTypeFields[] = {
    {1, "elem_type", kScalar},
    {2, "shape", kMessage, M::kShape},
};
constexpr Field kElementTypeFields[] = {{1, "elem_type", kMessage, M::kType}};
constexpr Field kMapTypeFields[] = {
    {1, "key_type", kScalar},
    {2, "value_type", kMessage, M::kType},
};
constexpr Field kOpaqueTypeFields[] = {{1, "domain", kBytes}, {2, "name", kBytes}};
constexpr Field kShapeFields[] = {{1, "dim", kMessage, M::kDimension}};
constexpr Field kDimensionFields[] = {
    {1, "dim_value", kScalar},
    {2, "dim_param", kBytes},
    {3, "denotation", kBytes},
};
constexpr Field kOperatorSetFields[] = {{1, "domain", kBytes}, {2, "version", kScalar}};
constexpr Field kEntryFields[] = {{1, "key", kBytes}, {2, "value", kBytes}};
constexpr Field kTensorAnnotationFields[] = {
    {1, "tensor_name", kBytes},
    {2, "quant_parameter_tensor_names", kMessage, M::kEntry},
};
constexpr Field kFunctionFields[] = {
    {1, "name", kBytes},
    {4, "input", kBytes},
    {5, "output", kBytes},
    {6, "attribute", kBytes},
    {7, "node", kMessage, M::kNode},
    {8, "doc_string", kBytes},
    {9, "opset_import", kMessage, M::kOperatorSet},
    {10, "domain", kBytes},
    {11, "attribute_proto", kMessage, M::kAttribute},
    {12, "value_info", kMessage, M::kValueInfo},
    {13, "overload", kBytes},
    {14, "metadata_props", kMessage, M::kEntry},
};
constexpr Field kTrainingInfoFields[] = {
    {1, "initialization", kMessage, M::kGraph},
    {2, "algorithm", kMessage, M::kGraph},
    {3, "initialization_binding", kMessage, M::kEntry},
    {4, "update_binding", kMessage, M::kEntry},
};
constexpr Field kDeviceConfigurationFields[] = {
    {1, "name", kBytes},
    {2, "num_devices", kScalar},
    {3, "device", kBytes},
};
constexpr Field kNodeDeviceConfigurationFields[] = {
    {1, "configuration_id", kBytes},
    {2, "sharding_spec", kMessage, M::kShardingSpec},
    {3, "pipeline_stage", kScalar},
};
constexpr Field kShardingSpecFields[] = {
    {1, "tensor_name", kBytes},
    {2, "device", kPackedVarint},
    {3, "index_to_device_group_map", kMessage, M::kIntIntListEntry},
    {4, "sharded_dim", kMessage, M::kShardedDim},
};
constexpr Field kShardedDimFields[] = {
    {1, "axis", kScalar},
    {2, "simple_sharding", kMessage, M::kSimpleShardedDim},
};
constexpr Field kSimpleShardedDimFields[] = {
    {1, "dim_value", kScalar},
    {2, "dim_param", kBytes},
    {3, "num_shards", kScalar},
};
constexpr Field kIntIntListEntryFields[] = {{1, "key", kScalar}, {2, "value", kPackedVarint}};

struct Schema {
  std::string_view name;
  std::span<const Field> fields;
};

// In the order of OnnxMessage.
constexpr std::array<Schema, 28> kSchemas = {{
    {"ModelProto", kModelFields},
    {"GraphProto", kGraphFields},
    {"NodeProto", kNodeFields},
    {"AttributeProto", kAttributeFields},
    {"TensorProto", kTensorFields},
    {"TensorProto.Segment", kSegmentFields},
    {"SparseTensorProto", kSparseTensorFields},
    {"ValueInfoProto", kValueInfoFields},
    {"TypeProto", kTypeFields},
    {"TypeProto.Tensor", kTensorTypeFields},
    {"TypeProto.Sequence", kElementTypeFields},
    {"TypeProto.Map", kMapTypeFields},
    {"TypeProto.Optional", kElementTypeFields},
    {"TypeProto.SparseTensor", kTensorTypeFields},
    {"TypeProto.Opaque", kOpaqueTypeFields},
    {"TensorShapeProto", kShapeFields},
    {"TensorShapeProto.Dimension", kDimensionFields},
    {"OperatorSetIdProto", kOperatorSetFields},
    {"StringStringEntryProto", kEntryFields},
    {"TensorAnnotation", kTensorAnnotationFields},
    {"FunctionProto", kFunctionFields},
    {"TrainingInfoProto", kTrainingInfoFields},
    {"DeviceConfigurationProto", kDeviceConfigurationFields},
    {"NodeDeviceConfigurationProto", kNodeDeviceConfigurationFields},
    {"ShardingSpecProto", kShardingSpecFields},
    {"ShardedDimProto", kShardedDimFields},
    {"SimpleShardedDimProto", kSimpleShardedDimFields},
    {"IntIntListEntryProto", kIntIntListEntryFields},
}};
static_assert(kSchemas.size() == static_cast<size_t>(OnnxMessage::kIntIntListEntry) + 1);

}  // namespace

std::string_view MessageName(OnnxMessage message) {
  return kSchemas[static_cast<size_t>(message)].name;
}

const OnnxFieldInfo* FindField(OnnxMessage message, uint32_t number) {
  for (const Field& field : kSchemas[static_cast<size_t>(message)].fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

}  // namespace vernier
