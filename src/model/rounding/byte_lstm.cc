#include "model/rounding/byte_lstm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "model/onnx/onnx_attributes.h"

namespace vernier {
namespace {

// The inputs of the operator, in its order.
enum LstmInput : size_t { kX, kW, kR, kB, kLengths, kState, kCell, kPeepholes, kWScale };
constexpr size_t kInputs = 12;
constexpr size_t kGates = 4;
// Products of both sides, directions and all steps: seconds.
constexpr double kMostProducts = 0x1p32;
// Sums that are computed together, and rows that are added to them at a time.
constexpr size_t kLanes = 16;
constexpr size_t kRows = 4;

size_t RoundUp(size_t count, size_t to) { return (count + to - 1) / to * to; }

// Rows of inputs, columns of gates; padded with zeros.
struct GateWeights {
  size_t rows = 0, columns = 0;
  std::vector<float> values;
};

// sums += x times weights, for padded x and sums.
void AddProducts(const float* x, const GateWeights& weights, float* sums) {
  for (size_t k = 0; k < weights.rows; k += kRows) {
    const float* const row = weights.values.data() + k * weights.columns;
    const float x0 = x[k], x1 = x[k + 1], x2 = x[k + 2], x3 = x[k + 3];
    for (size_t j = 0; j < weights.columns; j += kLanes) {
      const float* const w0 = row + j;
      const float* const w1 = w0 + weights.columns;
      const float* const w2 = w1 + weights.columns;
      const float* const w3 = w2 + weights.columns;
      for (size_t l = 0; l < kLanes; ++l) {
        sums[j + l] += x0 * w0[l] + x1 * w1[l] + x2 * w2[l] + x3 * w3[l];
      }
    }
  }
}

// As DynamicQuantizeLinear and DequantizeLinear would.
void RoundToBytes(std::span<float> values) {
  constexpr float kCodes = 255;
  float low = 0, high = 0;
  for (const float value : values) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const float scale = (high - low) / kCodes;
  if (!(scale > 0)) return;
  const float zero = std::nearbyint(std::clamp(-low / scale, 0.0F, kCodes));
  for (float& value : values) {
    const float code = std::clamp(std::nearbyint(value / scale) + zero, 0.0F, kCodes);
    value = (code - zero) * scale;
  }
}

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

struct LstmSizes {
  size_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 0;
  size_t columns() const { return RoundUp(kGates * hidden, kLanes); }
};

struct LstmDirection {
  GateWeights w, r;
  std::vector<float> bias;
  bool backwards = false;
};

using LstmOperands = std::array<std::optional<Operand>, kInputs>;

bool HasDims(const std::optional<Operand>& operand, const Dims& dims) {
  return operand && operand->dims == dims;
}

// Weights of a direction, which have one scale and zero point or one for each column.
std::optional<GateWeights> Dequantise(const LstmOperands& in, size_t which, size_t direction,
                                      const LstmSizes& sizes) {
  const size_t columns = kGates * sizes.hidden;
  const size_t rows = which == kW ? sizes.inputs : sizes.hidden;
  const std::optional<Operand>& scales = in[kWScale + (which == kW ? 0 : 2)];
  const std::optional<Operand>& zeros = in[kWScale + (which == kW ? 1 : 3)];
  if (!scales || scales->a.size() % sizes.directions != 0) return {};
  const size_t each = scales->a.size() / sizes.directions;
  if ((each != 1 && each != columns) || (zeros && zeros->a.size() != scales->a.size())) return {};
  GateWeights weights{RoundUp(rows, kRows), sizes.columns(), {}};
  weights.values.assign(weights.rows * weights.columns, 0);
  const double* codes = in[which]->a.data() + direction * rows * columns;
  for (size_t i = 0; i < rows * columns; ++i) {
    const size_t column = i % columns;
    const size_t place = direction * each + (each == 1 ? 0 : column);
    const double value = (codes[i] - (zeros ? zeros->a[place] : 0)) * scales->a[place];
    weights.values[i / columns * weights.columns + column] = static_cast<float>(value);
  }
  return weights;
}

std::optional<LstmDirection> DirectionOf(const LstmOperands& in, size_t direction,
                                         const LstmSizes& sizes, std::string_view name) {
  auto w = Dequantise(in, kW, direction, sizes), r = Dequantise(in, kR, direction, sizes);
  if (!w || !r) return {};
  const bool backwards = name == "reverse" || direction == 1;
  LstmDirection made{*std::move(w), *std::move(r), {}, backwards};
  const size_t columns = kGates * sizes.hidden;
  made.bias.assign(sizes.columns(), 0);
  for (size_t i = 0; in[kB] && i < columns; ++i) {
    const double* own = in[kB]->a.data() + direction * 2 * columns;
    made.bias[i] = static_cast<float>(own[i] + own[columns + i]);
  }
  return made;
}

// Rows of values, each padded to whole groups of kRows.
std::vector<float> PaddedRows(std::span<const double> values, size_t length) {
  const size_t padded = RoundUp(length, kRows);
  std::vector<float> rows(values.size() / length * padded, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    rows[i / length * padded + i % length] = static_cast<float>(values[i]);
  }
  return rows;
}

// One side and direction.
class LstmRun {
 public:
  LstmRun(const LstmSizes& sizes, const LstmDirection& weights, bool rounds)
      : sizes_(sizes), weights_(weights), rounds_(rounds) {}

