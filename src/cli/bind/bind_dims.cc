#include "cli/bind/bind_dims.h"

#include <string>
#include <vector>

#include "inputs/dim_sizes.h"

namespace vernier {

Status BindDims(const ParsedArgs& args, FeedsFrom from, RunPlan& plan, Logger& logger) {
  const std::span<const std::string> given = args.List("dims");
  std::vector<std::string> words(given.begin(), given.end());
  for (const RunnerPlan& runner : plan.runners) {
    for (const DimSize& own : runner.dims) {
      words.push_back(own.dimension + "=" + std::to_string(own.size));
    }
  }
  VERNIER_ASSIGN_OR_RETURN(plan.inputs.dims, ParseDimSizes(words));
  for (RunnerPlan& runner : plan.runners) {
    runner.dims = plan.inputs.dims;
    runner.equal_names = !plan.lenient;
  }
  if (!words.empty() && from == FeedsFrom::kElsewhere) {
    logger.Warning(
        "--dim has no effect: inputs that are loaded or made by a script have their own shapes");
  }
  return {};
}

}  // namespace vernier
