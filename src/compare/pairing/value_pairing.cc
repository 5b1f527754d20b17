#include "compare/pairing/value_pairing.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "core/shape_match.h"
#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

using ComplexNumber = std::complex<double>;

// Orders of axes that are tried: those of four axes, none of length 1.
constexpr size_t kMostAxisOrders = 24;

struct SquareSums {
  double a = 0, b = 0, difference = 0;
};

// Complex numbers serve for all types; NaN and infinity stay in the sums, which end where that of
// the differences is above `most`.
SquareSums SumSquares(const Tensor& a, const Tensor& b, double most = HUGE_VAL) {
  std::vector<ComplexNumber> a_block(kBlockSize), b_block(kBlockSize);
  SquareSums sums;
  const ElementSpan left = Elements(a), right = Elements(b);
  for (int64_t start = 0; start < left.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, left.count - start));
    const ComplexNumber* x = LoadBlock(left, start, n, a_block.data());
    const ComplexNumber* y = LoadBlock(right, start, n, b_block.data());
    for (size_t i = 0; i < n; ++i) {
      sums.a += std::norm(x[i]);
      sums.b += std::norm(y[i]);
      sums.difference += std::norm(x[i] - y[i]);
    }
    if (sums.difference > most) break;
  }
  return sums;
}

// nullopt: a value is not finite, or their squares are not, or the sum of the squared differences
// is above `most`.
std::optional<double> ErrorBetween(const Tensor& a, const Tensor& b, double most = HUGE_VAL) {
  const SquareSums sums = SumSquares(a, b, most);
  if (sums.difference > most) return std::nullopt;
  const double larger = std::max(sums.a, sums.b);
  if (!std::isfinite(sums.a) || !std::isfinite(sums.b)) return std::nullopt;
  return larger > 0 ? std::sqrt(sums.difference / larger) : 0;
}

// All orders of B's axes that give A's shape. Axes of length 1 keep theirs among themselves: what
// they are called moves no element.
class AxisOrders {
 public:
  AxisOrders(const Dims& wanted, const Dims& dims)
      : wanted_(wanted), dims_(dims), used_(dims.size(), false) {
    if (wanted.size() == dims.size()) Extend();
  }

  const std::vector<std::vector<size_t>>& found() const { return found_; }

 private:
  void Extend() {
    if (found_.size() == kMostAxisOrders) return;
    if (order_.size() == wanted_.size()) {
      found_.push_back(order_);
      return;
    }
    const int64_t length = wanted_[order_.size()];
    for (size_t axis = 0; axis < dims_.size(); ++axis) {
      if (used_[axis] || dims_[axis] != length) continue;
      used_[axis] = true;
      order_.push_back(axis);
      Extend();
      order_.pop_back();
      used_[axis] = false;
      if (length == 1) return;
    }
  }

  const Dims& wanted_;
  const Dims& dims_;
  std::vector<bool> used_;
  std::vector<size_t> order_;
  std::vector<std::vector<size_t>> found_;
};

bool IsComparable(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.element_count() == b.element_count() &&
         a.element_count() > 0 && NaturalArithmetic(a.dtype()) != Arithmetic::kString &&
         NaturalArithmetic(a.dtype()) != Arithmetic::kNone;
}

// Does it have two values that differ, and none that is not finite?
bool HasFiniteVariety(const Tensor& tensor) {
  if (tensor.element_count() < 2 || !IsComparable(tensor, tensor)) return false;
  const ElementSpan span = Elements(tensor);
  std::vector<ComplexNumber> block(kBlockSize);
  std::optional<ComplexNumber> first;
  bool varies = false;
  for (int64_t start = 0; start < span.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, span.count - start));
    const ComplexNumber* x = LoadBlock(span, start, n, block.data());
    if (!first) first = x[0];
    for (size_t i = 0; i < n; ++i) {
      if (!std::isfinite(x[i].real()) || !std::isfinite(x[i].imag())) return false;
      varies = varies || x[i] != *first;
    }
  }
  return varies;
}

std::vector<bool> WhoDecides(const TensorMap& outputs, std::span<const size_t> chosen) {
  std::vector<bool> decides;
  for (const size_t index : chosen) decides.push_back(HasFiniteVariety(outputs[index].tensor));
  return decides;
}

using Distances = std::vector<std::vector<std::optional<ValueDistance>>>;

double ShareWithin(const Tensor& a, const Tensor& b, double tolerance) {
  std::vector<ComplexNumber> a_block(kBlockSize), b_block(kBlockSize);
  const ElementSpan left = Elements(a), right = Elements(b);
  int64_t equal = 0;
  for (int64_t start = 0; start < left.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, left.count - start));
    const ComplexNumber* x = LoadBlock(left, start, n, a_block.data());
    const ComplexNumber* y = LoadBlock(right, start, n, b_block.data());
    for (size_t i = 0; i < n; ++i) equal += std::abs(x[i] - y[i]) <= tolerance ? 1 : 0;
  }
  return static_cast<double>(equal) / static_cast<double>(left.count);
}

// The only one that is near in a row or a column; nullopt where there is none.
template <typename At>
std::optional<size_t> NearestOf(size_t count, const At& at) {
  std::optional<size_t> nearest;
  double least = 0, next = HUGE_VAL;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<ValueDistance>& distance = at(i);
    if (!distance) continue;
    const double error = distance->error;
    if (!nearest || error < least) {
      if (nearest) next = least;
      nearest = i;
      least = error;
    } else {
      next = std::min(next, error);
    }
  }
  const bool alone =
      least <= kMostPairError && next > kMostPairError && next >= kPairMargin * least;
  return nearest && alone ? nearest : std::nullopt;
}

