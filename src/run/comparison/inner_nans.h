// NaN within a model that no output shows: of a branch that Where drops, for example.
#pragma once

#include <string>
#include <vector>

#include "compare/functions/comparison.h"
#include "vernier/compare_options.h"

namespace vernier {

class InferenceScheduler;

class InnerNans {
 public:
  /// `live` (may be null: nothing is known of any model) must outlive it.
  explicit InnerNans(const InferenceScheduler* live) : live_(live) {}

  /// For --tolerance auto. Of marked tensors that fail by nothing else than a NaN or the same
  /// infinity in the same places of both sides, the other elements are compared instead, if the
  /// models' own outputs are among those that were compared, and hold no NaN.
  void LeaveOut(const CompareOptions& options, const ComparisonDetail& detail,
                IterationComparison& comparison);

  /// The sentence for the record; empty: nothing was left out.
  std::string Note() const;

 private:
  const InferenceScheduler* live_;
  std::vector<std::string> names_;
};

}  // namespace vernier
