#include "check/extremes/extreme_counts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "compare/functions/vacuous.h"
#include "inputs/extreme_values.h"
#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"

namespace vernier {
namespace {

// What an element is, as far as this check goes.
enum class Class : uint8_t { kOther, kZero, kDenormal, kPlusInf, kMinusInf, kNan };

// Finite values that are farther apart than this share of the larger one are other values, whatever
// rounding did; sums that cancel may be, too, so that they are reported and no verdict.
constexpr double kAnotherValue = 0.01;

struct Element {
  double value;
  Class kind;
};

Class Classify(double value, double smallest_normal) {
  if (std::isnan(value)) return Class::kNan;
  if (std::isinf(value)) return value > 0 ? Class::kPlusInf : Class::kMinusInf;
  if (value == 0) return Class::kZero;
  return std::fabs(value) < smallest_normal ? Class::kDenormal : Class::kOther;
}

bool IsFinite(Class c) { return c < Class::kPlusInf; }

// The elements of a float tensor, of which one block is there at a time.
class ElementBlock {
 public:
  explicit ElementBlock(const Tensor& tensor)
      : elements_(Elements(tensor)), smallest_normal_(SmallestNormal(tensor.dtype())) {}

  void Load(int64_t begin, size_t size) {
    values_ = LoadBlock(elements_, begin, size, scratch_.data());
  }

  Element operator[](size_t i) const {
    return {values_[i], Classify(values_[i], smallest_normal_)};
  }

 private:
  ElementSpan elements_;
  double smallest_normal_;
  const double* values_ = nullptr;
  std::array<double, kBlockSize> scratch_{};
};

// Calls `take` with the elements of float tensors that have as many of them, place by place.
template <typename Take, typename... Tensors>
void ForEachElement(const Take& take, const Tensor& first, const Tensors&... others) {
  const auto walk = [&take, count = first.element_count()](auto... blocks) {
    for (int64_t begin = 0; begin < count; begin += static_cast<int64_t>(kBlockSize)) {
      const auto size =
          static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(kBlockSize), count - begin));
      (blocks.Load(begin, size), ...);
      for (size_t i = 0; i < size; ++i) take(blocks[i]...);
    }
  };
  walk(ElementBlock(first), ElementBlock(others)...);
}

bool IsFloat(const Tensor& tensor) { return Kind(tensor.dtype()) == DTypeKind::kFloat; }
bool IsString(const Tensor& tensor) { return Kind(tensor.dtype()) == DTypeKind::kString; }
bool IsComplex(const Tensor& tensor) { return Kind(tensor.dtype()) == DTypeKind::kComplex; }

bool IsAnotherValue(const Element& a, const Element& b) {
  const bool both = a.kind == Class::kOther || b.kind == Class::kOther;
  if (!both || !IsFinite(a.kind) || !IsFinite(b.kind)) return false;
  const double larger = std::max(std::fabs(a.value), std::fabs(b.value));
  // Halves, so that the difference of large ones is finite.
  return std::fabs(a.value / 2 - b.value / 2) > kAnotherValue / 2 * larger;
}

void HoldElement(const Element& a, const Element& b, ExtremeAnswer& answer) {
  const Class here = a.kind, there = b.kind;
  answer.other_value += IsAnotherValue(a, b) ? 1 : 0;
  answer.only_here_not_finite += !IsFinite(here) && IsFinite(there) ? 1 : 0;
  answer.only_here_finite += IsFinite(here) && !IsFinite(there) ? 1 : 0;
  answer.other_kind += !IsFinite(here) && !IsFinite(there) && here != there ? 1 : 0;
  answer.flushed += here == Class::kZero && there == Class::kDenormal ? 1 : 0;
  answer.kept += here == Class::kDenormal && there == Class::kZero ? 1 : 0;
  const bool zeros = here == Class::kZero && there == Class::kZero;
  answer.other_sign += zeros && std::signbit(a.value) != std::signbit(b.value) ? 1 : 0;
}

// Of tensors of one type whose elements are whole bytes; integers of 64 bits are no doubles.
int64_t CountOtherBytes(const Tensor& a, const Tensor& b) {
  const auto count = static_cast<size_t>(a.element_count());
  const size_t item = a.bytes().size() / count;
  int64_t others = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto at = [&](const Tensor& tensor) { return tensor.bytes().subspan(i * item, item); };
    others += std::ranges::equal(at(a), at(b)) ? 0 : 1;
  }
  return others;
}

// Integers, booleans and strings that are not equal.
int64_t CountOthers(const Tensor& a, const Tensor& b) {
  int64_t others = 0;
  if (IsString(a)) {
    for (int64_t i = 0; i < a.element_count(); ++i) {
      others += a.StringAt(i) == b.StringAt(i) ? 0 : 1;
    }
    return others;
  }
  const auto bytes = static_cast<int64_t>(a.bytes().size());
  if (a.element_count() == 0) return 0;
  if (a.dtype() == b.dtype() && bytes % a.element_count() == 0) return CountOtherBytes(a, b);
  const auto count = [&others](const Element& ours, const Element& theirs) {
    others += ours.value == theirs.value ? 0 : 1;
  };
  ForEachElement(count, a, b);
  return others;
}

void HoldFloats(const NamedTensor& output, const Tensor& other, ExtremeAnswer& answer) {
  const bool agreed = !answer.disagrees();
  const auto hold = [&answer](const Element& ours, const Element& theirs) {
    HoldElement(ours, theirs, answer);
  };
  ForEachElement(hold, output.tensor, other);
  if (agreed && answer.disagrees()) answer.output = output.name;
}

bool CanBeHeld(const Tensor& a, const Tensor& b) {
  return a.dims() == b.dims() && IsFloat(a) == IsFloat(b) && IsString(a) == IsString(b) &&
         !IsComplex(a) && !IsComplex(b);
}

}  // namespace

void CountElements(const TensorMap& outputs, ExtremeAnswer& answer) {
  for (const NamedTensor& output : outputs) {
    answer.elements += output.tensor.element_count();
    if (IsString(output.tensor) || IsComplex(output.tensor)) continue;
    const auto count = [&answer](const Element& element) {
      const Class c = element.kind;
      answer.nan += c == Class::kNan ? 1 : 0;
      answer.infinite += c == Class::kPlusInf || c == Class::kMinusInf ? 1 : 0;
      answer.denormal += c == Class::kDenormal ? 1 : 0;
      answer.zero += c == Class::kZero ? 1 : 0;
    };
    ForEachElement(count, output.tensor);
  }
}

void HoldAgainstFirst(const TensorMap& first, const TensorMap& outputs, ExtremeAnswer& answer,
                      ExtremeCoverage& coverage) {
  for (const NamedTensor& output : outputs) {
    const Tensor* other = Find(first, output.name);
    if (other == nullptr || !CanBeHeld(*other, output.tensor)) {
      answer.not_compared.push_back(output.name);
      continue;
    }
    answer.compared += output.tensor.element_count();
    OutputCoverage& covered = coverage[output.name];
    std::string why = VacuousBecause(*other, output.tensor);
    covered.shows |= why.empty();
    covered.why = std::move(why);
    if (IsFloat(output.tensor)) {
      HoldFloats(output, *other, answer);
    } else {
      answer.other_exact += CountOthers(output.tensor, *other);
    }
  }
  for (const NamedTensor& output : first) {
    if (Find(outputs, output.name) == nullptr) answer.not_compared.push_back(output.name);
  }
}

}  // namespace vernier
