// --validate: does an output hold values that are not numbers or not finite?
#pragma once

#include <cstdint>

#include "vernier/tensor.h"

namespace vernier {

struct Validation {
  int64_t nan_count = 0;
  int64_t non_finite_count = 0;  ///< NaNs included, as in Polygraphy

  bool valid(bool check_nan, bool check_inf) const {
    return !(check_nan && nan_count > 0) && !(check_inf && non_finite_count > 0);
  }
};

/// A complex number is NaN or infinite if a part of it is. Integers, bool and strings (on which
/// Polygraphy fails) are always valid, and so are empty tensors.
Validation ValidateTensor(const Tensor& tensor);

/// bool per element: is it NaN (or, for `non_finite`, not finite)? Same shape as the tensor.
enum class ValidityTest : uint8_t { kNan, kNonFinite };
Result<Tensor> InvalidElements(const Tensor& tensor, ValidityTest test);

}  // namespace vernier
