// What an iteration's inputs say about the positions of its logits: the tokens that were fed, and
// which positions a mask excludes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

/// Integers for the positions of one iteration, and for those behind them as far as they are known.
struct PositionValues {
  std::string source = {};  ///< name of the input, or path of the file
  bool asked = false;       ///< the user named it: where it does not fit, that is an error
  /// Of a mask: it is about elements, too, not about `logits` alone. Those at positions that it
  /// excludes are left out of every comparison where the user named it, else of these outputs of A.
  bool for_elements = false;
  std::vector<std::string> outputs = {};
  /// Outputs of A whose positions are none of these, or not for certain; `asked` wins.
  std::vector<std::string> elsewhere = {};
  Tensor tensor = {};  ///< [batch, columns], or [columns] of one; HoldsPositionValues of its type
  int64_t count = 0;   ///< positions of this iteration, the first columns
  /// Logits of one position are those of the last; of a mask: the last columns are those of the
  /// positions, as of one that grows.
  bool of_last = false;

  /// Which iteration a file is asked for.
  struct Place {
    int64_t sequence = 0;
    int64_t step = 0;
    bool in_steps = false;  ///< else the columns are those of this iteration, and at most one more
    /// Rows that the sequences before it took. Below 0: that is not known, and each counts as large
    /// as the largest, of `most` rows or of this one's.
    int64_t rows_before = -1;
    int64_t most = 0;
    /// The last step at or before this one whose first column is known.
    struct Start {
      int64_t step = 0;
      int64_t column = 0;
    };
    std::map<std::string, Start> starts = {};  ///< by outputs of A
    Start start = {};                          ///< of the output at hand: PositionsOf() sets it
  };
  /// Of a file, `count` follows from the logits: each step has as many columns as they have
  /// positions, and so have those between it and the one whose start is known. It has the rows of
  /// one batch, for all sequences, or those of one sequence after another.
  std::optional<Place> place = {};
};

/// Whether values of this type can be read: bool and integers of 8 to 64 bits.
bool HoldsPositionValues(DType dtype);

/// Does a mask exclude anything?
bool HasExcluded(const Tensor& mask);

/// Why a tensor of integers cannot be a mask; empty: all are 0 or 1. Which of its values excludes a
/// position, neither truth values nor others say.
std::string WhyNoMask(const Tensor& values);

struct FedPositions {
  std::optional<PositionValues> tokens;
  std::optional<PositionValues> mask;  ///< 0 excludes a position
};

/// What counts for an output of A.
FedPositions PositionsOf(const FedPositions& fed, const std::string& output);

/// What positions say of the rows of one output's logits.
struct RowTokens {
  std::vector<int64_t> next;  ///< see LogitRows::next; empty: nothing is known
  std::string tokens;         ///< source of the tokens that were applied; empty: none were
  std::string mask;           ///< the same of the mask
  /// Rows that they took of a file with those of several sequences, and the first of them.
  int64_t rows = 0, first_row = 0;
  int64_t columns = 0;  ///< that they took of a file; 0: of none
  /// Why tokens that were asked for do not fit this output, and the same of the mask. Empty: they
  /// do, or were not asked for.
  std::string why_no_tokens;
  std::string why_no_mask;
  /// Which token is no class, of those that were not asked for. Empty: none.
  std::string foreign_token;
};

/// `position_dims` are those of the logits without their classes: [batch, positions], or one of the
/// two where the other is 1. Position p is judged by the token at p + 1, unless the mask excludes
/// either. A mask that is longer than the logits and was asked for is about its last columns. What
/// was not asked for and does not fit is not applied, nor are tokens behind the classes.
RowTokens MatchPositions(const FedPositions& fed, const Dims& position_dims, int64_t classes);

}  // namespace vernier
