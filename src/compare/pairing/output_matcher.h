// The pairs of outputs of two runners, decided in their first iterations.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compare/outputs/device_measure.h"
#include "compare/pairing/pairing.h"
#include "compare/pairing/value_pairing.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class OutputMatcher {
 public:
  /// `given` pairs are not asked about. With kOneToOne, what neither names nor shapes decide is
  /// decided by values, with kOneToOneFormats by both; with the other rules nothing is.
  explicit OutputMatcher(PairingRule rule, std::vector<KnownPair> given = {})
      : rule_(rule), known_(std::move(given)) {}

  /// Decides what one more iteration shows. `device` (may be null) is where bytes are that are not
  /// here. Errors as DeviceMeasure::Fetch.
  Status Look(const TensorMap& a, const TensorMap& b, DeviceMeasure* device);

  /// No further iteration decides anything: all have partners, or four were examined.
  bool settled() const { return settled_; }

  /// Has Align() anything to do?
  bool aligns() const { return !axes_.empty(); }

  /// B's outputs with the axes in the order of A's: such an output is called "NAME@0,2,1". Errors
  /// as Look and TakeForm.
  Result<TensorMap> Align(const TensorMap& b, DeviceMeasure* device) const;

  /// The pairs of an iteration whose outputs of B are aligned.
  Pairing Pair(const TensorMap& a, const TensorMap& aligned_b) const;

  /// The error with which a pair was found by value, by A's name; absent for all others.
  const std::map<std::string, double>& errors() const { return errors_; }

  /// Pairs that shapes or places of the first iteration have made, and no name: "a = b" each.
  std::vector<std::string> ByShape() const;

  /// The table of errors between what has no partner, as it was looked at last; empty where no two
  /// of them could be compared.
  const std::string& table() const { return table_; }

 private:
  void Decide(std::span<const ValuePair> pairs, const TensorMap& a, const TensorMap& b);
  Status LetValuesWin(const Pairing& names, const TensorMap& a, const TensorMap& b,
                      DeviceMeasure* device);

  PairingRule rule_;
  std::vector<KnownPair> known_;
  std::map<std::string, std::vector<size_t>> axes_;  // by B's name
  std::map<std::string, double> errors_;
  std::string table_;
  int looks_ = 0;
  bool settled_ = false;
};

}  // namespace vernier
