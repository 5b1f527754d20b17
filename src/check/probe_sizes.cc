#include "check/probe_sizes.h"

#include <vector>

#include "check/first_feed.h"
#include "util/no_log.h"

namespace vernier {

Result<FoundSizes> FindProbeSizes(const RunPlan& plan, const Probe::Shared& shared, SizeOne why,
                                  Probe& probe) {
  const LiveRunner& runner = probe.runner();
  const bool of_sizes = runner.plan().backend.starts_with("tensorrt");
  const std::vector<TensorInfo>& inputs = runner.session().inputs;
  if (of_sizes || runner.inputs_unknown() || !SizesAreGuessed(plan, inputs)) return FoundSizes();
  NoLog unheard;
  const auto draw = [&](const RunPlan& sized) {
    return MakeFirstFeed(sized, inputs, shared, unheard);
  };
  const auto infer = [&](const TensorMap& feed) -> Result<bool> {
    if (runner.lost_worker()) return Unavailable("the worker is gone");
    VERNIER_ASSIGN_OR_RETURN(const TensorMap own, probe.Coerce(feed, unheard));
    return AllHaveElements(probe.Infer(own));
  };
  return FindSizes(plan, inputs, {draw, infer}, why);
}

}  // namespace vernier
