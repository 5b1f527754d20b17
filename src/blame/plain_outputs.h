// The model's own outputs without probes, which everything with probes is held against.
#pragma once

#include <map>
#include <optional>
#include <string>
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

  /// By the names of the outputs: the candidate's own against the reference's, over all iterations
  /// the largest, in multiples of the bar.
  std::map<std::string, double> Errors();

  /// By the names of the outputs: the root mean square of the differences between `outputs` and the
  /// candidate's own, relative; infinite where they cannot be compared.
  std::map<std::string, double> Movements(size_t iteration, const TensorMap& outputs);

  /// Holds outputs that came with probes against those without; `record` keeps the iteration that
  /// tells most.
  void Compare(size_t iteration, const TensorMap& probed, DisturbanceRecord& record);

 private:
  using Judgements = std::map<std::string, TensorJudgement>;
  Judgements Between(size_t iteration, const TensorMap& ours, const TensorMap& theirs);

  struct Iteration {
    TensorMap feed, reference, candidate;
  };
  CompareOptions options_;
  std::optional<PairBars> bars_;
  std::vector<Iteration> iterations_;
};

}  // namespace vernier
