// Operators of which the values of both sides show all that they pass on.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/onnx/onnx_attributes.h"
#include "model/rounding/error_growth.h"
#include "model/rounding/pair_differences.h"
#include "model/rounding/passed_on.h"

namespace vernier {
namespace {

// Larger products take longer than the run.
constexpr double kMostProducts = 0x1p24;

// A row of one side's products, less the other's, by columns.
void AddRow(const Operand& x, const Operand& w, size_t row, bool by_rows,
            std::vector<double>& sums) {
  const auto length = static_cast<size_t>(x.dims.back());
  const size_t columns = sums.size();
  for (size_t k = 0; k < length; ++k) {
    const double a = x.a[row * length + k], b = x.b[row * length + k];
    if (a == 0 && b == 0) continue;
    for (size_t j = 0; j < columns; ++j) {
      const size_t at = by_rows ? j * length + k : k * columns + j;
      sums[j] += a * w.a[at] - b * w.b[at];
    }
  }
}

// Of which axes of an operand an operator makes one value; nullopt where that is not known.
std::optional<std::vector<bool>> ReducedAxes(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<bool> reduced(rank, axes.empty());
  for (const int64_t axis : axes) {
    const int64_t place = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
    if (place < 0 || place >= static_cast<int64_t>(rank)) return {};
    reduced[static_cast<size_t>(place)] = true;
  }
  return reduced;
}

// To which value of the output each element belongs, in order, and how many there are.
std::pair<std::vector<size_t>, size_t> PlacesOfGroups(const Dims& dims,
                                                      const std::vector<bool>& reduced) {
  std::vector<size_t> strides(dims.size(), 0);
  size_t groups = 1, count = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    const auto size = static_cast<size_t>(dims[i]);
    count *= size;
    if (reduced[i]) continue;
    strides[i] = groups;
    groups *= size;
  }
  std::vector<size_t> places(count, 0);
  for (size_t i = 0; i < count; ++i) {
    size_t rest = i;
    for (size_t axis = dims.size(); axis-- > 0;) {
      const auto size = static_cast<size_t>(dims[axis]);
      places[i] += rest % size * strides[axis];
      rest /= size;
    }
  }
  return {std::move(places), groups};
}

}  // namespace

// The largest of each side, wherever it is.
std::optional<PassedOn> PassedDifferences::OfExtremes(const OnnxNode& node, PassedLimits limits) {
  const auto x = Find(node, 0);
  if (!x || x->a.empty()) return {};
  NodeAttributes attributes(model_, node);
  const OnnxAttribute* const given = attributes.Find("axes");
  std::vector<int64_t> axes = given != nullptr ? given->ints : std::vector<int64_t>();
  const auto inputs = model_.graph().Inputs(node);
  if (inputs.size() > 1 && !inputs[1].empty()) {
    const auto read = Find(node, 1);
    if (!read) return {};
    for (const double axis : read->a) axes.push_back(static_cast<int64_t>(axis));
  }
  if (axes.empty() && attributes.Int("noop_with_empty_axes", 0) != 0) return {};
  const auto reduced = ReducedAxes(axes, x->dims.size());
  if (!reduced) return {};
  const auto [places, groups] = PlacesOfGroups(x->dims, *reduced);
  const double sign = node.op_type == "ReduceMin" ? -1 : 1;
  std::vector<double> a(groups, -std::numeric_limits<double>::infinity()), b = a;
  for (size_t i = 0; i < places.size(); ++i) {
    a[places[i]] = std::max(a[places[i]], sign * x->a[i]);
    b[places[i]] = std::max(b[places[i]], sign * x->b[i]);
  }
  PairDifferences differences;
  for (size_t i = 0; i < groups; ++i) differences.Add(a[i], b[i]);
  return differences.Take(limits.differs);
}

// The values alone, in order: they are as near as they are, whichever elements they were.
std::optional<PassedOn> PassedDifferences::OfTopValues(const OnnxNode& node, PassedLimits limits) {
  const auto x = Find(node, 0), k = Find(node, 1);
  NodeAttributes attributes(model_, node);
  if (!x || !k || k->a.size() != 1 || x->dims.empty() || attributes.Int("sorted", 1) == 0) {
    return {};
  }
  const auto reduced = ReducedAxes({attributes.Int("axis", -1)}, x->dims.size());
  if (!reduced) return {};
  const auto [places, groups] = PlacesOfGroups(x->dims, *reduced);
  std::vector<std::vector<double>> a(groups), b(groups);
  for (size_t i = 0; i < places.size(); ++i) {
    a[places[i]].push_back(x->a[i]);
    b[places[i]].push_back(x->b[i]);
  }
  const bool largest = attributes.Int("largest", 1) != 0;
  PairDifferences differences;
  for (size_t i = 0; i < groups; ++i) {
    for (std::vector<double>* side : {&a[i], &b[i]}) {
      std::ranges::sort(*side);
      if (largest) std::ranges::reverse(*side);
    }
    const size_t most = std::min(static_cast<size_t>(std::max(k->a[0], 0.0)), a[i].size());
    for (size_t j = 0; j < most; ++j) differences.Add(a[i][j], b[i][j]);
  }
  return differences.Take(limits.differs);
}

