#include "surgeon/weight_tools.h"

#include <algorithm>
#include <span>
#include <utility>

#include "surgeon/constant_folding.h"
#include "surgeon/graph_parts.h"
#include "surgeon/sparse_weights.h"
#include "surgeon/stripped_weights.h"
#include "util/files/input_file.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

using NewValues = ReplacedWeights::Values;

// Values in typed fields become raw ones, which can be replaced.
Result<OnnxModel> WithRawValues(const OnnxModel& model, const NewValues& values) {
  return RewriteGraphs(model, [&](GraphInModel& here) -> Status {
    for (size_t i = 0; here.main && i < here.graph.initializers.size(); ++i) {
      const OnnxTensor& tensor = here.graph.initializers[i];
      const auto found = values.find(std::string(tensor.name));
      if (found == values.end() || tensor.external || tensor.raw_data.data() != nullptr) continue;
      VERNIER_ASSIGN_OR_RETURN(std::string made, MakeInitializer(tensor.name, found->second));
      here.parts.initializers[i] = here.store.Keep(std::move(made));
    }
    return {};
  });
}

Result<NewValues> PrunedWeights(const EditableModel& model, const NewValues& made,
                                const std::unordered_set<std::string_view>& skip, Logger& log) {
  const std::vector<PrunableWeight> weights = FindPrunableWeights(model.now(), skip, log);
  log.Start("Pruning " + std::to_string(weights.size()) + " tensors.");
  NewValues pruned;
  for (const PrunableWeight& weight : weights) {
    const std::string name(weight.tensor->name);
    const auto known = made.find(name);
    VERNIER_ASSIGN_OR_RETURN(const Tensor values, known == made.end()
                                                      ? model.ValuesOf(*weight.tensor)
                                                      : Result<Tensor>(known->second));
    VERNIER_ASSIGN_OR_RETURN(Tensor sparse, Pruned(values, weight.axis));
    pruned.emplace(name, std::move(sparse));
  }
  log.Finish("Finished pruning " + std::to_string(weights.size()) + " tensors. ");
  return pruned;
}

}  // namespace

std::vector<ReplacedValues> ReplacedWeights::Of(const OnnxModel& model) const {
  std::vector<ReplacedValues> replaced;
  for (const OnnxTensor& tensor : model.graph().initializers) {
    const auto found = values_.find(std::string(tensor.name));
    if (found == values_.end()) continue;
    const std::span<const std::byte> bytes = found->second.bytes();
    BytePieces pieces;
    pieces.AddView({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    replaced.push_back({tensor, std::move(pieces)});
  }
  return replaced;
}

Result<std::unordered_set<std::string_view>> FindSparseWeights(const EditableModel& model,
                                                               Logger& log) {
  std::unordered_set<std::string_view> sparse;
  const std::vector<PrunableWeight> weights = FindPrunableWeights(model.now(), {}, log);
  const std::string count = std::to_string(weights.size());
  log.Start("Checking the sparsity pattern of " + count + " tensors.");
  for (const PrunableWeight& weight : weights) {
    VERNIER_ASSIGN_OR_RETURN(const Tensor values, model.ValuesOf(*weight.tensor));
    const std::string name(weight.tensor->name);
    if (IsSparse(values, weight.axis)) {
      sparse.insert(weight.tensor->name);
      log.Info("Found sparse tensor: " + name);
    } else {
      log.Warning("Found non-sparse tensor: " + name);
    }
  }
  log.Finish("Finished checking " + count + " tensors. ");
  return sparse;
}

Result<ReplacedWeights> PruneWeights(EditableModel& model, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(NewValues pruned, PrunedWeights(model, {}, {}, log));
  if (!pruned.empty()) log.Info("Replacing weights to build new model object...");
  VERNIER_ASSIGN_OR_RETURN(OnnxModel raw, WithRawValues(model.now(), pruned));
  model.Become(std::move(raw));
  return ReplacedWeights(std::move(pruned));
}

Result<std::set<std::string>> ReadExcludeList(const WeightStripPlan& plan) {
  std::set<std::string> names;
  if (!plan.exclude_list) return names;
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const InputFile> file,
                           InputFile::Open(*plan.exclude_list));
  std::string text(file->size(), '\0');
  VERNIER_TRY(file->ReadAt(0, std::as_writable_bytes(std::span(text))));
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = Trim(std::string_view(text).substr(at, end - at));
    if (!line.empty()) names.emplace(line);
    at = end + 1;
  }
  return names;
}

Status StripWeights(EditableModel& model, std::set<std::string> exclude, Logger& log) {
  log.Start("Beginning weight stripping...");
  log.Warning(
      "The model is expected to be constant folded to successfully capture all weights eligible "
      "for stripping");
  const OnnxModel& now = model.now();
  log.Info("Querying Sparse Initializers in the model");
  const std::unordered_set<std::string_view> weights = FindStrippable(now, exclude);
  VERNIER_ASSIGN_OR_RETURN(const std::unordered_set<std::string_view> sparse,
                           FindSparseWeights(model, log));
  for (const OnnxTensor& tensor : now.graph().initializers) {
    if (weights.contains(tensor.name)) {
      log.Verbose("Stripping initializer " + std::string(tensor.name));
    }
  }
  VERNIER_ASSIGN_OR_RETURN(OnnxModel stripped, WithoutValues(now, weights, sparse));
  std::vector<std::string> unknown(exclude.begin(), exclude.end());
  if (!unknown.empty()) {
    log.Warning(
        "The following weights provided by the user to skip stripping were not found in the "
        "model: " +
        FormatPythonList(unknown) + ".");
  }
  log.Finish("Finished stripping " + std::to_string(weights.size()) + " weights");
  model.Become(std::move(stripped));
  return {};
}

Result<ReplacedWeights> ReconstructWeights(EditableModel& model, Logger& log) {
  log.Start("Beginning weight reconstruction...");
  NewValues made;
  std::unordered_set<std::string_view> stripped, sparse, skip;
  for (const OnnxTensor& tensor : model.now().graph().initializers) skip.insert(tensor.name);
  for (const StrippedWeight& weight : FindStripped(model.now())) {
    const std::string_view name = weight.tensor->name;
    log.Verbose("Reconstructing weights for the " + std::string(name) + " initializer");
    stripped.insert(name);
    if (weight.sparse) sparse.insert(name);
    if (weight.sparse) skip.erase(name);
    VERNIER_ASSIGN_OR_RETURN(Tensor values, StandIn(*weight.tensor));
    made.emplace(name, std::move(values));
  }
  log.Info("Calling Sparsity Pruner to prune selected weights");
  VERNIER_ASSIGN_OR_RETURN(NewValues pruned, PrunedWeights(model, made, skip, log));
  for (auto& [name, values] : pruned) made[name] = std::move(values);
  log.Finish("Finished reconstructing " + std::to_string(made.size()) + " weights");
  if (made.empty()) return ReplacedWeights();
  VERNIER_ASSIGN_OR_RETURN(OnnxModel emptied, WithoutValues(model.now(), stripped, sparse));
  model.Become(std::move(emptied));
  return ReplacedWeights(std::move(made));
}

}  // namespace vernier
