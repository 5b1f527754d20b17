#include "model/rounding/near_ties.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "model/onnx/onnx_attributes.h"

namespace vernier {
namespace {

// Of a mask: values whose scale is beyond this many times that of the best ones say nothing of the
// errors of these.
constexpr double kMostOfBest = 100;

// NaN is last, whatever is chosen.
void Load(const ElementSpan& elements, int64_t start, double sign, std::vector<double>& values) {
  const double* loaded = LoadBlock(elements, start, values.size(), values.data());
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = sign * loaded[i];
    values[i] = std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  }
}

class MeanSquare {
 public:
  void Add(double value) {
    if (!std::isfinite(value)) return;
    squares_ += value * value;
    ++count_;
  }
  double root() const {
    return std::sqrt(squares_ / static_cast<double>(std::max<int64_t>(count_, 1)));
  }

 private:
  double squares_ = 0;
  int64_t count_ = 0;
};

// The rows along an axis, in descending order as far as it is looked at.
struct BestOfRows {
  std::vector<double> best;  // of one row after the other
  MeanSquare all;            // of all values
  MeanSquare firsts;         // of the best ones, of rows that are not all the same
};

struct RowSizes {
  int64_t length;
  int64_t inner;  // elements between neighbours
  double sign;    // -1: the smallest values are chosen
  int64_t taken;  // of each row
  size_t looked_at;
};

BestOfRows FindBest(const Tensor& tensor, const RowSizes& sizes) {
  const ElementSpan elements = Elements(tensor);
  const int64_t slab = sizes.length * sizes.inner;
  std::vector<double> values(static_cast<size_t>(slab)), row(static_cast<size_t>(sizes.length));
  std::vector<double> best(sizes.looked_at);
  BestOfRows found;
  for (int64_t first = 0; first < elements.count; first += slab) {
    Load(elements, first, sizes.sign, values);
    for (const double value : values) found.all.Add(value);
    for (int64_t lane = 0; lane < sizes.inner; ++lane) {
      for (int64_t i = 0; i < sizes.length; ++i) {
        row[static_cast<size_t>(i)] = values[static_cast<size_t>(lane + i * sizes.inner)];
      }
      std::partial_sort_copy(row.begin(), row.end(), best.begin(), best.end(), std::greater<>());
      found.best.insert(found.best.end(), best.begin(), best.end());
      if (best.front() != best.back()) found.firsts.Add(best.front());
    }
  }
  return found;
}

// A mask of large finite values hides the scale of the others, but is never the best of a row that
// has others. Where all best ones are zero (of what is beside its maximum), they are no scale.
double ScaleOf(const BestOfRows& rows) {
  const double all = rows.all.root();
  const double best = rows.firsts.root();
  return best > 0 ? std::min(all, kMostOfBest * best) : all;
}

bool Tie(double a, double b, double scale, double error) {
  if (!std::isfinite(a) || !std::isfinite(b)) return a == b;
  return std::fabs(a - b) <= 2 * error * std::max({scale, std::fabs(a), std::fabs(b)});
}

// Of a row in descending order, how many of the first `picked` have a neighbour that is as good.
int64_t CountTied(std::span<const double> row, size_t picked, double scale, double error) {
  const auto ties = [&](size_t i) { return Tie(row[i], row[i + 1], scale, error); };
  int64_t tied = 0;
  for (size_t i = 0; i < picked; ++i) {
    const bool before = i > 0 && ties(i - 1);
    tied += before || (i + 1 < row.size() && ties(i)) ? 1 : 0;
  }
  return tied;
}

std::optional<RowSizes> SizesOf(const OnnxModel& model, const OnnxNode& node, const Tensor& values,
                                int64_t places) {
  const Dims& dims = values.dims();
  const bool floats = Kind(values.dtype()) == DTypeKind::kFloat;
  if (!floats || values.bytes().empty() || dims.empty()) return std::nullopt;
  NodeAttributes attributes(model, node);
  const bool top = node.op_type == "TopK";
  const auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = attributes.Int("axis", top ? -1 : 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  const bool smallest = node.op_type == "ArgMin" || attributes.Int("largest", 1) == 0;
  const int64_t length = dims[static_cast<size_t>(axis)];
  int64_t inner = 1;
  for (size_t i = static_cast<size_t>(axis) + 1; i < dims.size(); ++i) inner *= dims[i];
  if (length == 0) return std::nullopt;
  const int64_t each = places * length / std::max<int64_t>(values.element_count(), 1);
  const int64_t taken = std::clamp<int64_t>(top ? each : 1, 1, length);
  // One more than is taken: the first that is not may be as good.
  const auto looked_at = static_cast<size_t>(std::min(taken + 1, length));
  return RowSizes{length, inner, smallest ? -1.0 : 1.0, taken, looked_at};
}

// The places of one row, and the values that they were chosen from.
struct ChosenRow {
  std::vector<double> first, second;
  std::vector<double> values;
};

// What the first side took of a row, by place.
std::vector<std::pair<double, double>> TakenOf(const ChosenRow& row) {
  std::vector<std::pair<double, double>> taken;
  for (size_t i = 0; i < row.first.size(); ++i) taken.emplace_back(row.first[i], row.values[i]);
  std::sort(taken.begin(), taken.end());
  return taken;
}

void CountRow(const ChosenRow& row, const ChosenFromValues& from, double scale,
              OtherPlaces& count) {
  if (row.first == row.second) return;
  std::vector<double> sorted = row.second;
  std::sort(sorted.begin(), sorted.end());
  const auto taken = from.all ? std::vector<std::pair<double, double>>() : TakenOf(row);
  // Of what the first side did not take, where no other values are known, the best it can have.
  const auto value_at = [&](double place) {
    if (from.all) return row.values[static_cast<size_t>(place)];
    const auto at = std::lower_bound(taken.begin(), taken.end(), std::pair(place, -HUGE_VAL));
    return at != taken.end() && at->first == place ? at->second : row.values.back();
  };
  const auto length = static_cast<double>(row.values.size());
  for (size_t i = 0; i < row.first.size(); ++i) {
    const double ours = row.first[i], theirs = row.second[i];
    if (ours == theirs) continue;
    ++count.differ;
    const auto [begin, end] = std::equal_range(sorted.begin(), sorted.end(), theirs);
    const bool outside = theirs < 0 || (from.all && std::max(ours, theirs) >= length);
    const bool right =
        end - begin == 1 && !outside && Tie(value_at(ours), value_at(theirs), scale, from.error);
    count.wrong += right ? 0 : 1;
  }
}

}  // namespace

bool IsChoice(std::string_view op_type, size_t output) {
  return (op_type == "TopK" && output == 1) ||
         ((op_type == "ArgMax" || op_type == "ArgMin") && output == 0);
}

double NearTies(const OnnxModel& model, const OnnxNode& node, const Tensor& values, int64_t places,
                double error) {
  const std::optional<RowSizes> sizes = SizesOf(model, node, values, places);
  if (!sizes) return 0;
  const BestOfRows rows = FindBest(values, *sizes);
  const double scale = ScaleOf(rows);
  const auto taken = static_cast<size_t>(sizes->taken);
  int64_t tied = 0;
  for (size_t at = 0; at < rows.best.size(); at += sizes->looked_at) {
    tied += CountTied(std::span(rows.best).subspan(at, sizes->looked_at), taken, scale, error);
  }
  const size_t looked = rows.best.size() / sizes->looked_at * taken;
  return looked > 0 ? static_cast<double>(tied) / static_cast<double>(looked) : 0;
}

std::optional<OtherPlaces> CountOtherPlaces(const OnnxModel& model, const OnnxNode& node,
                                            const ChosenFromValues& from, const Tensor& first,
                                            const Tensor& second) {
  const Tensor& values = from.values;
  const int64_t places = first.element_count();
  const std::optional<RowSizes> sizes = SizesOf(model, node, values, places);
  const bool held = !first.bytes().empty() && !second.bytes().empty();
  if (!sizes || !held || second.element_count() != places) return std::nullopt;
  const int64_t rows = values.element_count() / sizes->length;
  if (rows * sizes->taken != places || NodeAttributes(model, node).Int("sorted", 1) == 0) {
    return std::nullopt;
  }
  const double scale = ScaleOf(FindBest(values, *sizes));
  const auto slab_of = [&](const Tensor& tensor, int64_t row, int64_t length, double sign) {
    std::vector<double> slab(static_cast<size_t>(length * sizes->inner));
    const ElementSpan elements = Elements(tensor);
    Load(elements, row * length, sign, slab);
    return slab;
  };
  const auto lane_of = [&](const std::vector<double>& slab, int64_t lane) {
    std::vector<double> row;
    const auto inner = static_cast<size_t>(sizes->inner);
    for (auto i = static_cast<size_t>(lane); i < slab.size(); i += inner) row.push_back(slab[i]);
    return row;
  };
  OtherPlaces count;
  for (int64_t row = 0; row < rows; row += sizes->inner) {
    const std::vector<double> ours = slab_of(first, row, sizes->taken, 1);
    const std::vector<double> theirs = slab_of(second, row, sizes->taken, 1);
    if (ours == theirs) continue;
    const std::vector<double> all = slab_of(values, row, sizes->length, sizes->sign);
    for (int64_t lane = 0; lane < sizes->inner; ++lane) {
      CountRow({lane_of(ours, lane), lane_of(theirs, lane), lane_of(all, lane)}, from, scale,
               count);
    }
  }
  return count;
}

}  // namespace vernier
