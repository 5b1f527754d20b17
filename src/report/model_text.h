// An ONNX model in the words of the peer's `inspect model`.
#pragma once

#include <string>

#include "model/onnx_model.h"

namespace vernier {

struct ModelTextOptions {
  bool layers = false;
  bool attributes = false;  ///< of layers
  bool weights = false;     ///< values
  std::string external_data_dir;
};

/// The text behind "==== ONNX Model ====". Weights are read only where they are shown; one that
/// cannot be read says so in its place.
std::string FormatModel(const OnnxModel& model, const ModelTextOptions& options);

}  // namespace vernier
