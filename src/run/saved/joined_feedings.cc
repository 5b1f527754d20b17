#include "run/saved/joined_feedings.h"

#include <algorithm>

#include "run/saved/fed_states.h"
#include "run/saved/step_feeding.h"

namespace vernier {
namespace {

bool IsCut(const FeedingPart& part) { return !CutIterations(part.feeding).empty(); }

// Whether sequences that parts begin within go on where the part before ends. A part that is not
// cut begins with a first step.
bool FollowOneAnother(const std::vector<FeedingPart>& parts) {
  size_t next = 0;
  const FeedingPart* before = nullptr;
  for (const FeedingPart& part : parts) {
    const std::vector<size_t> numbers = IterationsIn(part.feeding);
    if (!numbers.empty()) {
      const bool in_a_row = numbers.back() + 1 == numbers.front() + part.iterations &&
                            std::ranges::is_sorted(numbers);
      const bool follows = before != nullptr && numbers.front() == next && part.first_mark &&
                           part.first_mark == before->last_mark;
      if (!in_a_row || !follows) return false;
    }
    next += part.iterations;
    before = &part;
  }
  return true;
}

}  // namespace

std::optional<std::string> JoinFeedings(const std::vector<FeedingPart>& parts) {
  std::optional<std::string> joined;
  std::vector<uint32_t> states;
  std::vector<size_t> numbers;
  size_t iterations = 0;
  for (const FeedingPart& part : parts) {
    const std::string without = WithIterations(WithoutFedStates(part.feeding), {});
    if (joined && *joined != without) return std::nullopt;
    joined = without;
    const std::vector<uint32_t> some = FedStatesIn(part.feeding);
    if (some.size() == part.iterations) states.insert(states.end(), some.begin(), some.end());
    const std::vector<size_t> of_part = IterationsIn(part.feeding);
    numbers.insert(numbers.end(), of_part.begin(), of_part.end());
    iterations += part.iterations;
  }
  if (!joined) return std::string();
  if (!FollowOneAnother(parts)) {
    // Of a part that is not cut it is not known which iterations these are.
    if (!std::ranges::all_of(parts, IsCut)) return std::nullopt;
    joined = WithIterations(*joined, numbers);
  }
  return states.size() == iterations ? WithFedStates(*joined, states) : *joined;
}

}  // namespace vernier
