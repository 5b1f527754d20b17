// Which output of one runner is paired with which output of the other.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

/// How the names of a pair correspond, or what else made it one.
enum class PairedBy : uint8_t {
  kExact,
  kFolded,
  kSubstring,
  kPosition,  ///< the only ones left
  kShape,     ///< the only ones left of their type and shape
  kValue,     ///< PairByValue
  kMap,       ///< --map-outputs
  kStructure  ///< what their nodes compute, where names mislead
};

struct OutputPair {
  size_t a = 0;  ///< index into the first runner's outputs
  size_t b = 0;
  PairedBy how = PairedBy::kExact;
};

/// Polygraphy's reason for leaving an output of A out: its best match in B also exists in A.
struct TakenMatch {
  std::string output;  ///< of A, not compared
  std::string taken;   ///< in both
};

struct Pairing {
  std::vector<OutputPair> pairs;        ///< in the order of A's outputs
  std::vector<std::string> left_only;   ///< outputs of A without a partner, in order
  std::vector<std::string> right_only;  ///< outputs of B without a partner, in order
  std::vector<TakenMatch> taken;        ///< lenient only
};

/// A pair that is known by its names.
struct KnownPair {
  std::string a, b;
  PairedBy how = PairedBy::kMap;
};

enum class PairingRule : uint8_t {
  /// One to one: exact names; then equal after case folding and without a trailing ":0"; then one
  /// name within the other if that is unique on both sides and dtype and shape agree; then by dtype
  /// and shape, where each side has exactly one output left that has them. Lengths and the like
  /// (part_names.h) pair with their own kind, and the presence of an optional needs no partner.
  kOneToOne,
  /// kOneToOne by names alone, for runs that mark tensors as outputs.
  kOneToOneMarked,
  /// Of tensors that are marked in two formats: exact names, and such that are equal after folding;
  /// the rest is for PairMarkedTensors, by names and values.
  kOneToOneFormats,
  /// Polygraphy's: per output of A the exact name, else the first name of B that contains it or is
  /// contained in it (ignoring case), else the same position; several outputs of A may meet one
  /// of B. No check of dtypes or shapes.
  kLenient,
  /// The known pairs alone: names mislead.
  kKnownAlone
};

/// Names are taken as given and may be empty. Never fails; what has no partner is listed. `known`
/// pairs come first, where both outputs are there.
Pairing PairOutputs(const TensorMap& a, const TensorMap& b, PairingRule rule,
                    std::span<const KnownPair> known = {});

}  // namespace vernier
