// The errors of an output's steps, as growth is fitted to them.
#pragma once

#include <cstdint>
#include <optional>

#include "run/steps/step_growth.h"
#include "run/steps/step_timeline.h"

namespace vernier {

/// With the reference's state, what a step adds to a cache has an error, and what it was fed with
/// has none. The RMS error over all elements gets smaller as the cache gets longer, then; that over
/// the new elements does not.
class StepErrors {
 public:
  /// As of ErrorGrowth::Add, over all elements.
  struct Error {
    double rms = 0;
    double relative = 0;
    double roundoff = 0;
  };
  /// The next step of those that are compared, in order. `elements`: what a state holds that was
  /// made from the reference's; 0 of other outputs. The first step of a sequence is left out if the
  /// next one shows that the state gets longer: how much of it was new is not known. A state that
  /// no longer gets longer slides, by as much as before.
  void Add(const StepPosition& position, int64_t elements, const Error& error);

  /// The fit of all steps.
  ErrorGrowth Growth() const;
  /// Has a state got longer?
  bool of_new() const { return of_new_; }

 private:
  struct Step {
    StepPosition position;
    Error error;
  };
  ErrorGrowth growth_;
  std::optional<Step> held_;  // the first of its sequence
  std::optional<StepPosition> last_;
  int64_t elements_ = 0;  // then
  int64_t new_ = 0;       // of those that the last step added; 0: not known
  bool of_new_ = false;
};

}  // namespace vernier
