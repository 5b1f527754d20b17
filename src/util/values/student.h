// How far a mean may lie from its expectation by chance.
#pragma once

namespace vernier {

/// What a normal variable of mean 0 and variance 1 exceeds this rarely: 1.96 for 0.025. `tail` is
/// within (0, 0.5).
double NormalQuantile(double tail);

/// The same for Student's t with so many degrees of freedom, at least 1: from the quantile of the
/// normal distribution (Wallace 1959). For tails of 1e-4 and more it is at most 4 % too large from
/// 5 degrees on, and much too large below 3.
double StudentQuantile(double tail, double freedom);

}  // namespace vernier
