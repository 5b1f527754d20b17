#include "cli/debug/precision_evidence.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <unordered_map>

#include "blame/tensor_run.h"
#include "cli/bind_model.h"
#include "cli/commands/interruption.h"
#include "inputs/cast_tensor.h"
#include "util/first_line.h"

namespace vernier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// So many tensors are in memory at once, of each of the two models.
constexpr size_t kBatch = 64;

// Sums of many terms, what grows without bounds, and what divides by small numbers.
constexpr std::string_view kSensitive[] = {"Softmax",
                                           "LogSoftmax",
                                           "LayerNormalization",
                                           "InstanceNormalization",
                                           "GroupNormalization",
                                           "ReduceMean",
                                           "ReduceSum",
                                           "ReduceSumSquare",
                                           "ReduceL2",
                                           "ReduceProd",
                                           "ReduceLogSumExp",
                                           "ReduceLogSum",
                                           "Pow",
                                           "Exp",
                                           "Log",
                                           "Reciprocal",
                                           "Div",
                                           "Sqrt",
                                           "GlobalAveragePool",
                                           "AveragePool",
                                           "Sum",
                                           "Mean",
                                           "MatMul",
                                           "Gemm",
                                           "Conv",
                                           "ConvTranspose"};

size_t RuleOf(const OnnxNode& node) {
  const auto* found = std::find(std::begin(kSensitive), std::end(kSensitive), node.op_type);
  return static_cast<size_t>(found - std::begin(kSensitive));
}

// How far the second tensor is from the first, relative to the first's largest magnitude. 0 for
// what cannot be held against each other.
double RelativeError(const Tensor& exact, const Tensor& half) {
  const Result<Tensor> a = CastTensor(exact, DType::kFloat32);
  const Result<Tensor> b = CastTensor(half, DType::kFloat32);
  if (!a.ok() || !b.ok() || a->element_count() != b->element_count()) return 0;
  const std::span<const float> x = a->As<float>(), y = b->As<float>();
  double largest = 0, error = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) continue;
    if (!std::isfinite(y[i])) return kInfinity;
    largest = std::max(largest, std::abs(double{x[i]}));
    error = std::max(error, std::abs(double{y[i]} - double{x[i]}));
  }
  return largest == 0 ? 0 : error / largest;
}

class Evidence {
 public:
  Evidence(const EditableModel& model, RunPlan exact, RunPlan half, Logger& log)
      : graph_(model.now().graph()), exact_(std::move(exact)), half_(std::move(half)), log_(log) {}

  // The errors of all values that nodes of the main graph make.
  Status Measure() {
    std::vector<std::string> names;
    for (const OnnxNode& node : graph_.nodes) {
      for (const std::string_view name : graph_.Outputs(node)) {
        if (!name.empty()) names.emplace_back(name);
      }
    }
    for (size_t begin = 0; begin < names.size(); begin += kBatch) {
      const auto at = names.begin() + static_cast<std::ptrdiff_t>(begin);
      const std::vector<std::string> some(
          at, at + static_cast<std::ptrdiff_t>(std::min(kBatch, names.size() - begin)));
      VERNIER_ASSIGN_OR_RETURN(const TensorMap exact,
                               RunForTensors(exact_, some, WatchSignals(), log_));
      VERNIER_ASSIGN_OR_RETURN(const TensorMap half,
                               RunForTensors(half_, some, WatchSignals(), log_));
      for (const NamedTensor& tensor : exact) {
        const Tensor* other = Find(half, tensor.name);
        if (other != nullptr) errors_[tensor.name] = RelativeError(tensor.tensor, *other);
      }
    }
    return {};
  }

  // What the node adds to the errors of its inputs.
  double AddedBy(const OnnxNode& node) const {
    const double before = Largest(graph_.Inputs(node)), after = Largest(graph_.Outputs(node));
    if (std::isinf(after)) return std::isinf(before) ? 0 : kInfinity;
    return std::max(0.0, after - before);
  }

 private:
  double Largest(std::span<const std::string_view> names) const {
    double largest = 0;
    for (const std::string_view name : names) {
      const auto found = errors_.find(std::string(name));
      if (found != errors_.end()) largest = std::max(largest, found->second);
    }
    return largest;
  }

  const OnnxGraph& graph_;
  RunPlan exact_, half_;
  Logger& log_;
  std::unordered_map<std::string, double> errors_;
};

// One inference of ONNX Runtime, of the model at `path` or of the one that is named.
Result<RunPlan> BindInference(const ParsedArgs& args, const Invocation& invocation,
                              const std::string& path, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(RunPlan plan, BindRun(args, invocation, log));
  RunnerPlan runner;
  runner.name = "onnxrt";
  runner.backend = "onnxruntime";
  VERNIER_ASSIGN_OR_RETURN(runner.model, BindModel(args));
  if (const auto library = args.Value("onnxrt_lib")) {
    runner.backend_options.emplace_back("lib", std::string(*library));
  }
  if (!path.empty()) runner.model.path = path;
  runner.model.type = "onnx";
  runner.model.save_path.clear();
  plan.runners = {std::move(runner)};
  return plan;
}

}  // namespace

Result<std::vector<PrecisionEvidence>> GatherEvidence(
    const ParsedArgs& args, const Invocation& invocation, const EditableModel& model,
    const std::string& half, std::span<const LowerableNode> nodes, Logger& log) {
  std::vector<PrecisionEvidence> evidence;
  for (const LowerableNode& lowerable : nodes) evidence.push_back({0, RuleOf(*lowerable.node)});
  VERNIER_ASSIGN_OR_RETURN(RunPlan exact, BindInference(args, invocation, "", log));
  VERNIER_ASSIGN_OR_RETURN(RunPlan lowered, BindInference(args, invocation, half, log));
  Evidence measured(model, std::move(exact), std::move(lowered), log);
  const Status status = measured.Measure();
  if (status.code() == StatusCode::kCancelled) return status;
  if (!status.ok()) {
    log.Warning(
        "Errors of single nodes cannot be measured; operators alone decide where to begin: " +
        FirstLine(status.message()));
    return evidence;
  }
  const OnnxGraph& graph = model.now().graph();
  for (size_t i = 0; i < nodes.size(); ++i) {
    evidence[i].error = measured.AddedBy(graph.nodes[nodes[i].owner]);
  }
  return evidence;
}

}  // namespace vernier
