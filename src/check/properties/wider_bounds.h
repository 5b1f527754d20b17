// Bounds as wide as rounding alone moves the outputs of a model that amplifies it.
#pragma once

#include <map>

#include "check/properties/properties.h"
#include "check/runners/probe.h"
#include "compare/functions/error_bound.h"
#include "vernier/tensor.h"

namespace vernier {

/// Measures in processes of its own, and each feed once.
class WiderBounds {
 public:
  /// All must outlive this.
  WiderBounds(const ProbedRunner& runner, const ErrorBounds& bounds)
      : runner_(runner), bounds_(bounds) {}

  /// The bounds, each wider by the condition of its output on this feed, which must stay
  /// where it is: by how far the outputs move when every float of the feed is moved by one rounding
  /// step or, where the feed has none, every weight of the model. nullptr where none is wider:
  /// bounds that quantisers or short types have made are not, as they have room for flipped steps.
  const WidenedBounds* For(const TensorMap& feed);

 private:
  WidenedBounds Measure(const TensorMap& feed) const;

  const ProbedRunner& runner_;
  const ErrorBounds& bounds_;
  std::map<const TensorMap*, WidenedBounds> known_;
};

}  // namespace vernier
