// --shape-inference, by the user's own onnx in a Python worker.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/worker/worker.h"
#include "util/log/log.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Whose rules are used.
enum class ShapeTool : uint8_t {
  kSymbolic,  ///< ONNX Runtime's, which falls back to onnx with a warning
  kOnnx
};

/// The one that the model's options name.
inline ShapeTool ToolOf(const ModelPlan& model) {
  return model.symbolic_inference ? ShapeTool::kSymbolic : ShapeTool::kOnnx;
}

struct InferredModel {
  Tensor file;  ///< the bytes of an ONNX file
  /// What to report, as Polygraphy does.
  std::vector<std::pair<Severity, std::string>> notes;
};

/// The model with the shapes that could be inferred. An inference that fails gives the model as it
/// was, and a warning. kUnavailable, with how to install it, where the interpreter has no onnx;
/// kBackend when the worker dies or its answer is malformed; kCancelled.
Result<InferredModel> InferShapes(Worker& worker, std::span<const std::byte> file, ShapeTool tool);

}  // namespace vernier
