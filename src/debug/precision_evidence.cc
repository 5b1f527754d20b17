#include "debug/precision_evidence.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>

#include "blame/sides/memory_plan.h"
#include "blame/sides/run_for_tensors.h"
#include "debug/mask_flow.h"
#include "inputs/cast_tensor.h"
#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "util/text/first_line.h"
#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Each batch costs a session and an inference of both models. Its tensors are held four times at
// the worst moment: by the framework and here, those in float16 along with them.
constexpr uint64_t kMostBatchBytes = uint64_t{1} << 30;
constexpr uint64_t kBatchCopies = 4;

constexpr double kLargestHalf = 65504, kSmallestHalf = 0x1p-24;

// Large numbers cancel where so much smaller ones are left.
constexpr double kCancelled = 16, kRoundingOfHalf = 0x1p-11;

// What adds less than this part of the worst error is not likely; beside what float16 cannot hold,
// no error below this; nor are more than so many nodes.
constexpr double kMostOfError = 1.0 / 8, kLargeError = 0.05;
constexpr size_t kMostLikely = 8;

// Of an input that is as wrong as this, nothing is left to judge a node by.
constexpr double kNothingLeft = 0.5;

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

// Of the finite values of a tensor, and how far others are from them. The largest magnitude is 0
// and the highest value -infinity where there are none; the error is infinite where a finite value
// became none.
struct ValueReach {
  double largest = 0, highest = -kInfinity, error = 0;

  double relative_error() const {
    if (std::isinf(error)) return error;
    return largest == 0 ? 0 : error / largest;
  }
};

bool AreComparable(const Tensor& exact, const Tensor& half) {
  return CanCast(exact.dtype(), DType::kFloat32) && CanCast(half.dtype(), DType::kFloat32) &&
         exact.element_count() == half.element_count();
}

// Both are comparable.
ValueReach MeasureReach(const Tensor& exact, const Tensor& half) {
  const ElementSpan ours = Elements(exact), theirs = Elements(half);
  std::vector<float> a(kBlockSize), b(kBlockSize);
  float largest = 0, highest = -std::numeric_limits<float>::infinity();
  double error = 0;
  for (int64_t start = 0; start < ours.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, ours.count - start));
    const float* x = LoadBlock(ours, start, n, a.data());
    const float* y = LoadBlock(theirs, start, n, b.data());
    for (size_t i = 0; i < n; ++i) {
      if (!std::isfinite(x[i])) continue;
      largest = std::max(largest, std::abs(x[i]));
      highest = std::max(highest, x[i]);
      const double away = std::abs(double{y[i]} - double{x[i]});
      error = std::max(error, std::isfinite(away) ? away : kInfinity);
    }
  }
  return {largest, highest, error};
}

// Does each row along the last axis have a value above what float16 has? A Softmax of such a row
// makes 0 of whatever is below, be it -3.4e38, -65504 or an infinity.
bool RowsHaveValues(const Tensor& exact) {
  if (exact.dtype() != DType::kFloat32 || exact.dims().empty()) return false;
  const size_t width = static_cast<size_t>(exact.dims().back());
  const std::span<const float> values = exact.As<float>();
  for (size_t begin = 0; width > 0 && begin < values.size(); begin += width) {
    const std::span<const float> row = values.subspan(begin, width);
    if (std::none_of(row.begin(), row.end(), [](float x) { return x > -kLargestHalf; })) {
      return false;
    }
  }
  return width > 0;
}

// Has float16 none of the values of a tensor, or not its largest?
bool IsBeyondHalf(double largest) {
  return largest > kLargestHalf || (largest > 0 && largest < kSmallestHalf / 2);
}

class Evidence {
 public:
  Evidence(const EditableModel& model, RunPlan exact, RunPlan half,
           const std::atomic<int>& interrupted, Logger& log)
      : graph_(model.now().graph()),
        masks_(model.now()),
        log_(log),
        interrupted_(interrupted),
        exact_plan_(std::move(exact)),
        half_plan_(std::move(half)) {
    for (const OnnxNode& node : graph_.nodes) {
      if (node.op_type != "Softmax" || graph_.Inputs(node).empty()) continue;
      int64_t axis = -1;
      for (const OnnxAttribute& attribute : model.now().Attributes(node)) {
        if (attribute.name == "axis") axis = attribute.i;
      }
      axes_[std::string(graph_.Inputs(node)[0])] = axis;
    }
  }

