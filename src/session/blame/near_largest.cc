#include "session/blame/near_largest.h"

#include <algorithm>

namespace vernier {

bool NearLargest::Add(const Error& error) {
  constexpr double kRise = 1.42;  // so that three in a row are further apart than 2
  if (largest_.iteration < 0 || error.times > largest_.times) largest_ = error;
  const bool rises =
      kept_.empty() || (error.times > 0 && error.times >= kRise * kept_.back().times);
  if (rises) kept_.push_back(error);
  std::erase_if(kept_, [&](const Error& kept) { return 2 * kept.times < largest_.times; });
  return rises;
}

bool NearLargest::MayBeFirst(int64_t iteration) const {
  return std::ranges::find(kept_, iteration, &Error::iteration) != kept_.end();
}

}  // namespace vernier
