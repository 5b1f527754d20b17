// Whether a quantiser's range and step fit the values that it rounds.
#pragma once

#include <optional>
#include <string>

#include "blame/graph/blame_graph.h"
#include "blame/sides/island_bench.h"
#include "model/onnx/onnx_model.h"
#include "vernier/tensor.h"

namespace vernier {

/// What a quantiser can hold, in the units of its input.
struct QuantiserRange {
  double low = 0;
  double high = 0;
  double step = 0;
};

/// Of a QuantizeLinear to integers whose scale and zero point are initializers, one for the whole
/// tensor; absent for all others.
std::optional<QuantiserRange> RangeOf(const OnnxGraph& graph, const OnnxNode& node);

/// "clips 43 % of its values: it holds 0 to 1.41, they are 0 to 7.06", or that the values fill few
/// of its steps; empty where neither is so, and for tensors that are no floats.
std::string DescribeMisfit(const QuantiserRange& range, const Tensor& values);

/// The same for all quantisers of an island whose output is wrong, with their names. `reference`
/// has what the reference computed, by the candidate's names.
std::string DescribeMisfits(const BlameGraph& graph, const Island& island,
                            const TensorSource& reference);

}  // namespace vernier
