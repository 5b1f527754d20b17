#include "model/rounding/near_ties.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "kernels/element_blocks.h"
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
  size_t looked_at;
};

BestOfRows FindBest(const Tensor& tensor, double sign, const RowSizes& sizes) {
  const ElementSpan elements{tensor.dtype(), tensor.bytes(), tensor.element_count()};
  const int64_t slab = sizes.length * sizes.inner;
  std::vector<double> values(static_cast<size_t>(slab)), row(static_cast<size_t>(sizes.length));
  std::vector<double> best(sizes.looked_at);
  BestOfRows found;
  for (int64_t first = 0; first < elements.count; first += slab) {
    Load(elements, first, sign, values);
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

// Of a row in descending order, how many of the first `picked` have a neighbour that is as good.
int64_t CountTied(std::span<const double> row, size_t picked, double scale, double error) {
  const auto ties = [&](size_t i) {
    const double a = row[i], b = row[i + 1];
    if (!std::isfinite(a) || !std::isfinite(b)) return a == b;
    return a == b || a - b <= 2 * error * std::max({scale, std::fabs(a), std::fabs(b)});
  };
  int64_t tied = 0;
  for (size_t i = 0; i < picked; ++i) {
    const bool before = i > 0 && ties(i - 1);
    tied += before || (i + 1 < row.size() && ties(i)) ? 1 : 0;
  }
  return tied;
}

}  // namespace

bool IsChoice(std::string_view op_type, size_t output) {
  return (op_type == "TopK" && output == 1) ||
         ((op_type == "ArgMax" || op_type == "ArgMin") && output == 0);
}

double NearTies(const OnnxModel& model, const OnnxNode& node, const Tensor& values, int64_t places,
                double error) {
  const Dims& dims = values.dims();
  if (Kind(values.dtype()) != DTypeKind::kFloat || values.bytes().empty() || dims.empty()) return 0;
  NodeAttributes attributes(model, node);
  const bool top = node.op_type == "TopK";
  const auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = attributes.Int("axis", top ? -1 : 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return 0;
  const bool smallest = node.op_type == "ArgMin" || attributes.Int("largest", 1) == 0;
  const int64_t length = dims[static_cast<size_t>(axis)];
  int64_t inner = 1;
  for (size_t i = static_cast<size_t>(axis) + 1; i < dims.size(); ++i) inner *= dims[i];
  if (length == 0) return 0;
  const int64_t each = places * length / std::max<int64_t>(values.element_count(), 1);
  const auto taken = static_cast<size_t>(std::clamp<int64_t>(top ? each : 1, 1, length));
  // One more than is taken: the first that is not may be as good.
  const size_t looked_at = std::min(taken + 1, static_cast<size_t>(length));
  const BestOfRows rows = FindBest(values, smallest ? -1 : 1, {length, inner, looked_at});
  const double scale = ScaleOf(rows);
  int64_t tied = 0;
  for (size_t at = 0; at < rows.best.size(); at += looked_at) {
    tied += CountTied(std::span(rows.best).subspan(at, looked_at), taken, scale, error);
  }
  const size_t looked = rows.best.size() / looked_at * taken;
  return looked > 0 ? static_cast<double>(tied) / static_cast<double>(looked) : 0;
}

}  // namespace vernier
