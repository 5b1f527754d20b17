// Intervals, tests and sample sizes of proportions.
#pragma once

#include <cstdint>
#include <utility>

namespace vernier {

/// Wilson's score interval (Wilson 1927) of `successes` in `trials`, both >= 0. z: the quantile,
/// 1.959963984540054 for 95 %. {NaN, NaN} without trials.
std::pair<double, double> WilsonInterval(int64_t successes, int64_t trials,
                                         double z = 1.959963984540054);

/// McNemar's exact two-sided p (McNemar 1947; the binomial test of the discordant samples, doubled
/// and at most 1). 1 without discordant samples, which proves nothing.
double McNemarP(int64_t only_first_right, int64_t only_second_right);

/// How many samples McNemar's test needs to see a drop of `drop` with that power (two-sided, by
/// the normal approximation of Connor 1987), where `discordant` is the share of samples on which
/// the two sides differ. drop within (0, discordant]; at least the samples that make one discordant
/// pair likely.
int64_t McNemarSamples(double drop, double discordant, double alpha = 0.05, double power = 0.8);

/// Samples by which of the two sides is right.
struct PairedCounts {
  int64_t both = 0;
  int64_t only_first = 0;
  int64_t only_second = 0;
  int64_t neither = 0;

  int64_t total() const { return both + only_first + only_second + neither; }
};

/// The 95 % interval of the first side's share of right samples minus the second's: Newcombe's
/// hybrid score interval for paired samples (Statistics in Medicine 17, 1998, page 2635, method
/// 10), whose ends are Wilson's. It has a width where no sample is discordant. {NaN, NaN} without
/// samples.
std::pair<double, double> PairedDropInterval(const PairedCounts& counts);

/// About how many samples make that interval exclude `limit`, if the shares stay; 0 where no number
/// does (the drop is the limit).
int64_t SamplesToDecideDrop(const PairedCounts& counts, double limit);

/// About how many samples make Wilson's interval exclude `limit`, if the rate stays; 0 where no
/// number does (the rate is the limit).
int64_t SamplesToDecide(double rate, double limit);

}  // namespace vernier
