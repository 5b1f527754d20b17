#include "run/steps/step_errors.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vernier {
namespace {

// `times`: by how much the RMS of the elements that count is larger than that of all.
void Fit(const StepPosition& at, const StepErrors::Error& error, double times,
         ErrorGrowth& growth) {
  growth.Add(at.sequence, at.step, error.rms * times, error.relative * times, error.roundoff);
}

}  // namespace

void StepErrors::Add(const StepPosition& position, int64_t elements, const Error& error) {
  const bool begins = !last_ || last_->sequence != position.sequence;
  if (begins) {
    growth_ = Growth();
    held_ = Step{position, error};
    new_ = 0;
  } else if (last_->step + 1 == position.step && elements > elements_) {
    new_ = elements - elements_;
    of_new_ = true;
  }
  elements_ = elements;
  last_ = position;
  if (begins) return;
  const std::optional<Step> first = std::exchange(held_, std::nullopt);
  if (first && new_ == 0) Fit(first->position, first->error, 1, growth_);
  const double all = new_ == 0 ? 1 : static_cast<double>(elements) / static_cast<double>(new_);
  Fit(position, error, std::sqrt(std::max(all, 1.0)), growth_);
}

ErrorGrowth StepErrors::Growth() const {
  ErrorGrowth growth = growth_;
  if (held_) Fit(held_->position, held_->error, 1, growth);
  return growth;
}

}  // namespace vernier
