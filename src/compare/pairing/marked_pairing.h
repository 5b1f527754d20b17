// Which inner tensor of one format is which of another.
#pragma once

#include <span>
#include <vector>

#include "compare/pairing/value_pairing.h"
#include "vernier/tensor.h"

namespace vernier {

/// Of two tensors that share a plain name, all others of the name are so many times as far.
inline constexpr double kNameMargin = 2;

/// A and B pair where they are at most kMostPairError apart and share a plain name
/// (PlainTensorNames), and all others that are near one of them and share its name are kNameMargin
/// times as far; or where neither has anything else near it and they are kPairMargin times nearer
/// than that. Names alone never pair: exporters fuse what bears them. Values alone never choose:
/// what is equal in one feed need not be in the next. Tensors that are constant, of a single
/// element or not finite have no partner. `rows` and `columns` are indices into the two. Pairs are
/// in A's order.
std::vector<ValuePair> PairMarkedTensors(const TensorMap& a, std::span<const size_t> rows,
                                         const TensorMap& b, std::span<const size_t> columns);

}  // namespace vernier
