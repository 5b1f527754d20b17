// The positions of an output that a fed mask leaves to compare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/fed_positions.h"
#include "kernels/pair_measures.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// What is reported of a mask that was applied to an output.
struct MaskedPositions {
  std::string mask;  ///< name of the input
  int64_t positions = 0;
  int64_t excluded = 0;
  int64_t length = 0;   ///< elements of a position
  std::string why_not;  ///< why a mask that was asked for does not fit; then the rest says nothing

  int64_t excluded_elements() const { return excluded * length; }
};

/// The positions that the mask does not exclude, counted through [batch, positions].
struct KeptPositions {
  MaskedPositions masked;
  std::vector<int64_t> kept;

  /// Where an element of TakePositions() is in the whole tensor; below 0 stays.
  int64_t PlaceInWhole(int64_t place) const;
};

/// Only floats of shape [batch, positions, values] or [batch, heads, positions, values], as caches
/// are, have positions for sure, and where there are as many values or heads as positions, only a
/// mask that was asked for says which axis is which. Each head counts. Absent: `fed` (may be null)
/// has no mask for elements, or none that fits and nobody asked for it.
std::optional<KeptPositions> FindKeptPositions(const FedPositions* fed, const Tensor& output);

/// A copy, of shape [kept positions, values]. kResourceExhausted.
Result<Tensor> TakePositions(const Tensor& output, const KeptPositions& kept);

/// Measures of such copies, with places of the whole tensors.
void RestorePlaces(const KeptPositions& kept, PairMeasures& measures);
void RestorePlaces(const KeptPositions& kept, DifferenceSummary& difference);

}  // namespace vernier
