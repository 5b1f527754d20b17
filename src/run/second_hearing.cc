#include "run/second_hearing.h"

#include <algorithm>
#include <cmath>

#include "compare/error_bar.h"
#include "run/nudged_floats.h"

namespace vernier {
namespace {

constexpr uint64_t kHearingDraws = 3;
// A well-conditioned network moves by no more, and its bound has room for it.
constexpr double kFewRoundoffs = 8;

}  // namespace

std::vector<double> SecondHearing::Conditions(size_t stream, std::span<const std::string> names,
                                              const TensorMap& made) {
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    if (!known_.contains({stream, name})) unknown.push_back(name);
  }
  // What an inference that failed has not told stays unknown, and the bound as it is.
  if (!unknown.empty() && CanInfer(stream)) (void)Measure(stream, unknown, made);
  std::vector<double> conditions;
  for (const std::string& name : names) {
    const auto found = known_.find({stream, name});
    conditions.push_back(found == known_.end() ? 1 : found->second);
  }
  return conditions;
}

Status SecondHearing::Measure(size_t stream, std::span<const std::string> names,
                              const TensorMap& made) {
  for (const std::string& name : names) known_[{stream, name}] = 1;
  const double roundoff = CoarsestRoundoff(bars_.last_feed());
  if (roundoff == 0) return {};
  for (uint64_t draw = 0; draw < kHearingDraws; ++draw) {
    TensorMap nudged = bars_.last_feed();
    for (NamedTensor& input : nudged) {
      VERNIER_ASSIGN_OR_RETURN(input.tensor, NudgeFloats(input.tensor, draw));
    }
    VERNIER_ASSIGN_OR_RETURN(const TensorMap outputs,
                             live_.InferAside(stream, nudged, bars_.last_iteration()));
    for (const std::string& name : names) {
      const Tensor* before = Find(made, name);
      const Tensor* after = Find(outputs, name);
      const bool comparable = before != nullptr && after != nullptr && !before->bytes().empty() &&
                              before->dims() == after->dims() && before->dtype() == after->dtype();
      if (!comparable) continue;
      const Result<BarVerdict> moved = MeasureAgainstBar(*before, *after, {});
      const double steps = moved.ok() ? moved->rms / roundoff : 0;
      if (!std::isfinite(steps) || steps <= kFewRoundoffs) continue;
      double& condition = known_[{stream, name}];
      condition = std::max(condition, std::min(steps, kMostCondition));
    }
  }
  return {};
}

}  // namespace vernier
