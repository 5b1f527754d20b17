// A NaN on both sides is no difference, whatever its bits, and neither is the same infinity.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compare/functions/comparison.h"
#include "vernier/tensor.h"

namespace vernier {

struct TensorPair {
  Tensor a, b;
  int64_t cleared = 0;  ///< places
};

/// The tensors with zeros in the places where both have a NaN or the same infinity, of their own
/// types. Absent where there is no such place, where the two are no floats of a byte or more with
/// one shape, and where memory cannot be allocated; nothing is copied before the first such place
/// was found.
std::optional<TensorPair> WithoutSharedNonFinite(const Tensor& a, const Tensor& b);

/// Of an output that fails by nothing else than these places: by how many times the others exceed
/// their tolerance, at most 1. nullopt: it passes, or fails by something else.
std::optional<double> FailsAlike(const OutputComparison& output);
/// Do some outputs fail, and all of these only so?
bool FailsAlike(const IterationComparison& comparison);
/// Does an output that fails hold nothing else than such places, so that nothing was compared?
bool HoldsNothingElse(const OutputComparison& output);

/// "NaN", or "infinite", if an element is that on one side alone; empty: none is, or the two are no
/// such floats.
std::string_view OneSidedNonFinite(const OutputComparison& output);

/// Of the elements beside the infinities of both sides; none where there are no others.
struct RestError {
  std::optional<double> rms;
  std::optional<double> relative;  ///< L2 norm of the differences over that of B
};
/// Of an output that passes with infinities that both sides have alike. nullopt: it does not, or
/// has none.
std::optional<RestError> ErrorOfRest(const OutputComparison& output);

}  // namespace vernier