  void Start(std::span<const double> x, std::span<const double> state,
             std::span<const double> cell) {
    x_ = PaddedRows(x, sizes_.inputs);
    if (rounds_) RoundToBytes(x_);
    cell_.assign(cell.begin(), cell.end());
    const size_t count = sizes_.batch * sizes_.hidden;
    cell_.resize(count, 0);
    std::vector<double> first(state.begin(), state.end());
    first.resize(count, 0);
    state_ = PaddedRows(first, sizes_.hidden);
  }

  void Step(size_t step) {
    std::vector<float> read = state_;
    if (rounds_) RoundToBytes(read);
    std::vector<float> sums;
    for (size_t row = 0; row < sizes_.batch; ++row) {
      sums = weights_.bias;
      const size_t place = step * sizes_.batch + row;
      AddProducts(x_.data() + place * weights_.w.rows, weights_.w, sums.data());
      AddProducts(read.data() + row * weights_.r.rows, weights_.r, sums.data());
      PassGates(row, sums);
    }
  }

  float State(size_t row, size_t i) const { return state_[row * weights_.r.rows + i]; }
  float Cell(size_t row, size_t i) const { return cell_[row * sizes_.hidden + i]; }

 private:
  // The order is that of ONNX: input, output, forget, cell.
  void PassGates(size_t row, std::span<const float> sums) {
    const size_t hidden = sizes_.hidden;
    for (size_t i = 0; i < hidden; ++i) {
      float& cell = cell_[row * hidden + i];
      cell =
          Sigmoid(sums[2 * hidden + i]) * cell + Sigmoid(sums[i]) * std::tanh(sums[3 * hidden + i]);
      state_[row * weights_.r.rows + i] = Sigmoid(sums[hidden + i]) * std::tanh(cell);
    }
  }

