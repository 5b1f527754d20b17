// Models without the values of their weights, for engines that are refitted: which weights go, and
// stand-ins for those that went.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "util/log/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// How a stripped initializer is marked, in its doc_string: behind the slash kSparseMark, if it was
/// 2:4 sparse.
inline constexpr std::string_view kWeightlessMark = "TRT_WEIGHTLESS";
inline constexpr std::string_view kSparseMark = "SPARSE_2_4";

/// The initializers of the main graph whose values may go, by Polygraphy's patterns: inputs of
/// Conv, ConvTranspose, Gemm, MatMul, Gather and Slice, what is quantised or transposed before
/// these, and what operators read that ONNX does not have. Small ones of Gather, Slice and the
/// latter stay, and so do unsigned bytes. Names in `exclude` stay, and are taken out of it.
std::unordered_set<std::string_view> FindStrippable(const OnnxModel& model,
                                                    std::set<std::string>& exclude);

/// The model with these initializers emptied and marked, and marked itself if there are any. Each
/// has a field of raw values then, for PatchValues.
Result<OnnxModel> WithoutValues(const OnnxModel& model,
                                const std::unordered_set<std::string_view>& weights,
                                const std::unordered_set<std::string_view>& sparse);

/// An initializer that was marked.
struct StrippedWeight {
  const OnnxTensor* tensor;
  bool sparse = false;
};
std::vector<StrippedWeight> FindStripped(const OnnxModel& model);

/// Values from a normal distribution, the same for the same name. kUnimplemented for types that no
/// number can be cast to; kMalformed for a shape that makes no sense.
Result<Tensor> StandIn(const OnnxTensor& tensor);

}  // namespace vernier
