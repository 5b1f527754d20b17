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

/// About how many samples make Wilson's interval exclude `limit`, if the rate stays; 0 where no
/// number does (the rate is the limit).
int64_t SamplesToDecide(double rate, double limit);

}  // namespace vernier
