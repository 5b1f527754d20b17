// Operators of which the values of both sides show all that they pass on.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
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

size_t Product(const Dims& dims, size_t first, size_t end) {
  size_t product = 1;
  for (size_t i = first; i < end; ++i) product *= static_cast<size_t>(dims[i]);
  return product;
}

// The axis that an attribute names; nullopt where there is no such axis.
std::optional<size_t> AxisOf(const OnnxModel& model, const OnnxNode& node, int64_t fallback,
                             const Dims& dims) {
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t given = NodeAttributes(model, node).Int("axis", fallback);
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return static_cast<size_t>(axis);
}

// The exponential of each value over their sum in its row, or the logarithm of that.
std::vector<double> SharesOfRows(const std::vector<double>& values, size_t run, bool logarithm) {
  std::vector<double> shares(values.size());
  for (size_t start = 0; start + run <= values.size() && run > 0; start += run) {
    const auto row = std::span(values).subspan(start, run);
    const double largest = std::ranges::max(row);
    double sum = 0;
    for (const double value : row) sum += std::exp(value - largest);
    for (size_t i = 0; i < run; ++i) {
      const double share = row[i] - largest - std::log(sum);
      shares[start + i] = logarithm ? share : std::exp(share);
    }
  }
  return shares;
}

// Distances from the mean of each run, over its deviation.
std::vector<double> Standardised(const std::vector<double>& values, size_t run, double epsilon) {
  std::vector<double> standard(values.size());
  const auto count = static_cast<double>(run);
  for (size_t start = 0; start + run <= values.size(); start += run) {
    double sum = 0, squares = 0;
    for (size_t i = start; i < start + run; ++i) sum += values[i];
    const double mean = sum / count;
    for (size_t i = start; i < start + run; ++i) squares += Square(values[i] - mean);
    const double deviation = std::sqrt(squares / count + epsilon);
    for (size_t i = start; i < start + run; ++i) standard[i] = (values[i] - mean) / deviation;
  }
  return standard;
}

}  // namespace

// Of a reduction, or of a pool over everything after the channels.
std::optional<std::vector<bool>> PassedDifferences::AxesOf(const OnnxNode& node, const Dims& dims) {
  if (node.op_type == "GlobalAveragePool") {
    std::vector<bool> reduced(dims.size(), true);
    std::fill_n(reduced.begin(), std::min<size_t>(2, dims.size()), false);
    return reduced;
  }
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
  return ReducedAxes(axes, dims.size());
}

// Flips of one sign add up to more than those that go either way: both sides' sums know.
std::optional<PassedOn> PassedDifferences::OfSums(const OnnxNode& node, PassedLimits limits) {
  const auto x = Find(node, 0);
  const auto reduced = x ? AxesOf(node, x->dims) : std::nullopt;
  if (!reduced) return {};
  const auto [places, groups] = PlacesOfGroups(x->dims, *reduced);
  std::vector<double> a(groups, 0), b = a;
  for (size_t i = 0; i < places.size(); ++i) {
    a[places[i]] += x->a[i];
    b[places[i]] += x->b[i];
  }
  // A factor that all sums share, as a mean has, is in their scale, too.
  PairDifferences differences;
  for (size_t i = 0; i < groups; ++i) differences.Add(a[i], b[i]);
  return differences.Take(limits.differs);
}

