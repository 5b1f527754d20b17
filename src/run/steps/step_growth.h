// How an output's error goes on over the steps.
#pragma once

#include <cstdint>
#include <optional>

namespace vernier {

/// The slope of ln(RMS error) over the steps: one slope for all sequences, each with an intercept
/// of its own. Memory does not grow with steps.
class ErrorGrowth {
 public:
  /// A step's RMS error, absolute and relative to the values, and the rounding of their type. Left
  /// out where the error is 0, below 8 roundings or above a tenth of the values: there it says
  /// nothing of growth. One that is not finite ends the fit of its sequence.
  void Add(int64_t sequence, int64_t step, double rms, double relative, double roundoff);

  struct Fit {
    double slope = 0;  ///< of the natural logarithm, per step
    double error = 0;  ///< its standard error
    int64_t steps = 0;
  };
  /// Nothing where fewer than 8 steps could be used.
  std::optional<Fit> Get() const;

 private:
  // Sums over the steps of a sequence, with means that move along.
  struct Sums {
    double count = 0, mean_step = 0, mean_log = 0, step_step = 0, step_log = 0, log_log = 0;
  };
  void Close();

  int64_t sequence_ = -1;
  bool ended_ = false;
  Sums open_;    // of this sequence
  Sums closed_;  // of those before: the last three alone
  int64_t steps_ = 0;
  int64_t sequences_ = 0;  // that gave steps
};

}  // namespace vernier
