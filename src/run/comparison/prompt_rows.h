// Rows of outputs of prompts that continue while others of the batch have ended (--decode-stop):
// the others are left out of every comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/functions/comparison.h"
#include "compare/positions/fed_positions.h"
#include "run/maps/pair_matching.h"
#include "run/runner/model_signatures.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Which outputs have a row for each prompt along their first axis: the logits, and for sure, by
/// the names that ONNX models give their dimensions, others.
class PromptAxes {
 public:
  /// `models` must outlive it.
  explicit PromptAxes(ModelSignatures& models) : models_(&models) {}

  /// A runner's output; `tokens` is the input that takes its tokens.
  struct Output {
    size_t stream = 0;
    std::string tokens;
    std::string name;
  };
  /// A model says so about one of two outputs that are compared, and none contradicts.
  bool HaveRows(const Output& first, const Output& second);

 private:
  enum class First : uint8_t { kUnknown, kPrompts, kElse };
  First AxisOf(const Output& output);

  ModelSignatures* models_;
};

/// Both sides of an iteration without the rows of prompts that have ended.
class PromptRows {
 public:
  struct Rows {
    int64_t batch = 0;
    std::vector<int64_t> going_on;  ///< those that stay
  };
  /// Can the rows of two outputs be taken? They are of one shape, [batch, ...], and of types whose
  /// elements are whole bytes.
  static bool Fit(const Tensor& a, const Tensor& b, int64_t batch);
  /// Of all pairs of `sides`, which Fit(). `positions` (may be null) is what all prompts were fed.
  /// Errors of the device (may be null) that holds outputs, and of memory.
  static Result<PromptRows> Take(Rows rows, const MatchedSides& sides,
                                 const FedPositions* positions, DeviceMeasure* device);

  const MatchedSides& sides() const { return sides_; }
  const FedPositions* positions() const { return positions_ ? &*positions_ : nullptr; }

  /// Outputs, shapes and places of a comparison of sides() are those of the whole outputs again;
  /// numbers and statistics stay those of the rows.
  void Restore(const MatchedSides& whole, IterationComparison& comparison) const;

 private:
  PromptRows(Rows rows, MatchedSides sides) : rows_(std::move(rows)), sides_(std::move(sides)) {}
  Result<Tensor> TakeFrom(const Tensor& whole) const;
  Status TakePositions(const FedPositions& positions);
  void Restore(const Tensor& a, const Tensor& b, OutputComparison& output) const;

  Rows rows_;
  MatchedSides sides_;
  std::optional<FedPositions> positions_;
};

}  // namespace vernier
