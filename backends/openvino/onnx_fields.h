// Numbers of the fields of ONNX's messages, as far as the plug-in looks into a model.
#pragma once

#include <cstdint>

namespace vernier::ov {

inline constexpr uint32_t kModelGraph = 7;
inline constexpr uint32_t kGraphNode = 1, kGraphInput = 11;
inline constexpr uint32_t kNodeInput = 1, kNodeOutput = 2, kNodeAttribute = 5;
inline constexpr uint32_t kAttributeGraph = 6, kAttributeGraphs = 11;
inline constexpr uint32_t kValueName = 1, kValueType = 2;
inline constexpr uint32_t kTypeTensor = 1;
inline constexpr uint32_t kTensorShape = 2;
inline constexpr uint32_t kShapeDim = 1;
inline constexpr uint32_t kDimValue = 1;

/// The wire type of messages and names.
inline constexpr uint32_t kLengthDelimited = 2;

}  // namespace vernier::ov
