#include "blame/layer_batch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "blame/tensor_judge.h"

namespace vernier {
namespace {

constexpr int kMostRounds = 8;

constexpr size_t kReferenceStream = 0;
constexpr size_t kCandidateStream = 1;

PairBars MakeBars(const BlameScene& scene) {
  PairBars bars(*scene.compare);
  if (scene.reference_runner != nullptr) bars.AddRunner(kReferenceStream, *scene.reference_runner);
  bars.AddRunner(kCandidateStream, *scene.candidate_runner);
  return bars;
}

BenchArithmetic ArithmeticOf(const PairBars& bars) {
  return {bars.ArithmeticOn(kReferenceStream, kCandidateStream),
          bars.ArithmeticOn(kCandidateStream, kCandidateStream)};
}

std::vector<Dim> ToShape(const Dims& dims) {
  std::vector<Dim> shape;
  for (const int64_t dim : dims) shape.push_back({dim, {}});
  return shape;
}

}  // namespace

LayerBatch::LayerBatch(const BlameScene& scene, std::vector<uint32_t> targets)
    : scene_(scene),
      targets_(std::move(targets)),
      bars_(MakeBars(scene)),
      reference_probe_(scene.reference, *scene.unexposed),
      candidate_sessions_(*scene.candidate, *scene.unexposed),
      bench_(*scene.graph, *scene.alone, ArithmeticOf(bars_)) {}

void LayerBatch::FindIslands() {
  islands_ = scene_.graph->Islands(targets_, *scene_.visible, *scene_.disputed);
  std::erase_if(islands_, [](const Island& island) { return island.outputs.empty(); });
}

// Outputs of the islands, and what they are fed with.
std::vector<std::string_view> LayerBatch::Wanted() const {
  std::vector<std::string_view> names;
  NameSet seen;
  const auto add = [&](std::string_view name) {
    if (scene_.visible->contains(name) && seen.insert(name).second) names.push_back(name);
  };
  for (const Island& island : islands_) {
    for (const std::string_view name : scene_.graph->InputsOf(island)) add(name);
    for (const std::string_view name : island.outputs) add(name);
  }
  return names;
}

Status LayerBatch::ProbeCandidate(const std::vector<std::string_view>& names,
                                  const TensorMap& feed) {
  std::vector<std::string> wanted(names.begin(), names.end());
  for (const std::string& output : scene_.outputs) {
    if (std::find(names.begin(), names.end(), output) == names.end()) wanted.push_back(output);
  }
  candidate_sessions_.Want(wanted);
  VERNIER_ASSIGN_OR_RETURN(const TensorMap outputs, candidate_sessions_.Run(feed));
  probed_outputs_.clear();
  for (const std::string& output : scene_.outputs) {
    if (const Tensor* tensor = Find(outputs, output)) probed_outputs_.push_back({output, *tensor});
  }
  std::unordered_map<std::string_view, const Tensor*> by_name;
  for (const NamedTensor& output : outputs) by_name[output.name] = &output.tensor;
  for (const std::string_view name : names) {
    const auto found = by_name.find(name);
    if (found != by_name.end()) candidate_[name] = *found->second;
  }
  return {};
}

void LayerBatch::DropInvisible(const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    if (!reference_.contains(name) || !candidate_.contains(name)) scene_.visible->erase(name);
  }
}

// Where a tensor cannot be had, an island grows and may read others. One that lacks an input even
// after the last round cannot be run, and says so.
Status LayerBatch::Probe(const TensorMap& feed, int64_t iteration) {
  reference_.clear();
  candidate_.clear();
  for (int round = 0; round < kMostRounds; ++round) {
    FindIslands();
    std::vector<std::string_view> missing = Wanted();
    std::erase_if(missing, [&](std::string_view name) { return candidate_.contains(name); });
    if (missing.empty()) return {};
    VERNIER_TRY(reference_probe_.Fetch(missing, feed, iteration, reference_));
    VERNIER_TRY(ProbeCandidate(missing, feed));
    DropInvisible(missing);
  }
  FindIslands();
  return {};
}

