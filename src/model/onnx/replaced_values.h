// Tensors whose values are written other than the file has them.
#pragma once

#include <span>

#include "model/onnx/byte_pieces.h"
#include "model/onnx/onnx_model.h"

namespace vernier {

struct ReplacedValues {
  OnnxTensor tensor;  ///< of the model that is edited; its bytes say which
  BytePieces values;  ///< the new raw data
};

}  // namespace vernier
