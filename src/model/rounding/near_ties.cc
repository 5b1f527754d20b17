#include "model/rounding/near_ties.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/element_blocks.h"
#include "model/onnx/onnx_attributes.h"

namespace vernier {
namespace {

// NaN is last, whatever is chosen.
std::vector<double> LoadAll(const Tensor& tensor, double sign) {
  const ElementSpan elements{tensor.dtype(), tensor.bytes(), tensor.element_count()};
  std::vector<double> values(static_cast<size_t>(elements.count));
  const double* loaded = LoadBlock(elements, 0, values.size(), values.data());
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = sign * loaded[i];
    values[i] = std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  }
  return values;
}

double ScaleOf(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += std::isfinite(value) ? value * value : 0;
  return std::sqrt(squares / static_cast<double>(std::max<size_t>(values.size(), 1)));
}

// Of a row in descending order, how many of the first `picked` have a neighbour that is as good.
int64_t CountTied(const std::vector<double>& row, size_t picked, double scale, double error) {
  const auto ties = [&](size_t i) {
    const double a = row[i], b = row[i + 1];
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
  const std::vector<double> all = LoadAll(values, smallest ? -1 : 1);
  const double scale = ScaleOf(all);
  const int64_t length = dims[static_cast<size_t>(axis)];
  int64_t inner = 1;
  for (size_t i = static_cast<size_t>(axis) + 1; i < dims.size(); ++i) inner *= dims[i];
  if (length == 0) return 0;
  const int64_t each = places * length / std::max<int64_t>(values.element_count(), 1);
  const auto taken = static_cast<size_t>(std::clamp<int64_t>(top ? each : 1, 1, length));
  // One more than is taken: the first that is not may be as good.
  const size_t looked_at = std::min(taken + 1, static_cast<size_t>(length));
  std::vector<double> row(static_cast<size_t>(length)), best(looked_at);
  int64_t tied = 0, looked = 0;
  for (int64_t first = 0; first < values.element_count(); first += length * inner) {
    for (int64_t lane = 0; lane < inner; ++lane) {
      for (int64_t i = 0; i < length; ++i) {
        row[static_cast<size_t>(i)] = all[static_cast<size_t>(first + lane + i * inner)];
      }
      std::partial_sort_copy(row.begin(), row.end(), best.begin(), best.end(), std::greater<>());
      tied += CountTied(best, taken, scale, error);
      looked += static_cast<int64_t>(taken);
    }
  }
  return looked > 0 ? static_cast<double>(tied) / static_cast<double>(looked) : 0;
}

}  // namespace vernier
