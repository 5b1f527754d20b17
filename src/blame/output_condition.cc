#include "blame/output_condition.h"

#include <algorithm>
#include <cmath>

#include "blame/verdicts.h"
#include "model/error_model.h"
#include "run/nudged_floats.h"
#include "util/number_text.h"

namespace vernier {
namespace {

constexpr size_t kMostNudged = 8;  // iterations

// The worst total error of an output; 0 where a layer makes an error, which explains it.
double UnexplainedError(const BlameGraph& graph, const BlameRecord& record) {
  double worst = record.disturbance.plain_error;
  for (const BlameLayerRecord& layer : record.layers) {
    const double made = std::max({layer.own_error.value_or(0), layer.fused_error.value_or(0),
                                  layer.in_place_error.value_or(0)});
    if (made > 1) return 0;
    for (const BlameTensorRecord& tensor : layer.outputs) {
      if (graph.IsOutput(tensor.name_in_candidate())) worst = std::max(worst, tensor.total_error);
    }
  }
  return worst;
}

// How far the outputs move when each input moves by one rounding step.
Status MeasureCondition(const ConditionScene& scene, BlameRecord& record) {
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<LiveRunner> session, scene.candidate->OpenPlain());
  const std::vector<TensorMap>& feeds = scene.plain->feeds();
  for (size_t i = 0; i < std::min(feeds.size(), kMostNudged); ++i) {
    if (scene.interrupted->load() != 0) return Cancelled("interrupted");
    TensorMap nudged = feeds[i];
    for (NamedTensor& input : nudged) {
      VERNIER_ASSIGN_OR_RETURN(input.tensor, NudgeFloats(input.tensor));
    }
    VERNIER_ASSIGN_OR_RETURN(const TensorMap outputs, scene.candidate->Infer(*session, nudged));
    const double roundoff = CoarsestRoundoff(nudged);
    if (roundoff == 0) continue;
    record.condition =
        std::max(record.condition, scene.plain->outputs().Movement(i, outputs) / roundoff);
  }
  ProbeSide::Close(session);
  return {};
}

}  // namespace

Status ExplainOutputs(const ConditionScene& scene, BlameRecord& record) {
  const double worst = UnexplainedError(*scene.graph, record);
  if (worst <= 1 || !std::isfinite(worst)) return {};
  for (const std::string& output : scene.graph->OutputNames()) {
    const auto found = scene.amplified->find(output);
    if (found != scene.amplified->end()) {
      record.condition = std::max(record.condition, found->second);
    }
  }
  // Flipped steps look like amplified rounding, and have their place in the bars.
  const bool measurable = !HasQuantisers(scene.graph->model());
  if (measurable && !ExplainedByRounding(worst, record)) {
    VERNIER_TRY(MeasureCondition(scene, record));
  }
  return {};
}

std::string DescribeCondition(const BlameGraph& graph, const BlameRecord& record) {
  const double worst = UnexplainedError(graph, record);
  if (worst <= 1 || !std::isfinite(worst) || !ExplainedByRounding(worst, record)) return {};
  return "the outputs differ by " + FormatG(worst, 3) +
         " times their error bound, which a condition number of " + FormatG(record.condition, 3) +
         " explains: the model amplifies rounding, which is no fault of a layer";
}

}  // namespace vernier
