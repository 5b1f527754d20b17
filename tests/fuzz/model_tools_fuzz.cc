// What is done with a model before it runs: its faults, its summary, the ranges of its inputs,
// parts cut out of it, its weights detached, float16. What these make must be models again.
#include <algorithm>

#include "fuzz_target.h"
#include "lint/lint.h"
#include "model/edit/detached_weights.h"
#include "model/edit/onnx_extract.h"
#include "model/float16/float16_edit.h"
#include "model/onnx/byte_pieces.h"
#include "model/onnx/onnx_summary.h"
#include "model/ranges/input_ranges.h"

namespace vernier {
namespace {

// Nothing is there: what a model names is not read from wherever the target runs.
constexpr const char* kNoFolder = "/nonexistent";
// More parts teach nothing that the first do not.
constexpr size_t kMostParts = 8;

void Lint(const OnnxModel& model) {
  Findings findings(model, {});
  LintModel(model, {{}, kNoFolder}, findings);
  const LintRecord record = MakeLintRecord(model, std::move(findings), {});
  fuzz::Require(!ToJson(record).empty(), "a report can be written");
  for (const LintFinding& finding : record.findings) {
    fuzz::Require(!finding.message.empty(), "a finding says what it is");
  }
}

void FindRanges(const OnnxModel& model) {
  for (const InputRange& range : FindInputRanges(model, {}).ranges) {
    fuzz::Require(range.low <= range.high && !range.reason.empty(), "a range holds a value");
  }
}

void RequireModel(const Result<std::vector<std::byte>>& bytes) {
  fuzz::Require(bytes.ok(), "a part has bytes");
  fuzz::Require(OnnxModel::FromBytes(*bytes, nullptr, "part").ok(), "and is a model");
}

void CutParts(const OnnxModel& model) {
  const OnnxGraph& graph = model.graph();
  for (size_t i = 0; i < std::min(graph.nodes.size(), kMostParts); ++i) {
    ExtractPlan plan;
    for (const std::string_view name : graph.Inputs(graph.nodes[i])) {
      if (!name.empty()) plan.inputs.push_back({std::string(name), DType::kUndefined, {}});
    }
    for (const std::string_view name : graph.Outputs(graph.nodes[i])) {
      if (!name.empty()) plan.outputs.push_back({std::string(name), DType::kUndefined, {}});
    }
    const auto pieces = ExtractModel(model, plan);
    if (pieces.ok()) RequireModel(ToBytes(*pieces));
  }
}

void Detach(const OnnxModel& model) {
  const auto detached = DetachWeights(model, nullptr, {});
  if (detached.ok()) RequireModel(detached->bytes);
}

}  // namespace
}  // namespace vernier

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vernier;
  const auto model = OnnxModel::FromBytes(fuzz::Bytes(data, size), nullptr, "fuzz");
  if (!model.ok()) return 0;
  Lint(*model);
  FindRanges(*model);
  (void)SummariseOnnx(*model);
  CutParts(*model);
  Detach(*model);
  (void)ConvertToFloat16(*model, {}, {}, {}, Float16Range::kKeepNodes);
  (void)ConvertToFloat16(*model, {}, {}, {}, Float16Range::kClamp);
  return 0;
}