void LayerBatch::JudgeTotals(const TensorMap& feed) {
  bars_.SetFeed(feed);
  TensorMap ours;
  for (const Island& island : islands_) {
    for (const std::string_view name : island.outputs) {
      ours.push_back({*scene_.reference.pairs->Find(name), reference_.at(name)});
    }
  }
  const ErrorBars& bars = bars_.For(kReferenceStream, kCandidateStream, ours);
  for (const Island& island : islands_) {
    BlameLayerRecord layer;
    const uint32_t target = island.nodes.back();
    layer.node = scene_.graph->NodeName(target);
    layer.op_type = std::string(scene_.graph->graph().nodes[target].op_type);
    for (const std::string_view name : island.outputs) {
      const std::string& ours_name = *scene_.reference.pairs->Find(name);
      const Tensor& a = reference_.at(name);
      const Tensor& b = candidate_.at(name);
      const ErrorBar bar = bars.Find(ours_name) != nullptr ? *bars.Find(ours_name) : ErrorBar();
      const TensorJudgement judged = JudgeTensor(a, b, bar);
      BlameTensorRecord tensor;
      tensor.name = ours_name;
      if (name != ours_name) tensor.candidate_name = std::string(name);
      tensor.dtype = std::string(DTypeName(b.dtype()));
      tensor.shape = b.dims();
      tensor.total_error = judged.times;
      tensor.total_rms = judged.rms;
      tensor.total_bar = bar.rms;
      tensor.bar_why = bar.why;
      tensor.reference = RecordMagnitudes(a);
      tensor.candidate = RecordMagnitudes(b);
      layer.total_error = std::max(layer.total_error, judged.times);
      if (judged.times > 1) scene_.disputed->insert(name);
      layer.outputs.push_back(std::move(tensor));
    }
    layers_.push_back(std::move(layer));
  }
}

TensorSource LayerBatch::From(const TensorsByName& tensors, const TensorMap& feed) const {
  return [&tensors, &feed](std::string_view name) -> const Tensor* {
    const auto found = tensors.find(name);
    return found != tensors.end() ? &found->second : Find(feed, name);
  };
}

TensorLookup LayerBatch::AsFed() const {
  return [this](std::string_view name) {
    TensorInfo info;
    info.name = std::string(name);
    const Tensor* ours = From(reference_, *feed_)(name);
    const Tensor* theirs = From(candidate_, *feed_)(name);
    if (theirs != nullptr) info.dtype = theirs->dtype();
    // One feed serves models of several float types.
    for (const OnnxValue& input : scene_.graph->graph().inputs) {
      if (input.name == name && input.dtype != DType::kUndefined) info.dtype = input.dtype;
    }
    if (ours != nullptr) info.shape = ToShape(ours->dims());
    return info;
  };
}

void LayerBatch::JudgeOwn(size_t index, const IslandResult& result) {
  BlameLayerRecord& layer = layers_[index];
  const Island& island = islands_[index];
  layer.own_missing = result.missing;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const Tensor* alone = result.outputs[i];
    if (alone == nullptr) {
      layer.own_missing = "its output is not handed out when it runs alone";
      continue;
    }
    BlameTensorRecord& tensor = layer.outputs[i];
    const ErrorBar bar = bench_.BarOf(index, i, *alone);
    const TensorJudgement judged = JudgeTensor(reference_.at(island.outputs[i]), *alone, bar);
    tensor.own_error = judged.times;
    tensor.own_rms = judged.rms;
    tensor.own_bar = bar.rms;
    tensor.bar_why = bar.why;
    layer.own_error = std::max(layer.own_error.value_or(0), judged.times);
  }
}

void LayerBatch::JudgeInPlace(size_t index, const IslandResult& result) {
  BlameLayerRecord& layer = layers_[index];
  if (layer.total_error <= 1 || layer.own_error.value_or(0) > 1) return;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const Tensor* alone = result.outputs[i];
    if (alone == nullptr) continue;
    const ErrorBar bar = bench_.BarOf(index, i, *alone);
    const double times = JudgeTensor(candidate_.at(islands_[index].outputs[i]), *alone, bar).times;
    layer.in_place_error = std::max(layer.in_place_error.value_or(0), times);
  }
}