// The largest of each side, wherever it is.
std::optional<PassedOn> PassedDifferences::OfExtremes(const OnnxNode& node, PassedLimits limits) {
  const auto x = Find(node, 0);
  const auto reduced = x && !x->a.empty() ? AxesOf(node, x->dims) : std::nullopt;
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

// A flip changes the mean and the deviation of its run by a little, and its own place by more.
std::optional<PassedOn> PassedDifferences::OfNormalisation(const OnnxNode& node,
                                                           PassedLimits limits) {
  const auto x = Find(node, 0), scale = Find(node, 1), bias = Find(node, 2);
  const bool by_channel = node.op_type == "InstanceNormalization";
  if (!x || !scale || scale->a.empty() || (by_channel && x->dims.size() < 3)) return {};
  const auto axis = by_channel ? std::optional<size_t>(2) : AxisOf(model_, node, -1, x->dims);
  if (!axis) return {};
  const size_t run = Product(x->dims, *axis, x->dims.size());
  const size_t scales = by_channel ? static_cast<size_t>(x->dims[1]) : run;
  if (run == 0 || scale->a.size() != scales || (bias && bias->a.size() != scales)) return {};
  NodeAttributes attributes(model_, node);
  const OnnxAttribute* const given = attributes.Find("epsilon");
  const double epsilon = given != nullptr ? static_cast<double>(given->f) : 1e-5;
  const std::vector<double> a = Standardised(x->a, run, epsilon);
  const std::vector<double> b = Standardised(x->b, run, epsilon);
  PairDifferences differences;
  for (size_t i = 0; i < a.size(); ++i) {
    const size_t place = (by_channel ? i / run : i) % scales;
    differences.Add(a[i] * scale->a[place] + (bias ? bias->a[place] : 0),
                    b[i] * scale->b[place] + (bias ? bias->b[place] : 0));
  }
  return differences.Take(limits.differs);
}

double PassedDifferences::Shift(const OnnxNode& node, DType codes) {
  if (model_.graph().Inputs(node).size() < 3) return 0;
  const auto zero = Find(node, 2);
  if (zero && std::ranges::all_of(zero->a, [](double z) { return z == 0; })) return 0;
  const auto operands = Scaled(node);
  if (!operands) {
    const int bits = BitsOf(codes);
    return zero && bits > 0 ? Rms(zero->a) * kRangeInDeviations / std::exp2(bits) : 0;
  }
  double shifts = 0, values = 0;
  const auto add = [&](const double* x, const double*) {
    shifts += Square(x[1] * x[2]);
    values += Square(x[1] * (x[0] - x[2]));
  };
  if (!ForEachElement(*operands, add) || !(values > 0)) return 0;
  return std::sqrt(shifts / values);
}

double PassedDifferences::Range(const OnnxNode& node, DType codes) {
  const int bits = IsIntegral(codes) ? BitsOf(codes) : 0;
  // Sums of products are no codes: their range says nothing of the values.
  const auto scale = bits > 0 && bits <= 16 ? Find(node, 1) : std::nullopt;
  if (!scale) return 0;
  double largest = 0;
  for (const double each : scale->a) largest = std::max(largest, std::fabs(each));
  return std::exp2(bits) * largest;
}

bool PassedDifferences::IsWhole(std::string_view name, double most) {
  const auto values = operands_.Find(name);
  const auto is_whole = [&](double x) { return x == std::nearbyint(x) && std::fabs(x) <= most; };
  return values && std::ranges::all_of(values->a, is_whole) &&
         std::ranges::all_of(values->b, is_whole);
}

// Of rows that lie along the last axis, as they do in attention.
std::optional<PassedOn> PassedDifferences::OfSoftmax(const OnnxNode& node, PassedLimits limits) {
  const auto x = Find(node, 0);
  if (!x || x->dims.empty()) return {};
  const bool old = model_.opset() < 13;
  const auto axis = AxisOf(model_, node, old ? 1 : -1, x->dims);
  if (!axis || (!old && Product(x->dims, *axis + 1, x->dims.size()) != 1)) return {};
  // Before version 13 everything from the axis on is one row.
  const size_t run = Product(x->dims, *axis, x->dims.size());
  const bool logarithm = node.op_type == "LogSoftmax";
  const std::vector<double> a = SharesOfRows(x->a, run, logarithm);
  const std::vector<double> b = SharesOfRows(x->b, run, logarithm);
  PairDifferences differences;
  for (size_t i = 0; i < a.size(); ++i) differences.Add(a[i], b[i]);
  return differences.Take(limits.differs);
}

double PassedDifferences::ShareReached(const OnnxNode& node, const Operand& x, const Dims& w,
                                       const Dims& y, double limit) const {
  const std::vector<int64_t> strides = NodeAttributes(model_, node).Ints("strides");
  const bool transposed = node.op_type == "ConvTranspose";
  double readers = 1;  // of a place
  for (size_t i = 2; i < w.size(); ++i) {
    const int64_t stride = transposed || i - 2 >= strides.size() ? 1 : strides[i - 2];
    readers *= std::ceil(static_cast<double>(w[i]) / static_cast<double>(stride));
  }
  const size_t places = Product(x.dims, 2, x.dims.size());
  const auto channels = static_cast<size_t>(x.dims[1]);
  std::vector<bool> differs(static_cast<size_t>(x.dims[0]) * places, false);
  for (size_t i = 0; i < x.a.size(); ++i) {
    const size_t place = i / places / channels * places + i % places;
    if (std::fabs(x.a[i] - x.b[i]) > limit) differs[place] = true;
  }
  const auto count = static_cast<double>(std::ranges::count(differs, true));
  const auto all = static_cast<double>(Product(y, 2, y.size()) * static_cast<size_t>(y[0]));
  return all > 0 ? std::min(count * readers / all, 1.0) : 0;
}

}  // namespace vernier
