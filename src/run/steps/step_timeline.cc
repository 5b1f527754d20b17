#include "run/steps/step_timeline.h"

#include <algorithm>

namespace vernier {

void StepTimeline::Add(int64_t sequence, int64_t steps) {
  const auto known = static_cast<int64_t>(lengths_.size());
  if (sequence + 1 == known) lengths_.back() = steps;
  if (sequence < known) return;
  starts_.push_back(starts_.empty() ? 0 : starts_.back() + lengths_.back());
  lengths_.push_back(steps);
}

StepPosition StepTimeline::Of(int64_t iteration) const {
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), iteration);
  if (behind == starts_.begin()) return {};
  const auto sequence = static_cast<size_t>(behind - starts_.begin()) - 1;
  return {static_cast<int64_t>(sequence), iteration - starts_[sequence], lengths_[sequence]};
}

std::string DescribeOneStep(const StepPlan& plan, std::span<const int64_t> lengths) {
  const bool goes_on = !plan.feed_back.empty() || !plan.advances.empty();
  const bool one =
      !lengths.empty() && std::ranges::all_of(lengths, [](int64_t steps) { return steps == 1; });
  if (!goes_on || !one) return "";
  return std::string(plan.feed_back.empty() ? "--advance" : "--feed-back") +
         (plan.decodes() ? ": --decode makes one step" : ": the inputs hold one step") +
         ", and there is no next one that anything could be fed to";
}

}  // namespace vernier
