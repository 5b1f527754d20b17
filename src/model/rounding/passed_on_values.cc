// Operators of which the values of both sides show all that they pass on.
#include <algorithm>
#include <cmath>

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

}  // namespace

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

}  // namespace vernier
