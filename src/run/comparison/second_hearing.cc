#include "run/comparison/second_hearing.h"

#include <algorithm>
#include <cmath>

#include "compare/error_bound.h"
#include "run/feeds/nudged_floats.h"

namespace vernier {
namespace {

constexpr uint64_t kHearingDraws = 3;
// A well-conditioned network moves by no more, and its bound has room for it.
constexpr double kFewRoundoffs = 8;

// By how many roundoffs an output has moved, relative to its scale. 0 where the two cannot be
// compared, and where that is no finite number.
double StepsMoved(const std::string& name, const TensorMap& from, const TensorMap& to,
                  double roundoff) {
  const Tensor* before = Find(from, name);
  const Tensor* after = Find(to, name);
  const bool comparable = before != nullptr && after != nullptr && !before->bytes().empty() &&
                          before->dims() == after->dims() && before->dtype() == after->dtype();
  if (!comparable) return 0;
  const Result<BoundVerdict> moved = MeasureAgainstBound(*before, *after, {});
  const double steps = moved.ok() ? moved->rms / roundoff : 0;
  return std::isfinite(steps) ? steps : 0;
}

}  // namespace

Status HearOutputs(const TensorMap& made, double roundoff, const InferMoved& infer,
                   std::map<std::string, HeardOutput>& heard) {
  if (roundoff == 0) return {};
  // What moves by itself tells nothing of rounding.
  VERNIER_ASSIGN_OR_RETURN(const TensorMap repeated, infer({}));
  for (auto& [name, output] : heard) {
    output.repeats = StepsMoved(name, made, repeated, roundoff) <= kFewRoundoffs;
  }
  for (uint64_t draw = 0; draw < kHearingDraws; ++draw) {
    VERNIER_ASSIGN_OR_RETURN(const TensorMap moved, infer(draw));
    for (auto& [name, output] : heard) {
      const double steps = StepsMoved(name, made, moved, roundoff);
      if (!output.repeats || steps <= kFewRoundoffs) continue;
      output.condition = std::max(output.condition, std::min(steps, kMostCondition));
    }
  }
  return {};
}

std::vector<HeardOutput> SecondHearing::Hear(size_t stream, std::span<const std::string> names,
                                             const TensorMap& made) {
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    if (!known_.contains({stream, name})) unknown.push_back(name);
  }
  // What an inference that failed has not told stays unknown, and the bound as it is.
  if (!unknown.empty() && CanInfer(stream)) (void)Measure(stream, unknown, made);
  std::vector<HeardOutput> heard;
  for (const std::string& name : names) {
    const auto found = known_.find({stream, name});
    heard.push_back(found == known_.end() ? HeardOutput() : found->second);
  }
  return heard;
}

Status SecondHearing::Measure(size_t stream, std::span<const std::string> names,
                              const TensorMap& made) {
  const TensorMap& feed = bounds_.last_feed();
  std::map<std::string, HeardOutput> heard;
  for (const std::string& name : names) heard[name] = {};
  const Status status = HearOutputs(
      made, CoarsestRoundoff(feed),
      [&](std::optional<uint64_t> draw) -> Result<TensorMap> {
        VERNIER_ASSIGN_OR_RETURN(const TensorMap moved, NudgedFeed(feed, draw));
        return live_.InferAside(stream, moved, bounds_.last_iteration());
      },
      heard);
  for (const auto& [name, output] : heard) known_[{stream, name}] = output;
  return status;
}

}  // namespace vernier
