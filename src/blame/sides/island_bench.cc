#include "blame/sides/island_bench.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "inputs/cast_tensor.h"
#include "model/rounding/near_ties.h"
#include "model/rounding/unit_roundoff.h"
#include "run/live/pair_error_bounds.h"
#include "util/text/first_line.h"

namespace vernier {
namespace {

constexpr int64_t kMostFailures = 64;

bool IsFloat(DType dtype) { return Kind(dtype) == DTypeKind::kFloat; }

// Values that the candidate's type cannot hold would be an error of their own.
Result<Tensor> FitTo(DType wanted, std::string_view name, const Tensor& tensor) {
  if (wanted == DType::kUndefined || wanted == tensor.dtype()) return tensor;
  const std::string what = "'" + std::string(name) + "' is " +
                           std::string(DTypeName(tensor.dtype())) + " in the reference and " +
                           std::string(DTypeName(wanted)) + " in the candidate";
  const bool possible = CanCast(tensor.dtype(), wanted) && wanted != DType::kBool &&
                        IsFloat(wanted) == IsFloat(tensor.dtype());
  if (!possible) return InvalidArgument(what);
  if (AnyOutOfRange(tensor, wanted))
    return InvalidArgument(what + ", which cannot hold its values");
  return CastTensor(tensor, wanted);
}

Result<TensorMap> FeedOf(std::span<const std::string> inputs, const IslandFeed& feed) {
  TensorMap tensors;
  for (const std::string& name : inputs) {
    const Tensor* tensor = feed.values(name);
    if (tensor == nullptr) return Internal("an input of an island is not known");
    VERNIER_ASSIGN_OR_RETURN(Tensor fitted, FitTo(feed.declared(name).dtype, name, *tensor));
    tensors.push_back({name, std::move(fitted)});
  }
  return tensors;
}

}  // namespace

IslandBench::IslandBench(const BlameGraph& graph, ProbeSide& side, BenchArithmetic arithmetic,
                         std::vector<Island> islands)
    : graph_(graph),
      side_(side),
      arithmetic_(arithmetic),
      islands_(std::move(islands)),
      hopeless_(islands_.size()) {
  Group all;
  all.islands.resize(islands_.size());
  std::iota(all.islands.begin(), all.islands.end(), size_t{0});
  if (!all.islands.empty()) groups_.push_back(std::move(all));
}

void IslandBench::CloseSessions() {
  for (Group& group : groups_) ProbeSide::Close(group.session);
}

Status IslandBench::Open(Group& group, const IslandFeed& feed) {
  const TensorLookup& as_fed = feed.declared;
  std::vector<Island> islands;
  for (const size_t index : group.islands) islands.push_back(islands_[index]);
  const TensorLookup declared = group.free_sizes ? WithFreeSizes(as_fed) : as_fed;
  VERNIER_ASSIGN_OR_RETURN(IslandsModel model, BuildIslands(graph_.model(), islands, declared));
  std::vector<TensorInfo> infos;
  group.dims.clear();
  for (const std::string& name : model.inputs) {
    infos.push_back(declared(name));
    infos.back().name = name;
    InputDims& input = group.dims.emplace_back(InputDims{name, {}});
    const TensorInfo fed = as_fed(name);
    if (!fed.shape) continue;
    for (const Dim& dim : *fed.shape) input.dims.push_back(dim.value);
  }
  std::vector<std::string> outputs;
  for (const auto& names : model.outputs) {
    outputs.insert(outputs.end(), names.begin(), names.end());
  }
  group.inputs = std::move(model.inputs);
  group.outputs = std::move(model.outputs);
  group.made = std::move(model.made);
  const auto look = [&](const OnnxModel& parts) {
    group.steps.reset();
    if (HasQuantisers(parts)) group.steps = parts;
    Predict(parts, feed, group);
  };
  VERNIER_ASSIGN_OR_RETURN(group.session, side_.OpenParts(model.bytes, infos, outputs, look));
  return {};
}

// Both sides read the same values, which show where a step may be taken or not: also those that
// the reference has between the nodes of an island.
void IslandBench::Predict(const OnnxModel& model, const IslandFeed& feed, Group& group) const {
  std::vector<std::string> outputs;
  for (const auto& names : group.outputs) {
    outputs.insert(outputs.end(), names.begin(), names.end());
  }
  SeenOutputs seen;
  seen.fed = [&](std::string_view name) {
    const auto made = group.made.find(std::string(name));
    if (made == group.made.end()) return feed.values(name);
    return group.steps ? feed.values(made->second) : nullptr;
  };
  seen.passes = [](const std::string&, const ErrorPrediction&) { return true; };
  Result<ErrorPredictions> predictions =
      PredictErrors(model, group.dims, arithmetic_.reference, arithmetic_.candidate, outputs,
                    FedInputs::kRounded, seen);
  if (predictions.ok()) group.predictions = *std::move(predictions);
}

std::string IslandBench::WhyNot(size_t island, const IslandFeed& feed) const {
  if (!hopeless_[island].empty()) return hopeless_[island];
  for (const std::string_view name : graph_.InputsOf(islands_[island])) {
    const Tensor* tensor = feed.values(name);
    if (tensor == nullptr) return "its input '" + std::string(name) + "' is not known";
    const Result<Tensor> fits = FitTo(feed.declared(name).dtype, name, *tensor);
    if (!fits.ok()) return "its input " + fits.status().message();
  }
  return {};
}

Status IslandBench::RunGroup(Group& group, const IslandFeed& feed,
                             std::vector<IslandResult>& results) {
  if (group.session == nullptr) {
    VERNIER_TRY(Open(group, feed));
  } else if (group.steps) {
    Predict(*group.steps, feed, group);
  }
  VERNIER_ASSIGN_OR_RETURN(const TensorMap tensors, FeedOf(group.inputs, feed));
  VERNIER_ASSIGN_OR_RETURN(TensorMap outputs, side_.InferAsIs(*group.session, tensors));
  kept_.push_back(std::move(outputs));
  std::unordered_map<std::string_view, const Tensor*> by_name;
  for (const NamedTensor& output : kept_.back()) by_name[output.name] = &output.tensor;
  for (size_t i = 0; i < group.islands.size(); ++i) {
    IslandResult& result = results[group.islands[i]];
    for (const std::string& name : group.outputs[i]) {
      const auto found = by_name.find(name);
      result.outputs.push_back(found == by_name.end() ? nullptr : found->second);
    }
    NoteNearTies(group, i, feed, result);
  }
  return {};
}

// Both sides choose from the same values, give or take a rounding.
void IslandBench::NoteNearTies(Group& group, size_t index, const IslandFeed& feed,
                               const IslandResult& result) const {
  constexpr double kRoundings = 4;
  const Island& island = islands_[group.islands[index]];
  for (const uint32_t place : island.nodes) {
    const OnnxNode& node = graph_.graph().nodes[place];
    const auto outputs = graph_.graph().Outputs(node);
    const auto inputs = graph_.graph().Inputs(node);
    for (size_t k = 0; k < island.outputs.size(); ++k) {
      const auto made = std::find(outputs.begin(), outputs.end(), island.outputs[k]);
      const auto at = static_cast<size_t>(made - outputs.begin());
      if (at == outputs.size() || !IsChoice(node.op_type, at)) continue;
      const Tensor* values = inputs.empty() ? nullptr : feed.values(inputs[0]);
      if (values == nullptr || result.outputs[k] == nullptr) continue;
      const double roundoff =
          std::max({UnitRoundoff(values->dtype()), UnitRoundoff(arithmetic_.reference.computes_in),
                    UnitRoundoff(arithmetic_.candidate.computes_in)});
      group.predictions[group.outputs[index][k]].chosen = NearTies(
          graph_.model(), node, *values, result.outputs[k]->element_count(), kRoundings * roundoff);
    }
  }
}

// With sizes that are known a runtime may choose an If's branch before it runs, and then refuse
// what fits none of the sizes, such as the other branch: it takes the model whose sizes are free.
bool IslandBench::MayTryFreeSizes(const Group& group) const {
  if (group.free_sizes || group.islands.size() != 1) return false;
  const std::vector<uint32_t>& nodes = islands_[group.islands[0]].nodes;
  return std::any_of(nodes.begin(), nodes.end(), [this](uint32_t node) {
    return graph_.graph().nodes[node].subgraph_count > 0;
  });
}

void IslandBench::Split(size_t index, const Status& why) {
  CloseSessions();
  if (MayTryFreeSizes(groups_[index])) {
    groups_[index].free_sizes = true;
    return;
  }
  ++failures_;
  Group failed = std::move(groups_[index]);
  const auto at = groups_.begin() + static_cast<ptrdiff_t>(index);
  if (failed.islands.size() == 1 || failures_ > kMostFailures) {
    for (const size_t island : failed.islands) {
      hopeless_[island] = "it cannot be run alone: " + FirstLine(why.message());
    }
    groups_.erase(at);
    return;
  }
  Group first, second;
  const auto middle = failed.islands.begin() + static_cast<ptrdiff_t>(failed.islands.size() / 2);
  first.islands.assign(failed.islands.begin(), middle);
  second.islands.assign(middle, failed.islands.end());
  *at = std::move(second);
  groups_.insert(groups_.begin() + static_cast<ptrdiff_t>(index), std::move(first));
}

// Islands that cannot be run on these tensors leave their groups; those that left for others and
// can be run again make a new one.
void IslandBench::Regroup(const std::vector<IslandResult>& results) {
  const auto lost = [&](size_t island) { return !results[island].missing.empty(); };
  std::vector<bool> grouped(islands_.size(), false);
  for (Group& group : groups_) {
    if (std::any_of(group.islands.begin(), group.islands.end(), lost)) {
      std::erase_if(group.islands, lost);
      ProbeSide::Close(group.session);
    }
    for (const size_t island : group.islands) grouped[island] = true;
  }
  std::erase_if(groups_, [](const Group& group) { return group.islands.empty(); });
  Group returned;
  for (size_t i = 0; i < islands_.size(); ++i) {
    if (!grouped[i] && !lost(i)) returned.islands.push_back(i);
  }
  if (!returned.islands.empty()) groups_.push_back(std::move(returned));
}

Result<std::vector<IslandResult>> IslandBench::Run(const IslandFeed& feed) {
  kept_.clear();
  // The results point into it.
  kept_.reserve(islands_.size());
  std::vector<IslandResult> results(islands_.size());
  for (size_t i = 0; i < islands_.size(); ++i) results[i].missing = WhyNot(i, feed);
  Regroup(results);
  for (size_t i = 0; i < groups_.size();) {
    const Status status = RunGroup(groups_[i], feed, results);
    if (status.ok()) {
      ++i;
      continue;
    }
    if (status.code() == StatusCode::kCancelled) return status;
    Split(i, status);
  }
  for (size_t i = 0; i < islands_.size(); ++i) {
    if (results[i].outputs.empty() && results[i].missing.empty()) results[i].missing = hopeless_[i];
  }
  return results;
}

ErrorBound IslandBench::BoundOf(size_t island, size_t output, const Tensor& tensor) const {
  for (const Group& group : groups_) {
    for (size_t i = 0; i < group.islands.size(); ++i) {
      if (group.islands[i] != island) continue;
      const auto found = group.predictions.find(group.outputs[i][output]);
      if (found != group.predictions.end()) return MakeBound(found->second, tensor, true);
    }
  }
  const ErrorPrediction unknown =
      PredictFromDType(tensor.dtype(), arithmetic_.reference, arithmetic_.candidate);
  return MakeBound(unknown, tensor, false);
}

}  // namespace vernier
