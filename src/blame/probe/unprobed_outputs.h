// The model's own outputs without probes, with which everything with probes is compared.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "blame/judge/padded_tensors.h"
#include "blame/judge/tensor_judge.h"
#include "blame/sides/side_error_bounds.h"
#include "run/maps/pair_matching.h"
#include "vernier/blame_record.h"

namespace vernier {

struct CompareOptions;

struct RetypedOutput {
  std::string name;
  DType reference = DType::kUndefined, candidate = DType::kUndefined;
};

class UnprobedOutputs {
 public:
  /// `runners` are open.
  explicit UnprobedOutputs(const SideRunners& runners);

  /// One iteration more, its outputs paired as `run` pairs them. What has no partner is not
  /// compared. Errors as PairMatching.
  Status Add(const TensorMap& feed, TensorMap reference, TensorMap candidate,
             PairMatching& matching);

  /// Of these tensors, positions that the mask of an iteration's feed excludes do not count.
  void LeaveOut(MaskedTensors masked) { masked_ = std::move(masked); }
  const MaskedTensors& masked() const { return masked_; }

  /// The reference's names of its outputs, by the candidate's.
  const std::map<std::string, std::string>& partners() const { return partners_; }

  /// Outputs whose types differ in the first iteration, by the candidate's names.
  std::vector<RetypedOutput> Retyped() const;

  /// Outputs that have no partner in the iteration that decided.
  const Pairing& first_pairing() const { return first_pairing_; }

  /// The worst of the candidate's `outputs` against the reference's, in multiples of its bound.
  double Error(size_t iteration, const TensorMap& outputs);

  /// By the candidate's names of the outputs: its own against the reference's, over all iterations
  /// the largest, in multiples of the bound.
  std::map<std::string, double> Errors();

  /// By the candidate's names of the outputs: the bounds of the root mean square that these errors
  /// are multiples of, over all iterations the largest.
  std::map<std::string, double> Bounds();

  /// By the names of the outputs: the root mean square of the differences between `outputs` and the
  /// candidate's own, relative; infinite where they cannot be compared.
  std::map<std::string, double> Movements(size_t iteration, const TensorMap& outputs);

  /// The same in multiples of the outputs' error bounds.
  std::map<std::string, double> TimesMoved(size_t iteration, const TensorMap& outputs);

  /// Compares outputs that came with probes with the same without; `record` keeps the iteration
  /// that shows most.
  void Compare(size_t iteration, const TensorMap& probed, DisturbanceRecord& record);

 private:
  using Judgements = std::map<std::string, TensorJudgement>;
  enum class Names : uint8_t { kReference, kCandidate };

  const ErrorBounds& BoundsOf(size_t iteration);
  // `names`: whose `ours` has.
  Judgements Between(size_t iteration, Names names, const TensorMap& ours, const TensorMap& theirs);
  Judgements AgainstReference(size_t iteration, const TensorMap& outputs);
  Judgements AgainstPlain(size_t iteration, const TensorMap& outputs);

  struct Iteration {
    TensorMap feed, reference, candidate;
  };
  std::map<std::string, std::string> partners_;
  Pairing first_pairing_;
  std::shared_ptr<const CompareOptions> options_;  // stays where it is when this is moved
  PairErrorBounds bounds_;
  std::vector<Iteration> iterations_;
  MaskedTensors masked_;
};

}  // namespace vernier
