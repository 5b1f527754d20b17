#include "compare/functions/shared_non_finite.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "compare/outputs/same_bits.h"
#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "kernels/measures/difference.h"
#include "kernels/measures/products.h"

namespace vernier {
namespace {

bool HoldsBytes(const Tensor& tensor) {
  const bool floats = Kind(tensor.dtype()) == DTypeKind::kFloat && BitsOf(tensor.dtype()) >= 8;
  const auto count = static_cast<size_t>(tensor.element_count());
  return floats && tensor.bytes().size() == count * static_cast<size_t>(BitsOf(tensor.dtype())) / 8;
}

// A copy in which places can be cleared.
class Cleared {
 public:
  explicit Cleared(const Tensor& tensor)
      : item_(static_cast<size_t>(BitsOf(tensor.dtype())) / 8),
        copy_(TensorBuffer::Allocate(tensor.dtype(), tensor.dims())) {
    if (copy_.ok()) std::ranges::copy(tensor.bytes(), copy_->bytes().begin());
  }

  bool ok() const { return copy_.ok(); }
  void Clear(size_t place) { std::memset(copy_->bytes().data() + place * item_, 0, item_); }
  Tensor Take() { return std::move(*copy_).Freeze(); }

 private:
  size_t item_;
  Result<TensorBuffer> copy_;
};

// As BoundVerdict::times_over without single elements, of which some are not finite. Of those that
// few steps explain, it allows for none.
double TimesOverOfAll(const BoundVerdict& bound) {
  const auto times = [](double value, double most) {
    return value == 0 ? 0 : most > 0 ? value / most : std::numeric_limits<double>::infinity();
  };
  const double whole =
      std::max(times(bound.rms, bound.bound), times(std::fabs(bound.gain), bound.gain_bound));
  if (bound.clean_bound == 0) return whole;
  const double within = bound.within_bound > 0 ? times(bound.within, bound.within_bound) : 0;
  return std::max({whole, within, times(bound.beyond, bound.allowed)});
}

// nullopt: not known, as of a statistic of all elements.
std::optional<double> TimesOverOfRest(const SimpleResult& simple, const TensorPair& rest) {
  const auto of_elements = [](const RequiredTolerance& required) {
    return required.stat == ErrorStat::kElemwise;
  };
  if (!std::ranges::all_of(simple.required, of_elements)) return std::nullopt;
  const DifferenceRule rule = {simple.atol, simple.rtol, true, true, true};
  const Result<DifferenceSummary> elements =
      SummariseDifferences(Elements(rest.a), Elements(rest.b), rule, {});
  if (!elements.ok()) return std::nullopt;
  if (!simple.bound) return elements->worst_ratio;
  const double whole = TimesOverOfAll(*simple.bound);
  return elements->mismatches > 0 ? std::max(whole, elements->worst_ratio) : whole;
}

// Calls visit(x, y, place) for the elements of both until it returns false. True: for all of them;
// false as well where the tensors cannot be looked at side by side.
bool ForEachPair(const Tensor& a, const Tensor& b, auto visit) {
  if (!HoldsBytes(a) || !HoldsBytes(b) || a.dims() != b.dims()) return false;
  std::array<double, kBlockSize> a_scratch, b_scratch;
  const auto count = static_cast<size_t>(a.element_count());
  for (size_t begin = 0; begin < count; begin += kBlockSize) {
    const size_t n = std::min(kBlockSize, count - begin);
    const double* of_a = LoadBlock(Elements(a), static_cast<int64_t>(begin), n, a_scratch.data());
    const double* of_b = LoadBlock(Elements(b), static_cast<int64_t>(begin), n, b_scratch.data());
    for (size_t i = 0; i < n; ++i) {
      if (!visit(of_a[i], of_b[i], begin + i)) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<TensorPair> WithoutSharedNonFinite(const Tensor& a, const Tensor& b) {
  std::optional<Cleared> left, right;
  int64_t cleared = 0;
  const bool seen = ForEachPair(a, b, [&](double x, double y, size_t place) {
    const bool both_nan = std::isnan(x) && std::isnan(y);
    if (!both_nan && !(std::isinf(x) && x == y)) return true;
    if (!left) {
      left.emplace(a);
      right.emplace(b);
      if (!left->ok() || !right->ok()) return false;
    }
    left->Clear(place);
    right->Clear(place);
    ++cleared;
    return true;
  });
  if (!seen || !left) return {};
  return TensorPair{left->Take(), right->Take(), cleared};
}

std::optional<double> FailsAlike(const OutputComparison& output) {
  if (output.passed()) return std::nullopt;
  if (SameBits(output.a, output.aligned_b)) return 0;
  const std::optional<TensorPair> rest = WithoutSharedNonFinite(output.a, output.aligned_b);
  if (!rest) return std::nullopt;
  if (SameBits(rest->a, rest->b)) return 0;
  double worst = 0;
  for (const FunctionResult& result : output.functions) {
    if (result.passed()) continue;
    const auto* const simple = std::get_if<SimpleResult>(&result.data);
    const std::optional<double> times =
        simple == nullptr ? std::nullopt : TimesOverOfRest(*simple, *rest);
    if (!times || !(*times <= 1)) return std::nullopt;
    worst = std::max(worst, *times);
  }
  return worst;
}

bool FailsAlike(const IterationComparison& comparison) {
  bool any = false;
  for (const OutputComparison& output : comparison.outputs) {
    if (!output.passed() && !FailsAlike(output)) return false;
    any |= !output.passed();
  }
  return any;
}

bool HoldsNothingElse(const OutputComparison& output) {
  if (output.passed()) return false;
  const std::optional<TensorPair> rest = WithoutSharedNonFinite(output.a, output.aligned_b);
  return rest && rest->cleared == output.a.element_count();
}

std::string_view OneSidedNonFinite(const OutputComparison& output) {
  bool nan = false, infinite = false;
  ForEachPair(output.a, output.aligned_b, [&](double x, double y, size_t) {
    nan = std::isnan(x) != std::isnan(y);
    infinite |= std::isinf(x) != std::isinf(y);
    return !nan;
  });
  if (nan) return "NaN";
  return infinite ? "infinite" : "";
}

std::optional<RestError> ErrorOfRest(const OutputComparison& output) {
  if (!output.passed() || output.masked) return std::nullopt;
  const std::optional<TensorPair> rest = WithoutSharedNonFinite(output.a, output.aligned_b);
  if (!rest) return std::nullopt;
  const Result<ProductSums> sums = ComputeProductSums(Elements(rest->a), Elements(rest->b));
  if (!sums.ok()) return std::nullopt;
  const double squares = sums->difference_squared;
  const auto count = static_cast<double>(output.a.element_count() - rest->cleared);
  if (count == 0) return RestError();
  if (squares == 0) return RestError{0, 0};
  return RestError{std::scalbn(std::sqrt(squares / count), sums->exponent),
                   std::sqrt(squares / sums->b_squared)};
}

}  // namespace vernier
