#include "check/runners/probe_sizes.h"

#include <utility>
#include <vector>

#include "check/runners/first_feed.h"
#include "util/log/no_log.h"

namespace vernier {

bool TakesAnySizes(const Probe& probe) {
  const RunnerSession& runner = probe.runner();
  return !runner.backend().Has(BackendTrait::kBuildsEngines) && !runner.inputs_unknown();
}

SizeRunner SizeRunnerOf(Probe& probe, Result<bool> at_one) {
  const auto infer = [&probe](const TensorMap& feed) -> Result<bool> {
    if (probe.runner().lost_worker()) return Unavailable("the worker is gone");
    NoLog unheard;
    VERNIER_ASSIGN_OR_RETURN(const TensorMap own, probe.Coerce(feed, unheard));
    return AllHaveElements(probe.Infer(own));
  };
  return {probe.runner().name(), infer, std::move(at_one)};
}

Result<FoundSizes> FindProbeSizes(const RunPlan& plan, const Probe::Shared& shared,
                                  Result<bool> at_one, Probe& probe) {
  const std::vector<TensorInfo>& inputs = probe.runner().session().inputs;
  if (!TakesAnySizes(probe) || !SizesAreGuessed(plan, inputs)) return FoundSizes();
  NoLog unheard;
  const auto draw = [&](const RunPlan& sized) {
    return MakeFirstFeed(sized, inputs, shared, unheard);
  };
  return FindSizes(plan, inputs, {draw, {SizeRunnerOf(probe, std::move(at_one))}, shared.logger});
}

}  // namespace vernier
