#include "run/lanes/held_results.h"

#include <algorithm>
#include <utility>

namespace vernier {

const Result<IterationResult>& HeldResults::Hold(size_t index, int64_t iteration,
                                                 Result<IterationResult> result) {
  return held_.emplace_back(HeldResult{index, iteration, std::move(result)}).result;
}

bool HeldResults::Has(size_t index, int64_t iteration) const {
  return std::ranges::any_of(held_, [&](const HeldResult& held) {
    return held.index == index && held.iteration == iteration;
  });
}

std::optional<Result<IterationResult>> HeldResults::Take(size_t index, int64_t iteration) {
  const auto held = std::ranges::find_if(held_, [&](const HeldResult& result) {
    return result.index == index && result.iteration == iteration;
  });
  if (held == held_.end()) return std::nullopt;
  std::optional<Result<IterationResult>> result = std::move(held->result);
  held_.erase(held);
  return result;
}

void HeldResults::Drop(std::deque<RunnerSession>& runners) {
  for (const HeldResult& held : held_) runners[held.index].ForgetInferences();
  held_.clear();
}

}  // namespace vernier
