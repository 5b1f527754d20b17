// An ONNX model in the words of Polygraphy's `inspect model`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "util/log/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct ModelTextOptions {
  bool layers = false;
  bool attributes = false;  ///< of layers
  bool weights = false;     ///< values
  bool statistics = false;  ///< of weights
  std::string external_data_dir;
  bool ignore_external = false;  ///< external weights are not read, which is said in their place
  std::vector<std::string>* unread = nullptr;  ///< gets the weights that could not be read, and why
};

/// The text after "==== ONNX Model ====". Weights are read only where they are shown; one that
/// cannot be read says so in its place.
std::string FormatModel(const OnnxModel& model, const ModelTextOptions& options);

/// Polygraphy's description of a model, without its nodes, under a heading.
inline void LogModel(std::string_view heading, const OnnxModel& model, Logger& log) {
  log.Info(std::string(heading) + "\n" + FormatModel(model, {}) + "\n\n");
}

/// One node, which has this name or makes a tensor of it, of the graph or of a body, with its
/// attributes and the statistics of the weights that it reads. kNotFound.
Result<std::string> FormatLayer(const OnnxModel& model, ModelTextOptions options,
                                const std::string& name);

/// The tensors that this node of the main graph reads and makes, weights left out. kNotFound, also
/// for a node of a body, whose tensors only its loop or branch has.
Result<std::vector<std::string>> TensorsOfLayer(const OnnxModel& model, const std::string& name);

/// One line: type, shape and statistics of the values that `source` has for a tensor.
std::string FormatActivation(const std::string& source, const NamedTensor& tensor);

}  // namespace vernier
