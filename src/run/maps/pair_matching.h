// How the outputs of two streams are paired: by --map-outputs, then by names, shapes and values of
// the first iterations.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compare/pairing/output_matcher.h"
#include "compare/pairing/pairing.h"
#include "run/maps/name_maps.h"
#include "run/maps/swapped_outputs.h"
#include "vernier/run_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class DeviceMeasure;
struct IterationComparison;

/// Both sides of an iteration as they are compared. Refers to what it was made of where nothing
/// had to be changed.
class MatchedSides {
 public:
  MatchedSides(const IterationResult& a, const IterationResult& b) : given_a_(&a), given_b_(&b) {}

  const IterationResult& a() const { return own_a_ ? *own_a_ : *given_a_; }
  const IterationResult& b() const { return own_b_ ? *own_b_ : *given_b_; }
  void ReplaceA(TensorMap outputs);
  void ReplaceB(TensorMap outputs);

  Pairing pairing;

  /// Pairs whose names differ: that of A, that of B.
  std::vector<std::pair<std::string, std::string>> RenamedPairs() const;

 private:
  const IterationResult* given_a_;
  const IterationResult* given_b_;
  std::optional<IterationResult> own_a_, own_b_;
};

class PairMatching {
 public:
  /// `labels` are the names of all streams, among them `first` and `second`. kInvalidArgument for
  /// words that are none.
  static Result<PairMatching> Create(std::span<const std::string> words,
                                     std::span<const std::string> labels,
                                     std::pair<std::string, std::string> sides, PairingRule rule);

  /// Before Look(): the pairs that there are apart from the maps, where names mislead.
  void TakeKnown(std::vector<KnownPair> known) {
    known_ = std::move(known);
    rule_ = PairingRule::kKnownAlone;
  }

  /// As OutputMatcher, after the maps. `device` (may be null) is where bytes are that are not here.
  /// kInvalidArgument for a map that names both sides and does not fit.
  Status Look(const IterationResult& a, const IterationResult& b, DeviceMeasure* device);
  bool settled() const { return matcher_ && matcher_->settled(); }

  /// After Look() at this iteration or an earlier one. It must not outlive the results.
  Result<MatchedSides> Match(const IterationResult& a, const IterationResult& b,
                             DeviceMeasure* device) const;

  /// Looks for outputs that failed in this iteration under each other's names: see SwappedOutputs.
  void FindSwaps(const IterationComparison& comparison, const DeviceMeasure* device);

  /// Completes what the recorder has: errors of pairs by value, and what was left out.
  void AddTo(PairRecord& record) const;

  /// See OutputMaps::Check.
  Result<std::vector<bool>> CheckMaps(std::span<const std::string> a,
                                      std::span<const std::string> b) const {
    return maps_.Check(a, b);
  }

  std::span<const NameMap> output_maps() const { return maps_.maps(); }

  /// kInvalidArgument where a map is not about these two. After the first Look().
  Status CheckUsed() const;

  /// Map by map of the words: whether it was about these two. Empty before the first Look().
  const std::vector<bool>& used() const { return used_; }

  /// Advice about outputs without a partner: the table of errors and the words to type, on lines of
  /// their own; empty if there is none.
  std::string Advice(const PairRecord& record) const;

  /// Were values looked at, which other iterations might have decided otherwise?
  bool by_value() const { return !errors().empty() || !table().empty(); }
  /// See OutputMatcher.
  const std::map<std::string, double>& errors() const {
    return matcher_ ? matcher_->errors() : found_errors_;
  }
  const std::string& table() const { return matcher_ ? matcher_->table() : found_table_; }

  /// See OutputMatcher.
  std::vector<std::string> by_shape() const {
    return matcher_ ? matcher_->ByShape() : std::vector<std::string>();
  }

  /// What matching found elsewhere, for AddTo() and swap(): of swaps the first that is known stays.
  void TakeFound(const std::vector<std::string>& left_out, const std::string& swap) {
    left_out_ = left_out;
    if (swap_.empty()) swap_ = swap;
  }
  void TakePairing(std::map<std::string, double> errors, std::string table) {
    found_errors_ = std::move(errors);
    found_table_ = std::move(table);
  }
  const std::vector<std::string>& left_out() const { return left_out_; }

  /// That outputs are swapped, one sentence; empty: they are not.
  std::string swap() const { return swap_.empty() ? swapped_.Describe() : swap_; }

 private:
  Status FetchMapped(const TensorMap& outputs, DeviceMeasure* device) const;

  OutputMaps maps_;
  PairingRule rule_ = PairingRule::kOneToOne;
  std::vector<KnownPair> known_;
  std::optional<OutputMatcher> matcher_;
  std::map<std::string, double> found_errors_;  // elsewhere
  std::string found_table_;
  std::vector<std::string> left_out_;
  std::vector<bool> used_;
  SwappedOutputs swapped_;
  std::string swap_;  // elsewhere
};

}  // namespace vernier