Status LayerBatch::MeasureOwn() {
  // Constants that differ are fed, so that only the node that makes them is blamed.
  FindIslands();
  std::string signature;
  for (const auto& [name, tensor] : reference_) {
    signature += std::string(name) + FormatDims(tensor.dims());
  }
  if (signature != bench_signature_ || bench_.islands().size() != islands_.size()) {
    bench_.Take(islands_, AsFed());
    bench_signature_ = signature;
  }
  for (size_t i = 0; i < islands_.size(); ++i) {
    BlameLayerRecord& layer = layers_[i];
    for (const std::string_view name : scene_.graph->InputsOf(islands_[i])) {
      layer.inputs.emplace_back(name);
    }
    if (islands_[i].nodes.size() == 1) continue;
    for (const uint32_t node : islands_[i].nodes) {
      const auto outputs = scene_.graph->graph().Outputs(scene_.graph->graph().nodes[node]);
      const bool constant = !outputs.empty() && scene_.graph->IsConstant(outputs[0]);
      if (!constant) layer.group.push_back(scene_.graph->NodeName(node));
    }
    if (layer.group.size() == 1) layer.group.clear();
  }
  VERNIER_ASSIGN_OR_RETURN(const std::vector<IslandResult> results,
                           bench_.Run(From(reference_, *feed_)));
  for (size_t i = 0; i < results.size(); ++i) JudgeOwn(i, results[i]);
  return {};
}

// Whether a node does the same alone as within the model, where its own error explains nothing.
Status LayerBatch::MeasureInPlace() {
  const bool wanted = std::any_of(layers_.begin(), layers_.end(), [](const auto& layer) {
    return layer.total_error > 1 && layer.own_error && *layer.own_error <= 1;
  });
  if (!wanted) return {};
  VERNIER_ASSIGN_OR_RETURN(const std::vector<IslandResult> results,
                           bench_.Run(From(candidate_, *feed_)));
  for (size_t i = 0; i < results.size(); ++i) JudgeInPlace(i, results[i]);
  return {};
}

void LayerBatch::NoteNonFinite(size_t index) {
  std::optional<NonFiniteRecord>& first = *scene_.first_nonfinite;
  if (first) return;
  const BlameLayerRecord& layer = layers_[index];
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    const BlameTensorRecord& tensor = layer.outputs[i];
    const auto bad = [](const MagnitudeRecord& m) { return m.nan_count + m.infinite_count > 0; };
    if (!bad(tensor.reference) && !bad(tensor.candidate)) continue;
    const bool theirs = bad(tensor.candidate);
    const TensorsByName& side = theirs ? candidate_ : reference_;
    NonFiniteRecord record;
    for (const std::string_view name : scene_.graph->InputsOf(islands_[index])) {
      const Tensor* operand = From(side, *feed_)(name);
      if (operand == nullptr) continue;
      record.operands.push_back({std::string(name), RecordMagnitudes(*operand)});
      if (bad(record.operands.back().values)) return;  // it inherits
    }
    const Tensor& values = side.at(islands_[index].outputs[i]);
    const MagnitudeRecord& counts = theirs ? tensor.candidate : tensor.reference;
    record.node = layer.node;
    record.op_type = layer.op_type;
    record.output = tensor.name;
    record.side = !theirs ? "reference" : bad(tensor.reference) ? "both" : "candidate";
    record.nan_count = counts.nan_count;
    record.infinite_count = counts.infinite_count;
    record.first = FirstNotFinite(values);
    first = std::move(record);
    return;
  }
}

Result<std::vector<BlameLayerRecord>> LayerBatch::Run(const TensorMap& feed, int64_t iteration) {
  feed_ = &feed;
  layers_.clear();
  VERNIER_TRY(Probe(feed, iteration));
  JudgeTotals(feed);
  VERNIER_TRY(MeasureOwn());
  VERNIER_TRY(MeasureInPlace());
  for (size_t i = 0; i < layers_.size(); ++i) {
    layers_[i].iteration = iteration;
    NoteNonFinite(i);
  }
  return std::move(layers_);
}

}  // namespace vernier
