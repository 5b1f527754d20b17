// Parts of a model that do not depend on its inputs, computed once and kept as weights.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "model/onnx/onnx_model.h"
#include "util/log/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// What is tried when a part cannot be computed.
enum class FoldPartitions : uint8_t {
  kNone,       ///< nothing: the whole graph stays as it is
  kBasic,      ///< each wanted tensor by itself
  kRecursive,  ///< and of those that fail, what they are computed from
};

struct FoldOptions {
  bool shapes = true;  ///< sizes of tensors that are known count as constants
  FoldPartitions partitions = FoldPartitions::kNone;
  std::optional<uint64_t> size_threshold;  ///< bytes; larger tensors are not folded
};

/// Computes the outputs of a model without inputs.
using ConstantEvaluator = std::function<Result<TensorMap>(const OnnxModel& part)>;

/// One pass over the model and the bodies of its control flow: Constant nodes become initializers,
/// and so does what depends on constants alone; an If with a constant condition becomes its branch;
/// what is then unused goes. Never folded are random numbers, quantisation, and operators of other
/// domains. A part that cannot be computed is a warning. Bodies of functions stay as they are.
/// Errors: those of RewriteGraphs, kCancelled and kUnavailable of the evaluator.
Result<OnnxModel> FoldConstants(const OnnxModel& model, const FoldOptions& options,
                                const ConstantEvaluator& evaluate, Logger& logger);

/// The steps of a pass that need no evaluator.
Result<OnnxModel> ConstantsAsInitializers(const OnnxModel& model);
Result<OnnxModel> KnownSizesAsInitializers(const OnnxModel& model);
Result<OnnxModel> WithoutConstantConditions(const OnnxModel& model);

/// A TensorProto with these values.
Result<std::string> MakeInitializer(std::string_view name, const Tensor& values);

}  // namespace vernier
