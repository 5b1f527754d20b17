// The positions of an output that a fed mask does not exclude.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/positions/fed_positions.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct DifferenceSummary;
struct PairMeasures;

/// What is reported of a mask that fits an output.
struct MaskedPositions {
  std::string mask;  ///< name of the input
  int64_t positions = 0;
  int64_t excluded = 0;  ///< left out: none where nothing says for certain that they are its
  int64_t length = 0;    ///< elements of a position
  /// Compared by themselves, the positions where the mask is 0 fail, left out or not. Where they
  /// were not left out, that is looked at only if the output fails; so many elements are then out
  /// of tolerance.
  bool differ = false;
  int64_t mismatches = 0;
  std::string why_not;  ///< why a mask that was asked for does not fit; then the rest says nothing

  int64_t excluded_elements() const { return excluded * length; }
};

/// The positions that the mask does not exclude and those where it is 0, counted through [batch,
/// heads, positions].
struct KeptPositions {
  MaskedPositions masked;
  std::vector<int64_t> kept;
  std::vector<int64_t> others;

  /// Where an element of TakePositions() is in the whole tensor; below 0 stays.
  int64_t PlaceInWhole(int64_t place) const;
};

/// Of floats of shape [batch, positions, values] or [batch, heads, positions, values], as caches
/// are; each head counts. Absent: `fed` (may be null) has no mask for elements, or one that does
/// not fit and was not asked for.
std::optional<KeptPositions> FindKeptPositions(const FedPositions* fed, const NamedTensor& output);

/// A copy, of shape [as many positions, `length`]. kResourceExhausted.
Result<Tensor> TakePositions(const Tensor& output, std::span<const int64_t> positions,
                             int64_t length);

/// Measures of such copies, with places of the whole tensors.
void RestorePlaces(const KeptPositions& kept, PairMeasures& measures);
void RestorePlaces(const KeptPositions& kept, DifferenceSummary& difference);

}  // namespace vernier
