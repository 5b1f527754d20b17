// `indices`: rows of indices that may be slightly out of order, as the results of a Top-K are.
#pragma once

#include <string_view>

#include "compare/functions/comparison.h"

namespace vernier {

struct CompareOptions;

/// Each row along the last axis on its own: every value of A's row must be in B's row at most
/// `tolerance` places away (the first such place counts). The last `tolerance` values of A's row
/// need not be found. Numbers are compared exactly, whatever their types; NaN is never found.
/// Shapes must be equal; scalars fail, as do tensors of strings against numbers and complex
/// numbers.
FunctionResult CompareIndices(std::string_view name, const Tensor& a, const Tensor& b,
                              const CompareOptions& options);

}  // namespace vernier
