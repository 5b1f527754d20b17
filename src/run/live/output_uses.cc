#include "run/live/output_uses.h"

#include "run/feeds/run_scripts.h"
#include "run/live/pair_error_bounds.h"
#include "run/workers/embedder.h"
#include "vernier/compare_options.h"
#include "vernier/run_plan.h"

namespace vernier {
namespace {

bool ReadsAllOutputs(const RunPlan& plan) {
  const PicturePlan& pictures = plan.pictures;
  const bool drawn = !pictures.heatmaps.empty() || !pictures.error_plots.empty() ||
                     pictures.show_heatmaps || pictures.show_error_plots;
  return plan.execution.sequential || plan.lenient || !plan.compare_script.path.empty() ||
         !plan.postprocess_script.path.empty() || !plan.save.outputs.empty() ||
         plan.save.WantsPage() || !plan.load_outputs.empty() || plan.validate || drawn ||
         plan.execution.WorkersOfRunner() > 1 || plan.execution.batch_feeds > 1 ||
         plan.postprocess.fallback || !plan.postprocess.entries.empty() ||
         plan.compare->no_shape_check || plan.noise_floor;
}

}  // namespace

bool OutputsAreOnlyCompared(const RunPlan& plan) {
  return plan.runners.size() > 1 && !plan.steps.wanted() && !ReadsAllOutputs(plan);
}

// A lone runner's state is a part of the feed, which maps and callers see. Bounds are measured by
// repeating steps.
bool StatesMayStay(const RunPlan& plan, const Embedder* caller) {
  const bool own = plan.steps.wanted() && plan.steps.state == StateSource::kOwn;
  const bool mapped = plan.runners.size() == 1 && !plan.inputs.map_words.empty();
  const bool bounds = PairErrorBounds(plan.compare).wanted() || BoundsNearTies(plan);
  const bool seen = caller != nullptr && (caller->keeps_outputs || plan.runners.size() == 1);
  return own && !mapped && !bounds && !plan.execution.parallel && !plan.shard.wanted() &&
         !ReadsAllOutputs(plan) && !seen;
}

}  // namespace vernier
