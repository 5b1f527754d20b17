// What a runner hands on to its next step, against what that takes; and what nobody sees of it.
#include <algorithm>
#include <string>

#include "run/steps/step_states.h"

namespace vernier {

bool StepStates::MayHideState(size_t runner) const {
  const Runner& here = runners_[runner];
  const std::vector<std::string> states = StateInputs();
  return here.paired && here.pairs.empty() && !here.keeps_state &&
         std::ranges::none_of(here.infos, [&](const TensorInfo& input) {
           return std::ranges::find(states, input.name) != states.end();
         });
}

}  // namespace vernier
