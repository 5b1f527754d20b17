// Supplied inputs made to fit a runner's inputs.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "inputs/strictness.h"
#include "util/log/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct CoerceOptions {
  Strictness strictness = Strictness::kStrict;
  /// kPolygraphy only, may be empty: makes the named input anew for this runner when the supplied
  /// one cannot be used. Polygraphy does that in sequential mode with loaders that can be indexed.
  std::function<Result<Tensor>(const std::string& name)> reload = {};
  /// The command casts and reshapes with --lenient, which errors of kStrict then advise.
  bool advise_lenient = true;
  /// kStrict only: what the words of --map-inputs call the runner; empty: they are not offered.
  std::string label = {};
  /// kStrict only: the feed was made for inputs of these names, those of another runner. Such a
  /// tensor may be paired with an input of another name by type, rank and sizes.
  std::span<const TensorInfo> made_for = {};
  /// kStrict only, may be empty: what an option has made of the tensor of this name, for the error
  /// of one that does not fit: "which --step-slice x:axis=1 made". Empty: it is of the input data.
  std::function<std::string(const std::string& name)> origin = {};
};

struct CoercedFeed {
  TensorMap tensors;               ///< the runner's inputs in its order
  std::vector<std::string> notes;  ///< what was changed, one sentence each, for the summary
};

/// Finds and fits a tensor of `feed` for every input; bytes are shared where nothing changes.
///
/// kStrict: names must be equal, or equal after case folding and without ":0", one to one. What is
/// left over then on both sides (CoerceOptions::made_for) is paired where exactly one tensor fits
/// an input by type, rank and sizes, and that tensor fits no other. Types must be equal and shapes
/// compatible; else kMalformed with what was expected and found, and the words of --map-inputs
/// that would map it. Tensors that no input takes are named in a warning, once.
///
/// kPolygraphy: Polygraphy's rules and words. Names: equal, else the first that contains the other,
/// else by position. Types are cast (CastTensor), shapes transposed or reshaped (MatchShape), each
/// with warnings; kMalformed with Polygraphy's message when the tensor still does not fit.
///
/// An input of unknown type or rank takes any.
Result<CoercedFeed> CoerceFeed(const TensorMap& feed, std::span<const TensorInfo> inputs,
                               const CoerceOptions& options, Logger& logger);

}  // namespace vernier