double PassedDifferences::RmsOfSums(const Operand& x, const Operand& w, bool by_rows) {
  if (w.dims.size() != 2 || x.a.empty()) return 0;
  const auto length = static_cast<size_t>(x.dims.back());
  const auto columns = static_cast<size_t>(w.dims[by_rows ? 0 : 1]);
  const size_t rows = x.a.size() / length;
  const double products = static_cast<double>(x.a.size()) * static_cast<double>(columns);
  if (products > kMostProducts || columns == 0 || w.a.size() != length * columns) return 0;
  double squares = 0;
  for (size_t row = 0; row < rows; ++row) {
    std::vector<double> sums(columns, 0);
    AddRow(x, w, row, by_rows, sums);
    for (const double sum : sums) squares += Square(sum);
  }
  const double rms = std::sqrt(squares / static_cast<double>(rows * columns));
  return std::isfinite(rms) ? rms : 0;
}

std::optional<PassedOn> PassedDifferences::OfLstm(const OnnxNode& node, size_t output,
                                                  PassedLimits limits) {
  if (lstm_ != &node) lstm_sides_ = ComputeByteLstm(model_, node, floats_, operands_);
  lstm_ = &node;
  if (!lstm_sides_ || output >= lstm_sides_->a.size()) return {};
  const std::vector<float>&a = lstm_sides_->a[output], &b = lstm_sides_->b[output];
  PairDifferences differences;
  for (size_t i = 0; i < a.size(); ++i) {
    differences.Add(static_cast<double>(a[i]), static_cast<double>(b[i]));
  }
  return differences.Take(limits.differs);
}

// The last step of a sequence, or another part, may differ by more than the whole.
std::optional<PassedOn> PassedDifferences::OfGather(const OnnxNode& node, PassedLimits limits) {
  const auto x = Find(node, 0), places = Find(node, 1);
  if (!x || !places || x->dims.empty()) return {};
  const auto rank = static_cast<int64_t>(x->dims.size());
  const int64_t given = NodeAttributes(model_, node).Int("axis", 0);
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) return {};
  const int64_t size = x->dims[static_cast<size_t>(axis)];
  size_t behind = 1;
  for (auto i = static_cast<size_t>(axis) + 1; i < x->dims.size(); ++i) {
    behind *= static_cast<size_t>(x->dims[i]);
  }
  const size_t whole = behind * static_cast<size_t>(size);
  PairDifferences differences;
  for (size_t p = 0; p < places->a.size(); ++p) {
    if (places->a[p] != places->b[p]) return {};
    auto place = static_cast<int64_t>(places->a[p]);
    if (place < 0) place += size;
    if (place < 0 || place >= size) return {};
    for (size_t start = static_cast<size_t>(place) * behind; start < x->a.size(); start += whole) {
      for (size_t i = start; i < start + behind; ++i) differences.Add(x->a[i], x->b[i]);
    }
  }
  return differences.Take(limits.differs);
}

std::optional<double> PassedDifferences::Shift(const OnnxNode& node) {
  if (model_.graph().Inputs(node).size() < 3) return 0;
  const auto zero = Find(node, 2);
  if (zero && std::ranges::all_of(zero->a, [](double z) { return z == 0; })) return 0;
  const auto operands = Scaled(node);
  if (!operands) return {};
  double shifts = 0, values = 0;
  const auto add = [&](const double* x, const double*) {
    shifts += Square(x[1] * x[2]);
    values += Square(x[1] * (x[0] - x[2]));
  };
  if (!ForEachElement(*operands, add) || !(values > 0)) return {};
  return std::sqrt(shifts / values);
}

bool PassedDifferences::IsWhole(std::string_view name, double most) {
  const auto values = operands_.Find(name);
  const auto is_whole = [&](double x) { return x == std::nearbyint(x) && std::fabs(x) <= most; };
  return values && std::ranges::all_of(values->a, is_whole) &&
         std::ranges::all_of(values->b, is_whole);
}

}  // namespace vernier