  const LstmSizes& sizes_;
  const LstmDirection& weights_;
  const bool rounds_;
  std::vector<float> x_, state_, cell_;
};

std::span<const double> StateOf(const std::optional<Operand>& operand, bool of_b, size_t direction,
                                size_t count) {
  if (!operand) return {};
  const std::vector<double>& values = of_b ? operand->b : operand->a;
  return std::span(values).subspan(direction * count, count);
}

void RunDirection(const LstmOperands& in, const LstmSizes& sizes, const LstmDirection& weights,
                  size_t direction, bool of_b, bool rounds, LstmOutputs& outputs) {
  const size_t count = sizes.batch * sizes.hidden;
  LstmRun run(sizes, weights, rounds);
  run.Start(of_b ? in[kX]->b : in[kX]->a, StateOf(in[kState], of_b, direction, count),
            StateOf(in[kCell], of_b, direction, count));
  for (size_t i = 0; i < sizes.steps; ++i) {
    const size_t step = weights.backwards ? sizes.steps - 1 - i : i;
    run.Step(step);
    float* y = outputs[0].data() + (step * sizes.directions + direction) * count;
    for (size_t k = 0; k < count; ++k) y[k] = run.State(k / sizes.hidden, k % sizes.hidden);
  }
  for (size_t k = 0; k < count; ++k) {
    outputs[1][direction * count + k] = run.State(k / sizes.hidden, k % sizes.hidden);
    outputs[2][direction * count + k] = run.Cell(k / sizes.hidden, k % sizes.hidden);
  }
}

bool HasOnlyKnownAttributes(NodeAttributes& attributes) {
  for (const std::string_view name : {"activations", "activation_alpha", "activation_beta", "clip"})
    if (attributes.Find(name) != nullptr) return false;
  return attributes.Int("input_forget", 0) == 0;
}

std::optional<LstmSizes> SizesOf(const LstmOperands& in) {
  if (!in[kX] || !in[kW] || !in[kR] || in[kX]->dims.size() != 3 || in[kR]->dims.size() != 3) {
    return {};
  }
  const Dims &x = in[kX]->dims, &r = in[kR]->dims;
  const int64_t gates = static_cast<int64_t>(kGates) * r[1];
  const bool states = (!in[kState] || HasDims(in[kState], {r[0], x[1], r[1]})) &&
                      (!in[kCell] || HasDims(in[kCell], {r[0], x[1], r[1]}));
  const bool fits = HasDims(in[kW], {r[0], x[2], gates}) && HasDims(in[kR], {r[0], r[1], gates}) &&
                    (!in[kB] || HasDims(in[kB], {r[0], 2 * gates}));
  if (!states || !fits || in[kX]->a.empty() || in[kR]->a.empty() || r[0] > 2) return {};
  const auto size = [](int64_t dim) { return static_cast<size_t>(dim); };
  return LstmSizes{size(x[0]), size(x[1]), size(x[2]), size(r[1]), size(r[0])};
}

// Nothing where an input that is given is not known.
std::optional<LstmOperands> ReadInputs(const OnnxModel& model, const OnnxNode& node,
                                       OperandFinder& operands) {
  const auto names = model.graph().Inputs(node);
  LstmOperands in;
  for (size_t i = 0; i < std::min(names.size(), kInputs); ++i) {
    if (names[i].empty()) continue;
    if (i == kLengths || i == kPeepholes) return {};
    in[i] = operands.Find(names[i]);
    if (!in[i]) return {};
  }
  return in;
}

bool TakesTooLong(const LstmSizes& sizes) {
  const double each =
      static_cast<double>(sizes.inputs + sizes.hidden) * static_cast<double>(kGates * sizes.hidden);
  const double times = 2 * static_cast<double>(sizes.directions * sizes.batch);
  return each * times * static_cast<double>(sizes.steps) > kMostProducts;
}

}  // namespace

std::optional<LstmSides> ComputeByteLstm(const OnnxModel& model, const OnnxNode& node,
                                         FloatsWithin floats, OperandFinder& operands) {
  NodeAttributes attributes(model, node);
  if (!HasOnlyKnownAttributes(attributes)) return {};
  const auto in = ReadInputs(model, node, operands);
  const auto sizes = in ? SizesOf(*in) : std::nullopt;
  if (!sizes || TakesTooLong(*sizes)) return {};
  const size_t states = sizes->directions * sizes->batch * sizes->hidden;
  LstmSides sides;
  for (LstmOutputs* outputs : {&sides.a, &sides.b}) {
    (*outputs)[0].resize(sizes->steps * states);
    (*outputs)[1].resize(states);
    (*outputs)[2].resize(states);
  }
  for (size_t i = 0; i < sizes->directions; ++i) {
    const auto weights = DirectionOf(*in, i, *sizes, attributes.Text("direction"));
    if (!weights) return {};
    RunDirection(*in, *sizes, *weights, i, false, !floats.a, sides.a);
    RunDirection(*in, *sizes, *weights, i, true, !floats.b, sides.b);
  }
  return sides;
}

}  // namespace vernier
