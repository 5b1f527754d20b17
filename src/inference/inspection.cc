#include "inference/inspection.h"

#include <utility>
#include <vector>

#include "model/onnx/model_type.h"
#include "run/runner/model_graph.h"
#include "run/saved/saved_runs.h"

namespace vernier {

Result<std::map<std::string, TensorRange>> ReadTensorRanges(const std::string& file, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(SavedRuns loaded,
                           SavedRuns::Open(std::vector{file}, LoadRule::kOutputs));
  const int64_t iterations = loaded.runs().empty() ? 0 : loaded.runs().front().iterations;
  if (iterations == 0) return Malformed("'" + file + "' has no iteration");
  if (iterations > 1) {
    log.Warning("Found " + std::to_string(iterations) +
                " iterations in tensor info file, only using the first one");
  }
  VERNIER_ASSIGN_OR_RETURN(const IterationResult first, loaded.Peek(0));
  std::map<std::string, TensorRange> ranges = RangesOf(first.outputs);
  VERNIER_TRY(loaded.CheckIntact());
  return ranges;
}

Status SaveGraphPage(const std::string& path, const ReportFile& page, RunRecord record) {
  RunPlan plan;
  RunnerPlan& runner = plan.runners.emplace_back();
  runner.model.path = path;
  runner.model.type = std::string(ModelTypeName(ModelType::kOnnx));
  record.graph = FindModelGraph(plan);
  if (!record.graph) return Malformed("'" + path + "' has no graph that can be drawn");
  return WriteReport(page, record);
}

}  // namespace vernier
