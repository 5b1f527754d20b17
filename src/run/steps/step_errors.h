// The errors of an output's steps, as growth is fitted to them.
#pragma once

#include <cstdint>
#include <optional>

#include "run/steps/step_growth.h"
#include "run/steps/step_timeline.h"

namespace vernier {

/// Of a state that gets longer, as a cache does, it is not known which elements have an error. If
/// all have, their RMS error tells whether it grows. If only those have that a step adds, as with
/// the reference's state, or one wrong token that stays, the RMS error falls as the state gets
/// longer; RMS * sqrt(elements / new elements), or the L2 norm, does not. So both are fitted, and
/// an error grows or dies out only if both say so.
class StepErrors {
 public:
  /// As of ErrorGrowth::Add, over all elements.
  struct Error {
    double rms = 0;
    double relative = 0;
    double roundoff = 0;
  };
  /// The next step of those that are compared, in order. `elements`: what a state holds; 0 of other
  /// outputs. `of_reference`: it was made from the reference's. The scaled fit leaves out the first
  /// step of such a sequence if the next one shows that the state gets longer: how much of it was
  /// new is not known. A state that no longer gets longer slides, by as much as before.
  void Add(const StepPosition& position, int64_t elements, bool of_reference, const Error& error);

  /// The RMS error over the steps, and the scaled one.
  const ErrorGrowth& Plain() const { return plain_; }
  ErrorGrowth Scaled() const;

  struct Slope {
    ErrorGrowth::Fit fit;
    double limit = 0;     ///< what the slope has to exceed, in either direction
    bool scaled = false;  ///< which error it is of
  };
  /// Over all steps, and over the second halves. Of a state that got longer the fit that claims
  /// less: one within its limit, and of two such, or two beyond theirs, the flatter. Two that go
  /// opposite ways widen the limit.
  std::optional<Slope> Growth(const ErrorGrowth::Family& family) const;
  std::optional<Slope> LateGrowth(const ErrorGrowth::Family& family) const;

 private:
  void AddOfReference(const StepPosition& position, int64_t elements, const Error& error);

  struct Step {
    StepPosition position;
    Error error;
  };
  ErrorGrowth plain_;
  ErrorGrowth scaled_;
  std::optional<Step> held_;  // the first of its sequence
  std::optional<StepPosition> last_;
  int64_t elements_ = 0;  // then
  int64_t new_ = 0;       // of those that the last step added; 0: not known
  bool longer_ = false;   // has a state got longer?
};

}  // namespace vernier
