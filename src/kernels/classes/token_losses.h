// How well rows of logits predict the next class ("token"): perplexity, in constant memory.
#pragma once

#include <cstdint>
#include <optional>

namespace vernier {

/// Losses are -ln of the probability of the token, in nats. P is A's distribution, Q is B's.
/// Without a token, all numbers are NaN.
class TokenLosses {
 public:
  /// All of it as plain numbers, for files.
  struct Sums {
    int64_t count = 0, impossible = 0;
    double losses = 0;   ///< of A
    double mean = 0;     ///< of the differences
    double squares = 0;  ///< of their distances from the mean
    double changes = 0;  ///< squares of q - p
  };
  TokenLosses() = default;
  explicit TokenLosses(const Sums& sums)
      : count_(sums.count),
        impossible_(sums.impossible),
        losses_(sums.losses),
        mean_(sums.mean),
        squares_(sums.squares),
        changes_(sums.changes) {}
  Sums sums() const { return {count_, impossible_, losses_, mean_, squares_, changes_}; }

  /// `loss` is A's, `more` is by how much B's exceeds it; both are finite.
  void Add(double loss, double more);
  /// A token that both sides mask: infinitely unlikely on both, and in no number.
  void AddImpossible() { ++impossible_; }
  /// The tokens of the rows after these. In the order of the rows the bits are always the same.
  void Append(const TokenLosses& later);

  int64_t count() const { return count_; }
  int64_t impossible() const { return impossible_; }
  bool any() const { return count_ + impossible_ > 0; }

  /// exp of the mean loss.
  double first_perplexity() const;
  double second_perplexity() const;
  /// Second by first: exp of the mean of the paired differences.
  double ratio() const;
  /// Its standard error by the delta method: the ratio times the standard error of that mean. None
  /// of less than two tokens.
  std::optional<double> ratio_error() const;
  /// Root of the mean square of q - p.
  double probability_rms() const;

 private:
  int64_t count_ = 0;
  int64_t impossible_ = 0;
  double losses_ = 0;   // of A
  double mean_ = 0;     // of the differences
  double squares_ = 0;  // of their distances from the mean
  double changes_ = 0;  // squares of q - p
};

}  // namespace vernier
