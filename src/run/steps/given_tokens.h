// The tokens that runners are fed with whatever they choose (--tokens beside --decode).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/steps/step_timeline.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The tokens that follow each prompt, one prompt a row: column t holds the token that follows step
/// t and is fed to step t + 1. The rows are one batch for all sequences, or one sequence after
/// another.
class GivenTokens {
 public:
  /// `tokens` are [rows, columns], or [columns] of one row; `source` is what messages call them.
  /// kMalformed, naming the place, for what is no integer, has no token, or is below 0.
  static Result<GivenTokens> Create(std::string source, const Tensor& tokens);

  const std::string& source() const { return source_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  /// Tells runs with other tokens apart. Of 40 bits: in a mark (AreOfOtherValues), they are those
  /// of values.
  uint64_t Hash() const;

  /// kMalformed, naming token and place, where one is none of a vocabulary of this size.
  Status CheckVocabulary(int64_t vocabulary, const std::string& whose) const;
  /// The same of those alone that are fed within so many steps, and of the rows of a table.
  Status CheckFed(int64_t steps, int64_t rows, const std::string& table) const;

  /// Those behind a step, one of each of the `batch` prompts of its sequence; nullopt behind the
  /// last. Sequences take their rows in order, one after another. kMalformed, with both numbers,
  /// where there are no such rows.
  Result<std::optional<std::vector<int64_t>>> Behind(const StepPosition& position,
                                                     int64_t batch) const;

 private:
  std::string source_;
  std::vector<int64_t> ids_;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  mutable std::map<int64_t, int64_t> ends_;  ///< behind the rows of sequences, whose sizes differ
};

}  // namespace vernier