  // The errors of all values that nodes of the main graph make.
  Status Measure() {
    std::vector<std::string> names;
    for (const OnnxValue& input : graph_.inputs) names.emplace_back(input.name);
    for (const OnnxNode& node : graph_.nodes) {
      for (const std::string_view name : graph_.Outputs(node)) {
        if (!name.empty()) names.emplace_back(name);
      }
    }
    VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<TensorReader> exact_run,
                             TensorReader::Open(exact_plan_, interrupted_, log_));
    VERNIER_TRY(SettleSizes(*exact_run));
    VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<TensorReader> half_run,
                             TensorReader::Open(half_plan_, interrupted_, log_));
    const uint64_t bytes = std::min(kMostBatchBytes, HalfOfFreeMemory() / kBatchCopies);
    VERNIER_ASSIGN_OR_RETURN(const auto batches, exact_run->Split(names, bytes));
    for (const std::vector<std::string>& batch : batches) {
      VERNIER_ASSIGN_OR_RETURN(const TensorMap exact, exact_run->Run(batch));
      VERNIER_ASSIGN_OR_RETURN(const TensorMap half, half_run->Run(batch));
      Note(exact, half);
    }
    return {};
  }

  double InheritedBy(const OnnxNode& node) { return Largest(graph_.Inputs(node)); }

  // What the node adds to the errors of its inputs.
  double AddedBy(const OnnxNode& node) {
    const double before = Largest(graph_.Inputs(node)), after = Largest(graph_.Outputs(node));
    if (std::isinf(after)) return std::isinf(before) ? 0 : kInfinity;
    return before >= kNothingLeft ? 0 : std::max(0.0, after - before);
  }

  bool Overflows(const OnnxNode& node) {
    const auto overflows = [&](std::string_view name) {
      return LargestIn({&name, 1}) > kLargestHalf && !IsMask(name);
    };
    const auto inputs = graph_.Inputs(node), outputs = graph_.Outputs(node);
    return std::any_of(inputs.begin(), inputs.end(), overflows) ||
           std::any_of(outputs.begin(), outputs.end(), overflows);
  }

  bool TouchesBeyond(const OnnxNode& node) {
    const auto beyond = [&](std::string_view name) {
      return IsBeyondHalf(LargestIn({&name, 1})) && !IsMask(name);
    };
    const auto inputs = graph_.Inputs(node), outputs = graph_.Outputs(node);
    return std::any_of(inputs.begin(), inputs.end(), beyond) ||
           std::any_of(outputs.begin(), outputs.end(), beyond);
  }

  // How much larger the inputs of a sum are than what is left of them: so much their rounding
  // grows. It follows from the exact values; ONNX Runtime keeps more digits between nodes than
  // float16 has.
  double CancelledBy(const OnnxNode& node) const {
    if (node.op_type != "Add" && node.op_type != "Sub" && node.op_type != "Sum") return 0;
    const double left = LargestIn(graph_.Outputs(node));
    return left == 0 ? 0 : LargestIn(graph_.Inputs(node)) / left;
  }

 private:
  // Sizes that the model runs with are as good for the other one.
  Status SettleSizes(TensorReader& exact) {
    VERNIER_ASSIGN_OR_RETURN(const FoundSizes found, exact.SettleSizes());
    if (found.dims.empty()) return {};
    log_.Info(found.note);
    exact_plan_.inputs.found_dims = half_plan_.inputs.found_dims = found.dims;
    return {};
  }

  void Note(const TensorMap& exact, const TensorMap& half) {
    std::vector<const Tensor*> others;
    for (const NamedTensor& tensor : exact) others.push_back(Find(half, tensor.name));
    std::vector<ValueReach> reaches(exact.size());
    threads_.Run(exact.size(), [&](size_t i, size_t) {
      const Tensor& ours = exact[i].tensor;
      const bool comparable = others[i] != nullptr && AreComparable(ours, *others[i]);
      reaches[i] = MeasureReach(ours, comparable ? *others[i] : ours);
    });
    for (size_t i = 0; i < exact.size(); ++i) {
      if (others[i] != nullptr) errors_[exact[i].name] = reaches[i].relative_error();
      const bool float32 = exact[i].tensor.dtype() == DType::kFloat32;
      largest_[exact[i].name] = float32 ? reaches[i].largest : 0;
      highest_[exact[i].name] = float32 ? reaches[i].highest : 0;
      NoteRows(exact[i]);
    }
  }

  void NoteRows(const NamedTensor& tensor) {
    const auto axis = axes_.find(tensor.name);
    if (axis == axes_.end()) return;
    const bool last =
        axis->second == -1 || axis->second + 1 == static_cast<int64_t>(tensor.tensor.dims().size());
    if (last && RowsHaveValues(tensor.tensor)) rows_have_values_.insert(tensor.name);
  }

  // Is only what is far below zero beyond float16, and does that end in Softmax alone, where it
  // becomes 0 anyway?
  bool IsMask(std::string_view name) {
    const auto largest = largest_.find(std::string(name));
    if (largest == largest_.end() || largest->second <= kLargestHalf) return false;
    if (highest_.at(largest->first) > kLargestHalf) return false;
    const std::optional<MaskFlow::Ends>& ends = masks_.EndsOf(name);
    return ends && std::all_of(ends->begin(), ends->end(), [&](const OnnxNode* softmax) {
             const auto error = errors_.find(std::string(graph_.Outputs(*softmax)[0]));
             return rows_have_values_.contains(std::string(graph_.Inputs(*softmax)[0])) &&
                    error != errors_.end() && error->second < kLargeError;
           });
  }

  double Largest(std::span<const std::string_view> names) {
    double largest = 0;
    for (const std::string_view name : names) {
      const auto found = errors_.find(std::string(name));
      if (found == errors_.end() || found->second <= largest || IsMask(name)) continue;
      largest = found->second;
    }
    return largest;
  }

  double LargestIn(std::span<const std::string_view> names) const {
    double largest = 0;
    for (const std::string_view name : names) {
      const auto found = largest_.find(std::string(name));
      if (found != largest_.end()) largest = std::max(largest, found->second);
    }
    return largest;
  }

  const OnnxGraph& graph_;
  MaskFlow masks_;
  Logger& log_;
  const std::atomic<int>& interrupted_;
  RunPlan exact_plan_, half_plan_;
  ThreadPool threads_;
  std::unordered_map<std::string, double> errors_;
  std::unordered_map<std::string, double> largest_, highest_;  // of the exact values
  std::unordered_map<std::string, int64_t> axes_;              // of what a Softmax reads
  std::set<std::string> rows_have_values_;
};

