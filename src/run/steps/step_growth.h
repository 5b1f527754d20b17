// How an output's error goes on over the steps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace vernier {

/// The slope of ln(RMS error) over the steps: one slope for all sequences, each with an intercept
/// of its own. Memory does not grow with steps.
class ErrorGrowth {
 public:
  /// A step's RMS error, absolute and relative to the values, and the rounding of their type. Left
  /// out where the error is 0, below 8 roundings or above a tenth of the values: there it says
  /// nothing of growth. One that is not finite ends the fit of its sequence.
  void Add(int64_t sequence, int64_t step, double rms, double relative, double roundoff);

  /// The outputs whose slopes were fitted, to look for the one that grows most.
  struct Family {
    int64_t outputs = 0;
    double correlation = 0;  ///< mean of Fit::correlation
  };
  struct Fit {
    double slope = 0;  ///< of the natural logarithm, per step
    /// Its standard error. From 16 steps on it allows for residuals that go on from step to step
    /// (an autoregression of first order), as those of recurrent networks do, and for how few of
    /// them are independent then.
    double error = 0;
    int64_t steps = 0;
    int64_t first_step = 0;  ///< of all sequences

    /// The standard error without those allowances: of the slope's own residuals, and of those that
    /// tell how noise goes on. Of these `residuals`, `taken` were fitted.
    double plain = 0, noise = 0;
    double residuals = 0, taken = 0;
    double correlation = 0;  ///< of neighbouring ones

    /// What the slopes of a family without a trend exceed by chance, any of them in either
    /// direction, in 1 of 20 cases (Bonferroni), and at least two standard errors. The noise of an
    /// output is taken to go on as that of all does, or more: of many outputs some seem to have
    /// noise that does not.
    double Limit(const Family& family) const;
  };
  static Family FamilyOf(std::span<const Fit> fits);

  /// Nothing where fewer than 8 steps could be used.
  std::optional<Fit> Get() const;
  /// The same for the second half of each sequence, from its first step that counts to its last.
  /// Halves begin at a multiple of a 64th of the steps, rounded up to a power of two.
  std::optional<Fit> GetLate() const;

 private:
  // Sums over steps with one intercept, with means that move along; of `pairs` neighbouring steps,
  // by how much the logarithm rises.
  struct Sums {
    double count = 0, mean_step = 0, mean_log = 0, step_step = 0, step_log = 0, log_log = 0;
    double pairs = 0, mean_rise = 0, rise_rise = 0;
    int64_t first_step = 0;

    void Add(int64_t step, double log);
    void AddRise(double rise);
    void Join(const Sums& later);
  };
  // Sums over groups of steps, with an intercept for each.
  struct Pool {
    double step_step = 0, step_log = 0, log_log = 0;
    double pairs = 0, rise = 0, rise_rise = 0;  // sums of rises and of their squares
    int64_t steps = 0, groups = 0, first_step = 0;

    void Add(const Sums& group);
    double Slope() const { return step_step > 0 ? step_log / step_step : 0; }
    /// The sum of squares that the slope leaves.
    double Rest() const;
    double Correlation() const;
    std::optional<Fit> Get() const;
  };
  void AddToBins(int64_t step, double log, bool goes_on);
  Sums SecondHalf() const;
  void Close();

  int64_t sequence_ = -1;
  bool ended_ = false;
  int64_t last_step_ = -1;  // that counted, of this sequence
  double last_log_ = 0;
  Sums open_;               // of this sequence
  std::vector<Sums> bins_;  // the same, one for every `width_` steps
  int64_t width_ = 1;       // a power of two
  Pool closed_;             // of the sequences before
  Pool late_;
};

}  // namespace vernier
