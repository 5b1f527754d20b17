// The shape of ONNX's protobuf messages: which fields are messages, and what they are called. It
// drives the walk that checks a file, the editor that rewrites length prefixes, and the field names
// in error messages. Source: onnx.proto of IR version 13.
#pragma once

#include <cstdint>
#include <string_view>

namespace vernier {

enum class OnnxMessage : uint8_t {
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSegment,
  kSparseTensor,
  kValueInfo,
  kType,
  kTensorType,
  kSequenceType,
  kMapType,
  kOptionalType,
  kSparseTensorType,
  kOpaqueType,
  kShape,
  kDimension,
  kOperatorSet,
  kEntry,  ///< StringStringEntryProto
  kTensorAnnotation,
  kFunction,
  kTrainingInfo,
  kDeviceConfiguration,
  kNodeDeviceConfiguration,
  kShardingSpec,
  kShardedDim,
  kSimpleShardedDim,
  kIntIntListEntry,
};

/// What a length-delimited value of a field holds.
enum class OnnxField : uint8_t {
  kScalar,       ///< a number; packed when it is length-delimited and repeated
  kBytes,        ///< text, or bytes that are never looked into (weights)
  kMessage,      ///< a message of the type `child`
  kPackedWord,   ///< packed four-byte numbers
  kPackedLong,   ///< packed eight-byte numbers
  kPackedVarint  ///< packed varints
};

struct OnnxFieldInfo {
  uint32_t number;
  std::string_view name;
  OnnxField kind;
  OnnxMessage child = OnnxMessage::kModel;
};

/// "NodeProto"
std::string_view MessageName(OnnxMessage message);

/// The row of a field, or nullptr for one that ONNX does not define.
const OnnxFieldInfo* FindField(OnnxMessage message, uint32_t number);

}  // namespace vernier