// The nodes among `chosen`, and what makes the inputs of those that cancel.
void AddMakers(std::span<const PrecisionEvidence> evidence, std::span<const LowerableNode> nodes,
               std::set<uint32_t>& chosen) {
  std::set<std::pair<const OnnxGraph*, std::string_view>> read;
  for (const uint32_t index : chosen) {
    if (!evidence[index].cancels) continue;
    const LowerableNode& node = nodes[index];
    for (const std::string_view name : node.graph->Inputs(*node.node)) {
      read.emplace(node.graph, name);
    }
  }
  for (uint32_t i = 0; i < nodes.size() && !read.empty(); ++i) {
    for (const std::string_view name : nodes[i].graph->Outputs(*nodes[i].node)) {
      if (read.contains({nodes[i].graph, name})) chosen.insert(i);
    }
  }
}

}  // namespace

NodeSet LikelyNodes(std::span<const PrecisionEvidence> evidence,
                    std::span<const LowerableNode> nodes, const NodeSet& ranked) {
  std::set<uint32_t> chosen;
  double worst = 0;
  for (uint32_t i = 0; i < evidence.size(); ++i) {
    if (evidence[i].impossible()) {
      chosen.insert(i);
    } else {
      worst = std::max(worst, evidence[i].error);
    }
  }
  const double least = std::max(worst * kMostOfError, chosen.empty() ? 0 : kLargeError);
  const size_t most = chosen.size() + kMostLikely;
  const bool impossible = !chosen.empty();
  for (const uint32_t i : ranked) {
    if (chosen.contains(i)) continue;
    // Behind values that float16 cannot hold, errors grow of themselves.
    if (impossible && evidence[i].error < evidence[i].inherited) continue;
    if (chosen.size() == most || worst == 0 || evidence[i].error < least) break;
    chosen.insert(i);
  }
  AddMakers(evidence, nodes, chosen);
  NodeSet likely;
  for (const uint32_t i : ranked) {
    if (chosen.contains(i)) likely.push_back(i);
  }
  return likely;
}

Result<std::vector<PrecisionEvidence>> GatherEvidence(const std::optional<RunPlan>& inference,
                                                      const EditableModel& model,
                                                      const std::string& half,
                                                      const EvidenceSetting& setting) {
  const auto& [nodes, interrupted, log] = setting;
  std::vector<PrecisionEvidence> evidence;
  for (const LowerableNode& lowerable : nodes) {
    evidence.push_back({.rule = RuleOf(*lowerable.node)});
  }
  if (!inference) return evidence;
  RunPlan lowered = *inference;
  lowered.runners.front().model.path = half;
  Evidence measured(model, *inference, std::move(lowered), interrupted, log);
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
    const OnnxNode& node = graph.nodes[nodes[i].owner];
    evidence[i].error = measured.AddedBy(node);
    evidence[i].inherited = measured.InheritedBy(node);
    evidence[i].beyond = measured.TouchesBeyond(node);
    evidence[i].overflows = measured.Overflows(node);
    const double cancelled = measured.CancelledBy(node);
    evidence[i].cancels = cancelled > kCancelled;
    if (evidence[i].cancels) {
      evidence[i].error = std::max(evidence[i].error, cancelled * kRoundingOfHalf);
    }
  }
  return evidence;
}

}  // namespace vernier
