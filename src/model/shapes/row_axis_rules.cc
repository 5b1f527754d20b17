#include "model/shapes/row_axis_rules.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "model/onnx/flat_graph.h"
#include "model/onnx/operator_list.h"

namespace vernier {
namespace {

using Axis = std::optional<int64_t>;

constexpr std::string_view kAlong = "goes along the rows";
constexpr std::string_view kCombines = "combines rows";
constexpr std::string_view kNormalises = "normalises over rows";
constexpr std::string_view kPairs = "pairs each row with others";

RowState Unknown() { return {RowState::Kind::kUnknown, 0, {}}; }

RowState At(Axis axis) {
  return axis && *axis >= 0 ? RowState{RowState::Kind::kRows, *axis, {}} : Unknown();
}

// Counted from the first dimension; nullopt where that needs a rank that is not known.
Axis FromFront(int64_t axis, Axis rank) {
  if (axis >= 0) return axis;
  return rank ? Axis(axis + *rank) : std::nullopt;
}

// Does the list hold the axis? nullopt where that is not known.
std::optional<bool> Holds(const std::vector<int64_t>& axes, int64_t row, Axis rank) {
  for (const int64_t each : axes) {
    const Axis axis = FromFront(each, rank);
    if (!axis) return std::nullopt;
    if (*axis == row) return true;
  }
  return false;
}

RowState SameRows(RowStep& step, size_t /*output*/) { return At(step.AxisOf(0)); }

// The same axis in all inputs that have rows, whatever their rank is, where no other input has
// more dimensions than come before it.
RowState ElementwiseOfUnknownRank(RowStep& step) {
  Axis row;
  for (size_t i = 0; i < step.inputs().size(); ++i) {
    const Axis axis = step.AxisOf(i);
    if (axis && row && *axis != *row) return Unknown();
    if (axis) row = axis;
  }
  for (size_t i = 0; row && i < step.inputs().size(); ++i) {
    const Axis rank = step.RankOf(i);
    if (!step.AxisOf(i) && (!rank || *rank > *row + 1)) return Unknown();
  }
  return At(row);
}

// Values are combined one by one; dimensions are counted from the last one on.
RowState Elementwise(RowStep& step, size_t /*output*/) {
  if (step.inputs().size() == 1) return At(step.AxisOf(0));
  Axis distance, out_rank = 0;
  for (size_t i = 0; i < step.inputs().size(); ++i) {
    const Axis rank = step.RankOf(i);
    out_rank = out_rank && rank ? Axis(std::max(*out_rank, *rank)) : std::nullopt;
    const Axis axis = step.AxisOf(i);
    if (!axis) continue;
    if (!rank) return ElementwiseOfUnknownRank(step);
    if (distance && *distance != *rank - *axis) return step.Met(kPairs);
    distance = *rank - *axis;
  }
  if (!out_rank && step.DimsOfOutput() != nullptr) {
    out_rank = static_cast<int64_t>(step.DimsOfOutput()->size());
  }
  return distance && out_rank ? At(*out_rank - *distance) : Unknown();
}

RowState Transposed(RowStep& step, size_t /*output*/) {
  const Axis axis = step.AxisOf(0);
  if (!axis) return Unknown();
  const std::vector<int64_t> order = step.attributes().Ints("perm");
  if (order.empty()) {
    const Axis rank = step.RankOf(0);
    return rank ? At(*rank - 1 - *axis) : Unknown();
  }
  const auto place = std::find(order.begin(), order.end(), *axis);
  return place == order.end() ? Unknown() : At(place - order.begin());
}

RowState Unsqueezed(RowStep& step, size_t /*output*/) {
  const auto axes = step.Axes();
  const Axis axis = step.AxisOf(0), rank = step.RankOf(0);
  if (!axes || !axis) return Unknown();
  const Axis out_rank = rank ? Axis(*rank + static_cast<int64_t>(axes->size())) : std::nullopt;
  std::vector<int64_t> added;
  for (const int64_t each : *axes) {
    const Axis place = FromFront(each, out_rank);
    if (!place) return Unknown();
    added.push_back(*place);
  }
  std::sort(added.begin(), added.end());
  int64_t at = *axis;
  for (const int64_t place : added) at += place <= at ? 1 : 0;
  return At(at);
}

RowState Squeezed(RowStep& step, size_t /*output*/) {
  const auto axes = step.Axes();
  const Axis axis = step.AxisOf(0);
  if (!axes || !axis) return Unknown();
  int64_t at = *axis;
  for (const int64_t each : *axes) {
    const Axis place = FromFront(each, step.RankOf(0));
    if (!place || *place == *axis) return Unknown();
    at -= *place < *axis ? 1 : 0;
  }
  return At(at);
}

RowState Reduced(RowStep& step, size_t /*output*/) {
  const Axis axis = step.AxisOf(0);
  if (!axis) return Unknown();
  const bool is_index = step.node().op_type.starts_with("Arg");
  auto axes = is_index ? std::optional(std::vector{step.attributes().Int("axis", 0)}) : step.Axes();
  const bool given_elsewhere = step.inputs().size() > 1 && !is_index;
  if (!axes && given_elsewhere) return Unknown();
  if (!axes || axes->empty()) {
    return step.attributes().Int("noop_with_empty_axes", 0) != 0 ? At(axis) : step.Met(kCombines);
  }
  const Axis rank = step.RankOf(0);
  const std::optional<bool> along = Holds(*axes, *axis, rank);
  if (!along) return Unknown();
  if (*along) return step.Met(kCombines);
  if (step.attributes().Int("keepdims", 1) != 0) return At(axis);
  const auto before = std::count_if(axes->begin(), axes->end(),
                                    [&](int64_t each) { return *FromFront(each, rank) < *axis; });
  return At(*axis - before);
}

// Until opset 12, all dimensions from the axis on are one.
RowState NormalisedOver(RowStep& step, bool to_the_end, int64_t fallback) {
  const Axis axis = step.AxisOf(0);
  const Axis along = FromFront(step.attributes().Int("axis", fallback), step.RankOf(0));
  if (!axis || !along) return Unknown();
  return (to_the_end ? *axis >= *along : *axis == *along) ? step.Met(kNormalises) : At(axis);
}

RowState Softmax(RowStep& step, size_t /*output*/) {
  const bool old = step.opset() < 13;
  return NormalisedOver(step, old, old ? 1 : -1);
}

RowState LayerNormalised(RowStep& step, size_t /*output*/) {
  return NormalisedOver(step, true, -1);
}

RowState LpNormalised(RowStep& step, size_t /*output*/) { return NormalisedOver(step, false, -1); }

// (N, C, ...): each of N, and perhaps each of C, by itself.
RowState NormalisedEach(RowStep& step, size_t /*output*/) {
  const Axis axis = step.AxisOf(0);
  if (!axis) return Unknown();
  const std::string_view op = step.node().op_type;
  const bool apart =
      *axis == 0 || (op == "LRN" && *axis > 1) || (op == "InstanceNormalization" && *axis == 1);
  return apart ? At(axis) : step.Met(kNormalises);
}

RowState BatchNormalised(RowStep& step, size_t output) {
  const Axis axis = step.AxisOf(0);
  if (!axis || output > 0) return Unknown();
  const bool trains = step.attributes().Int("training_mode", 0) != 0;
  return trains && *axis != 1 ? step.Met(kNormalises) : At(axis);
}

RowState MeanVariance(RowStep& step, size_t /*output*/) {
  const Axis axis = step.AxisOf(0);
  std::vector<int64_t> axes = step.attributes().Ints("axes");
  if (axes.empty()) axes = {0, 2, 3};
  const auto along = axis ? Holds(axes, *axis, step.RankOf(0)) : std::nullopt;
  if (!along) return Unknown();
  return *along ? step.Met(kNormalises) : At(axis);
}

// The window's size along a dimension of the data.
Axis WindowAlong(RowStep& step, int64_t axis) {
  const std::vector<int64_t> kernel = step.attributes().Ints("kernel_shape");
  const auto place = static_cast<size_t>(axis - 2);
  if (place < kernel.size()) return kernel[place];
  const Dims* const weights = step.DimsOf(1);
  const auto dimension = static_cast<size_t>(axis);
  if (weights == nullptr || dimension >= weights->size()) return std::nullopt;
  return (*weights)[dimension];
}

RowState RowsOfWindows(RowStep& step, size_t /*output*/) {
  const Axis axis = step.AxisOf(0);
  if (!axis || *axis == 0) return At(axis);
  const bool pools = step.node().op_type.find("Pool") != std::string_view::npos;
  if (*axis == 1) return pools ? At(axis) : step.Met(kCombines);
  if (step.node().op_type.starts_with("Global")) return step.Met(kCombines);
  const Axis window = WindowAlong(step, *axis);
  if (!window) return Unknown();
  return *window > 1 ? step.Met(kCombines) : At(axis);
}

// X is (sequence, batch, values), or (batch, sequence, values) with `layout`.
RowState Recurrent(RowStep& step, size_t output) {
  const Axis axis = step.AxisOf(0);
  if (!axis) return Unknown();
  const bool batch_first = step.attributes().Int("layout", 0) != 0;
  const int64_t batch = batch_first ? 0 : 1;
  if (*axis != batch) return step.Met(*axis == 2 ? kCombines : kAlong);
  if (batch_first) return At(0);
  return At(output == 0 ? 2 : 1);
}

// `row` of a factor of rank `rank`, in the product of rank `out_rank`.
Axis InProduct(int64_t row, int64_t rank, int64_t out_rank) { return row + out_rank - rank; }

RowState Product(RowStep& step, size_t second) {
  const Axis a = step.AxisOf(0), b = step.AxisOf(second);
  const Axis a_rank = step.RankOf(0), b_rank = step.RankOf(second);
  if (a && a_rank && *a == *a_rank - 1) return step.Met(kCombines);
  if (b && b_rank && *b_rank >= 2 && *b == *b_rank - 2) return step.Met(kCombines);
  if (!a_rank || !b_rank || *a_rank < 2 || *b_rank < 2) return Unknown();
  const int64_t out_rank = std::max(*a_rank, *b_rank);
  const Axis of_a = a ? InProduct(*a, *a_rank, out_rank) : std::nullopt;
  const Axis of_b = b ? InProduct(*b, *b_rank, out_rank) : std::nullopt;
  if (of_a && of_b && *of_a != *of_b) return step.Met(kPairs);
  return At(of_a ? of_a : of_b);
}

RowState RowsOfMatMul(RowStep& step, size_t /*output*/) {
  return Product(step, step.node().op_type == "QLinearMatMul" ? 3 : 1);
}

RowState RowsOfGemm(RowStep& step, size_t /*output*/) {
  const Axis a = step.AxisOf(0), b = step.AxisOf(1);
  const bool a_summed = a && *a == (step.attributes().Int("transA", 0) != 0 ? 0 : 1);
  const bool b_summed = b && *b == (step.attributes().Int("transB", 0) != 0 ? 1 : 0);
  if (a_summed || b_summed) return step.Met(kCombines);
  if (a && b) return step.Met(kPairs);
  return a ? At(0) : b ? At(1) : Unknown();
}

// Along the rows it takes some, or puts others beside them; that combines none.
RowState Joined(RowStep& step, size_t /*output*/) {
  Axis row;
  for (size_t i = 0; i < step.inputs().size(); ++i) {
    const Axis axis = step.AxisOf(i);
    if (axis && row && *axis != *row) return step.Met(kPairs);
    if (axis) row = axis;
  }
  return At(row);
}

RowState Gathered(RowStep& step, size_t /*output*/) {
  const Axis axis = FromFront(step.attributes().Int("axis", 0), step.RankOf(0));
  const Axis data = step.AxisOf(0), indices = step.AxisOf(1);
  // Beams go on with the caches of others.
  if (axis && data == axis && indices) {
    RowState met = step.Met("picks rows by indices made of the inputs");
    met.picked = true;
    return met;
  }
  if (!axis || (data && indices)) return Unknown();
  if (indices) return At(*axis + *indices);
  if (!data || *data == *axis) return Unknown();
  const Axis rank = step.RankOf(1);
  if (*data < *axis) return At(data);
  return rank ? At(*data + *rank - 1) : Unknown();
}

// A dimension stays one where as much lies before it as did.
RowState Reshaped(RowStep& step, size_t /*output*/) {
  const Axis axis = step.AxisOf(0);
  if (!axis) return Unknown();
  const Dims *from = step.DimsOf(0), *to = step.DimsOfOutput();
  if (from == nullptr || to == nullptr || *axis >= static_cast<int64_t>(from->size())) {
    // Zeros keep what stands in the same place, and the number of rows leaves them in front.
    const auto shape = step.Ints(1);
    if (shape && *axis == 0 && !shape->empty() && shape->front() == kRowsAssumed) return At(0);
    const bool keeps = shape && step.attributes().Int("allowzero", 0) == 0 &&
                       static_cast<int64_t>(shape->size()) > *axis &&
                       std::all_of(shape->begin(), shape->begin() + *axis + 1,
                                   [](int64_t size) { return size == 0; });
    return keeps ? At(axis) : Unknown();
  }
  const int64_t before =
      std::accumulate(from->begin(), from->begin() + *axis, int64_t{1}, std::multiplies<>());
  const int64_t rows = (*from)[static_cast<size_t>(*axis)];
  int64_t passed = 1;
  for (size_t i = 0; i < to->size(); ++i) {
    if (passed == before && (*to)[i] == rows) return At(static_cast<int64_t>(i));
    passed *= (*to)[i];
  }
  return Unknown();
}

RowState Expanded(RowStep& step, size_t /*output*/) {
  const Axis axis = step.AxisOf(0), rank = step.RankOf(0);
  const Dims* const to = step.DimsOfOutput();
  const auto wanted = step.Ints(1);
  if (!axis || !rank || (to == nullptr && !wanted)) return Unknown();
  const auto out_rank = static_cast<int64_t>(to != nullptr ? to->size() : wanted->size());
  return At(*axis + std::max(out_rank - *rank, int64_t{0}));
}

RowState Ordered(RowStep& step, size_t /*output*/) {
  const bool sums = step.node().op_type == "CumSum";
  const auto given = sums ? step.Ints(1) : std::optional<std::vector<int64_t>>();
  if (sums && (!given || given->size() != 1)) return Unknown();
  const Axis axis = step.AxisOf(0);
  const Axis along =
      FromFront(sums ? given->front() : step.attributes().Int("axis", -1), step.RankOf(0));
  if (!axis || !along) return Unknown();
  return *axis == *along ? step.Met(kCombines) : At(axis);
}

// Images: (N, C, ...).
RowState OfImages(RowStep& step, size_t /*output*/) {
  const Axis axis = step.AxisOf(0);
  return axis && *axis == 0 ? At(0) : Unknown();
}

RowState Attention(RowStep& step, size_t /*output*/) {
  const Axis axis = step.AxisOf(0);
  if (!axis) return Unknown();
  if (*axis == 0) return At(0);
  return *axis == 1 && step.RankOf(0) == 3 ? step.Met("attends from each row to others")
                                           : Unknown();
}

RowState DynamicallyQuantised(RowStep& step, size_t /*output*/) {
  return step.Met("takes one scale for all rows", true);
}

struct RowRule {
  std::string_view operators;
  RowState (*rule)(RowStep& step, size_t output);
};

constexpr RowRule kRowRules[] = {
    {"Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr "
     "BitwiseXor Ceil Celu Cos Cosh Div Elu Equal Erf Exp FastGelu Floor Gelu Greater "
     "GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less LessOrEqual Log Max "
     "Mean Min Mish Mod Mul Neg Not Or PRelu Pow QuickGelu Reciprocal Relu Round Selu Shrink "
     "Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Sum Swish Tan Tanh ThresholdedRelu Where "
     "Xor BiasGelu",
     &Elementwise},
    {"Cast CastLike Clip DequantizeLinear Dropout Pad QuantizeLinear Slice Split Tile Trilu",
     &SameRows},
    {"Transpose", &Transposed},
    {"Unsqueeze", &Unsqueezed},
    {"Squeeze", &Squeezed},
    {"ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
     "ReduceProd ReduceSum ReduceSumSquare",
     &Reduced},
    {"Hardmax LogSoftmax Softmax", &Softmax},
    {"LayerNormalization RMSNormalization SimplifiedLayerNormalization SkipLayerNormalization",
     &LayerNormalised},
    {"LpNormalization", &LpNormalised},
    {"GroupNormalization InstanceNormalization LRN", &NormalisedEach},
    {"BatchNormalization", &BatchNormalised},
    {"MeanVarianceNormalization", &MeanVariance},
    {"AveragePool Conv ConvInteger ConvTranspose GlobalAveragePool GlobalLpPool GlobalMaxPool "
     "LpPool MaxPool QLinearConv",
     &RowsOfWindows},
    {"GRU LSTM RNN", &Recurrent},
    {"MatMul MatMulInteger MatMulIntegerToFloat QLinearMatMul", &RowsOfMatMul},
    {"Gemm", &RowsOfGemm},
    {"Concat", &Joined},
    {"Gather", &Gathered},
    {"Reshape", &Reshaped},
    {"Expand", &Expanded},
    {"CumSum TopK", &Ordered},
    {"DeformConv DepthToSpace GridSample Resize STFT SpaceToDepth Upsample", &OfImages},
    {"Attention MultiHeadAttention", &Attention},
    {"DynamicQuantizeLSTM DynamicQuantizeLinear DynamicQuantizeMatMul", &DynamicallyQuantised},
};

}  // namespace

RowState RowsAfter(RowStep& step, size_t output) {
  if (IsForeign(step.node())) return Unknown();
  for (const RowRule& row : kRowRules) {
    if (IsInOperators(row.operators, step.node().op_type)) return row.rule(step, output);
  }
  return Unknown();
}

}  // namespace vernier
