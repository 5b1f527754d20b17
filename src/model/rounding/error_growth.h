// How rounding errors add up and grow, and how they flip steps: what is done to the prediction of
// one tensor.
#pragma once

#include <cstdint>

#include "model/rounding/error_model.h"

namespace vernier {

// The root mean square of rounding errors, in roundoffs: uniform errors, mantissas of all sizes.
inline constexpr double kRoundingRms = 0.45;
inline constexpr double kCoarseRoundoff = 1.0 / (1 << 20);
// Above this, an error is one of the short types.
inline constexpr double kCoarseError = 2e-5;

/// A quantiser's step over the root mean square of its values: a range of four deviations to either
/// side in 255 steps.
inline constexpr double kRangeInDeviations = 9;

inline double Square(double x) { return x * x; }

inline bool IsFloat(DType dtype) { return Kind(dtype) == DTypeKind::kFloat; }

/// The type with the larger roundoff.
DType Coarser(DType a, DType b);

/// What one side rounds to.
struct SideRoundoff {
  double kept = 0;    ///< tensors, when they are stored
  double summed = 0;  ///< sums and functions: short types are computed in float32
  DType kept_in = DType::kUndefined;
};
SideRoundoff RoundoffOf(DType tensor, RunnerArithmetic side);

/// The variance of errors that are made in one place.
struct OwnVariance {
  double bound = 0;  ///< safety factors included
  double typical = 0;
};

/// Adds an error of that size, made in arithmetic of that roundoff.
void AddVariance(OwnVariance& sum, double roundoff, double error);

/// What both sides add when a tensor is computed with sums of `length` terms, and `roundoffs` more.
OwnVariance OwnVarianceOf(const SideRoundoff (&sides)[2], double length, double roundoffs);

void AddTo(ErrorPrediction& error, const OwnVariance& own);
/// One side alone rounds to steps of that size, relative: errors are spread evenly over a step.
void AddStepsOfOneSide(ErrorPrediction& error, double step);

void Grow(ErrorPrediction& error, double growth);

/// From `clean` and `flipped`.
void SetRms(ErrorPrediction& error);

/// The worst of both.
void Join(ErrorPrediction& into, const ErrorPrediction& other);

/// So many flips are allowed where that many are expected: more have a chance of 1 in 500.
double MostFlips(double expected);

enum class Steps : uint8_t {
  kEqual,     ///< of a quantiser
  kOfFloats,  ///< of a short type: smaller near zero
};

/// Two sides that differ by d, rounded to steps, differ in a share d / step of their elements, by
/// one step each. Errors that flips before have made are found in few rows only, and dense there.
void RoundToSteps(ErrorPrediction& error, double step, int64_t elements, Steps kind);

/// What sums over `length` elements do to flips: those in it are everywhere in the result.
void Spread(ErrorPrediction& error, int64_t length);

/// `rows` rows that meet in all others: what flips have done to one is everywhere, but small.
void Dilute(ErrorPrediction& error, int64_t rows);

}  // namespace vernier
