// Facts about outputs before post-processing that the verdict needs.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vernier/dtype.h"
#include "vernier/run_plan.h"
#include "vernier/tensor.h"

namespace vernier {

class GivenOutputs {
 public:
  /// `plan` must outlive it. `by_script`: a script post-processes, and may leave out NaN.
  GivenOutputs(const RunPlan& plan, size_t streams, bool by_script)
      : plan_(&plan), by_script_(by_script), dropped_(streams), types_(streams) {}

  /// An iteration's outputs of a stream before and after post-processing.
  void Note(size_t stream, const TensorMap& given, const TensorMap& made);

  /// Outputs of two streams that post-processing has dropped. A script that puts as many outputs in
  /// the place of others has renamed them.
  std::vector<std::string> Dropped(size_t first, size_t second) const;

  /// Streams and outputs that held NaN before top-K made indices of them.
  const std::vector<std::pair<size_t, std::string>>& hidden_nans() const { return hidden_nans_; }

  /// The types that an output had in any iteration, as --strict and --same-type ask for it; null:
  /// none is known.
  const std::set<DType>* TypesOf(size_t stream, const std::string& output) const;

 private:
  void NoteNans(size_t stream, const TensorMap& given);

  const RunPlan* plan_;
  bool by_script_;
  std::vector<std::vector<std::string>> dropped_;  // stream by stream
  std::vector<std::map<std::string, std::set<DType>>> types_;
  std::vector<std::pair<size_t, std::string>> hidden_nans_;
};

}  // namespace vernier
