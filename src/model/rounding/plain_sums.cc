#include "model/rounding/plain_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "model/onnx/operator_list.h"
#include "model/rounding/error_growth.h"

namespace vernier {
namespace {

// Equal terms may happen to be exact, such as powers of two: values nearby are summed as well.
constexpr std::array kFactors = {1.0F, 1.19F, 1.37F, 1.61F};

// The same terms, multiplied with each factor.
struct Sums {
  std::array<float, kFactors.size()> plain{};
  std::array<double, kFactors.size()> exact{};

  void Add(double x, SummedTerms terms) {
    for (size_t i = 0; i < kFactors.size(); ++i) {
      const float value = static_cast<float>(x) * kFactors[i];
      const float term = terms == SummedTerms::kValues       ? value
                         : terms == SummedTerms::kMagnitudes ? std::fabs(value)
                                                             : value * value;
      plain[i] += term;
      exact[i] += static_cast<double>(term);
    }
  }
};

// Which axes are summed over; nullopt where the tensor does not have them.
std::optional<std::vector<bool>> SummedAxes(size_t rank, std::span<const int64_t> axes) {
  std::vector<bool> summed(rank, axes.empty());
  for (const int64_t axis : axes) {
    const int64_t place = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
    if (place < 0 || place >= static_cast<int64_t>(rank)) return {};
    summed[static_cast<size_t>(place)] = true;
  }
  return summed;
}

// In the order in which the elements lie.
std::vector<Sums> SumUp(const Tensor& x, const std::vector<bool>& summed, SummedTerms terms) {
  const Dims& dims = x.dims();
  const size_t last = dims.size() - 1;
  std::vector<size_t> steps(dims.size());
  size_t count = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (summed[axis]) continue;
    steps[axis] = count;
    count *= static_cast<size_t>(dims[axis]);
  }
  std::vector<Sums> sums(count);
  std::vector<double> row(static_cast<size_t>(dims[last]));
  Dims place(dims.size());
  size_t target = 0;
  const ElementSpan elements = Elements(x);
  for (int64_t start = 0; start < elements.count; start += dims[last]) {
    const double* values = LoadBlock(elements, start, row.size(), row.data());
    for (size_t i = 0; i < row.size(); ++i) sums[target + i * steps[last]].Add(values[i], terms);
    for (size_t axis = last; axis-- > 0;) {
      target += steps[axis];
      if (++place[axis] < dims[axis]) break;
      target -= steps[axis] * static_cast<size_t>(dims[axis]);
      place[axis] = 0;
    }
  }
  return sums;
}

// With that factor.
double ErrorOf(const std::vector<Sums>& sums, size_t factor, SummedTerms terms) {
  double errors = 0, squares = 0;
  for (const Sums& sum : sums) {
    double plain = static_cast<double>(sum.plain[factor]), exact = sum.exact[factor];
    if (terms == SummedTerms::kSquaresToRoot) {
      plain = std::sqrt(plain);
      exact = std::sqrt(exact);
    }
    errors += Square(plain - exact);
    squares += Square(exact);
  }
  const double error = squares > 0 ? std::sqrt(errors / squares) : 0;
  return std::isfinite(error) ? error : 0;
}

}  // namespace

std::optional<SummedTerms> SummedBy(std::string_view op_type) {
  if (IsInOperators("ReduceSum ReduceMean GlobalAveragePool", op_type)) return SummedTerms::kValues;
  if (op_type == "ReduceL1") return SummedTerms::kMagnitudes;
  if (op_type == "ReduceSumSquare") return SummedTerms::kSquares;
  if (IsInOperators("ReduceL2 GlobalLpPool", op_type)) return SummedTerms::kSquaresToRoot;
  return {};
}

double PlainSumError(const Tensor& x, std::span<const int64_t> axes, SummedTerms terms) {
  const auto summed = SummedAxes(x.dims().size(), axes);
  const bool known = IsFloat(x.dtype()) && x.element_count() > 0 && !x.bytes().empty();
  if (!known || x.dims().empty() || !summed) return 0;
  const std::vector<Sums> sums = SumUp(x, *summed, terms);
  double largest = 0;
  for (size_t factor = 0; factor < kFactors.size(); ++factor) {
    largest = std::max(largest, ErrorOf(sums, factor, terms));
  }
  return largest;
}

}  // namespace vernier
