// Turns the outputs of two runners into decisions about samples, and compares these.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vernier/decision_plan.h"
#include "vernier/decision_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The difference that the error bound of an output allows one of its elements: `atol`, in the
/// output's units, or the share `rtol` of the element, whichever is more. Both >= 0 and finite.
struct AllowedDifference {
  double atol = 0;
  double rtol = 0;
};

/// A candidate's margin of more than this many limits is never a near tie.
inline constexpr double kMostCandidateLimits = 4;

/// Is the reference's margin that of a near tie? False for NaN.
inline bool IsNearMargin(double first_margin, double near_tie) {
  return first_margin == 0 || first_margin < near_tie;
}

/// The kind of a flip by the margins of both sides: a near tie if the reference's is 0 or below the
/// limit, unless the candidate's is far beyond it.
inline Flip FlipByMargin(double first_margin, double second_margin, double near_tie) {
  const bool far = second_margin > kMostCandidateLimits * near_tie;
  return IsNearMargin(first_margin, near_tie) && !far ? Flip::kNearTie : Flip::kClear;
}

/// The margin that a clear flip is clear by: the candidate's where the reference's is none.
inline double ClearMargin(const DecisionSample& sample) {
  return IsNearMargin(sample.first_margin, sample.near_tie) ? sample.second_margin
                                                            : sample.first_margin;
}

/// Is any value below 0? Of floating and integer types.
bool HasNegative(const Tensor& output);

/// Why `decision` does not fit an output, as what it is: "int64", "a scalar". Empty: it fits.
std::string WhyNotDecision(const DecisionPlan& decision, const Tensor& output);

/// The decisions of both sides about each sample, the reference first. Shapes must be equal (the
/// number of boxes may differ) and types floating or integer (the kinds say which). Ties go to the
/// lowest index, as in NumPy; a sample with NaN among its deciding values is Flip::kInvalid.
/// The limit of near ties is twice what `allowed` lets the sample's deciding values differ by;
/// absent, twice the noise of its values that did not decide, since those that did would excuse
/// every flip (docs/decisions.md). `near_tie`: given by the user, comes before both. Of samples
/// that agree, near_tie is 0 where the limit rests on the values.
/// kInvalidArgument, naming both shapes, where they differ or the kind does not fit; and for boxes
/// and texts that are too many or too long to be matched.
Result<std::vector<DecisionSample>> Decide(const DecisionPlan& decision, const Tensor& reference,
                                           const Tensor& candidate,
                                           std::optional<AllowedDifference> allowed,
                                           std::optional<double> near_tie);

}  // namespace vernier
