// In which numbers a pair of real arrays is compared when all is done in float or double. Internal
// to kernels.
#pragma once

#include "kernels/measures/difference_dispatch.h"
#include "kernels/measures/pair_source.h"
#include "vernier/dtype.h"

namespace vernier {

inline bool IsReal(DType dtype) {
  const DTypeKind kind = Kind(dtype);
  return kind != DTypeKind::kString && kind != DTypeKind::kComplex && kind != DTypeKind::kNone;
}
inline bool IsLongInteger(DType dtype) { return dtype == DType::kInt64 || dtype == DType::kUint64; }

/// The arithmetic of a pair, as SummariseDifferences has it.
struct PairArithmetic {
  bool in_float = false;
  PairRules rules;
  DType absolute = DType::kFloat64;
  DType relative = DType::kFloat64;
};

inline PairArithmetic ArithmeticOf(DType a, DType b, const DifferenceRule& rule) {
  PairArithmetic out;
  out.rules.checks_a = IsLongInteger(a);
  out.rules.checks_b = IsLongInteger(b);
  out.rules.infinities_equal = rule.infinities_equal;
  out.rules.zeros = Kind(b) == DTypeKind::kFloat ? ZeroRule::kReplace : ZeroRule::kDivide;
  const bool both_bool = a == DType::kBool && b == DType::kBool;
  const bool both_whole = NaturalArithmetic(a) != Arithmetic::kFloat32 &&
                          NaturalArithmetic(a) != Arithmetic::kFloat64 &&
                          NaturalArithmetic(b) != Arithmetic::kFloat32 &&
                          NaturalArithmetic(b) != Arithmetic::kFloat64;
  if (both_whole) {
    out.absolute = both_bool ? DType::kBool : DType::kUint64;
    out.rules.zeros = ZeroRule::kDivide;
    return out;
  }
  if (!IsBoolOrSmallFloat(a) || !IsBoolOrSmallFloat(b)) return out;
  if (rule.infinities_equal) {
    out.rules.arithmetic = DifferenceArithmetic::kNarrowed;
    return out;
  }
  out.in_float = true;
  out.absolute = out.relative = DType::kFloat32;
  return out;
}

}  // namespace vernier