std::string PaddedTo(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

// `most` as of ErrorBetween.
std::optional<ValueDistance> LeastDistance(const Tensor& a, const Tensor& b, double most) {
  if (!IsComparable(a, b)) return std::nullopt;
  const AxisOrders orders(a.dims(), b.dims());
  if (a.dims() == b.dims() || orders.found().empty()) {
    const std::optional<double> error = ErrorBetween(a, b, most);
    return error ? std::optional(ValueDistance{*error, {}}) : std::nullopt;
  }
  std::optional<ValueDistance> best;
  for (const std::vector<size_t>& order : orders.found()) {
    const Result<Tensor> permuted = Transpose(b, order);
    const std::optional<double> error =
        permuted.ok() ? ErrorBetween(a, *permuted, most) : std::optional<double>();
    if (error && (!best || *error < best->error)) best = ValueDistance{*error, order};
  }
  return best;
}

}  // namespace

std::optional<ValueDistance> DistanceOfValues(const Tensor& a, const Tensor& b) {
  return LeastDistance(a, b, HUGE_VAL);
}

std::optional<ValueDistance> DistanceWithin(const Tensor& a, const ValueSummary& a_values,
                                            const Tensor& b, const ValueSummary& b_values) {
  if (LeastErrorBetween(a_values, b_values) > kMostPairError) return std::nullopt;
  const double larger = kMostPairError * std::max(a_values.rms, b_values.rms);
  return LeastDistance(a, b, larger * larger * static_cast<double>(a.element_count()));
}

ValueSummary SummariseValues(const Tensor& tensor) {
  if (!IsComparable(tensor, tensor)) return {};
  const ElementSpan span = Elements(tensor);
  std::vector<ComplexNumber> block(kBlockSize);
  double sum = 0, squares = 0;
  for (int64_t start = 0; start < span.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, span.count - start));
    const ComplexNumber* x = LoadBlock(span, start, n, block.data());
    for (size_t i = 0; i < n; ++i) {
      sum += x[i].real();
      squares += std::norm(x[i]);
    }
  }
  const auto count = static_cast<double>(span.count);
  return {sum / count, std::sqrt(squares / count), HasFiniteVariety(tensor)};
}

double LeastErrorBetween(const ValueSummary& a, const ValueSummary& b) {
  const double larger = std::max(a.rms, b.rms);
  if (!(larger > 0)) return 0;
  return std::max(std::abs(a.rms - b.rms), std::abs(a.mean - b.mean)) / larger;
}

std::optional<ValueShare> ShareOfEqualValues(const Tensor& a, const Tensor& b) {
  if (!IsComparable(a, b)) return std::nullopt;
  const double rms = SummariseValues(b).rms;
  if (!std::isfinite(rms)) return std::nullopt;
  const double tolerance = kEqualElements * rms;
  const AxisOrders orders(a.dims(), b.dims());
  if (a.dims() == b.dims() || orders.found().empty())
    return ValueShare{ShareWithin(a, b, tolerance), {}};
  std::optional<ValueShare> best;
  for (const std::vector<size_t>& order : orders.found()) {
    const Result<Tensor> permuted = Transpose(b, order);
    if (!permuted.ok()) continue;
    const double equal = ShareWithin(a, *permuted, tolerance);
    if (!best || equal > best->equal) best = ValueShare{equal, order};
  }
  return best;
}

ValuePairing PairByValue(const TensorMap& a, std::span<const size_t> rows, const TensorMap& b,
                         std::span<const size_t> columns) {
  ValuePairing pairing{{rows.begin(), rows.end()}, {columns.begin(), columns.end()}, {}, {}};
  Distances distances;
  for (const size_t i : rows) {
    auto& row = distances.emplace_back();
    auto& errors = pairing.errors.emplace_back();
    for (const size_t j : columns) {
      row.push_back(DistanceOfValues(a[i].tensor, b[j].tensor));
      errors.push_back(row.back() ? std::optional(row.back()->error) : std::nullopt);
    }
  }
  const std::vector<bool> a_decides = WhoDecides(a, rows), b_decides = WhoDecides(b, columns);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto in_row = [&](size_t j) -> const auto& { return distances[i][j]; };
    const std::optional<size_t> j = NearestOf(columns.size(), in_row);
    if (!j || !a_decides[i] || !b_decides[*j]) continue;
    const auto in_column = [&](size_t k) -> const auto& { return distances[k][*j]; };
    if (NearestOf(rows.size(), in_column) != i) continue;
    pairing.pairs.push_back({rows[i], columns[*j], *distances[i][*j]});
  }
  return pairing;
}

std::string ValuePairing::Table(const TensorMap& a, const TensorMap& b) const {
  std::vector<std::vector<std::string>> cells = {{"e"}};
  for (const size_t j : columns) cells[0].push_back(b[j].name);
  for (size_t i = 0; i < rows.size(); ++i) {
    auto& row = cells.emplace_back(std::vector<std::string>{a[rows[i]].name});
    for (const auto& error : errors[i]) row.push_back(error ? FormatG(*error, 3) : "-");
  }
  std::vector<size_t> widths(cells[0].size(), 0);
  for (const auto& row : cells) {
    for (size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
  }
  std::string text;
  for (const auto& row : cells) {
    std::string line = "   ";
    for (size_t k = 0; k < row.size(); ++k) line += " " + PaddedTo(row[k], widths[k] + 1);
    line.erase(line.find_last_not_of(' ') + 1);
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

}  // namespace vernier
