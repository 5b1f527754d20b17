// The model's own outputs without probes, which everything with probes is held against.
#pragma once

#include <optional>
#include <vector>

#include "blame/side_bars.h"
#include "blame/tensor_judge.h"
#include "vernier/blame_record.h"

namespace vernier {

class PlainOutputs {
 public:
  /// Before the rest.
  void SetRunners(const SideRunners& runners) { bars_.emplace(MakeSideBars(options_, runners)); }

  /// One iteration more. Outputs that the reference lacks are not compared.
  void Add(const TensorMap& feed, TensorMap reference, TensorMap candidate);

  /// The worst of the candidate's `outputs` against the reference's, in multiples of its bar.
  double Error(size_t iteration, const TensorMap& outputs);

  /// The root mean square of the differences between `outputs` and the candidate's own, relative;
  /// the largest of all outputs that are finite.
  double Movement(size_t iteration, const TensorMap& outputs);

  /// Holds outputs that came with probes against those without; `record` keeps the iteration that
  /// tells most.
  void Compare(size_t iteration, const TensorMap& probed, DisturbanceRecord& record);

 private:
  TensorJudgement Between(size_t iteration, const TensorMap& ours, const TensorMap& theirs);

  struct Iteration {
    TensorMap feed, reference, candidate;
  };
  CompareOptions options_;
  std::optional<PairBars> bars_;
  std::vector<Iteration> iterations_;
};

}  // namespace vernier
