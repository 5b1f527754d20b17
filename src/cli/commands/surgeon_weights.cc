// Weights made sparse, taken out of a model, and put back as stand-ins.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "cli/commands/commands.h"
#include "cli/commands/sparsity.h"
#include "cli/commands/surgery.h"
#include "cli/option_sets.h"
#include "surgeon/constant_folding.h"
#include "surgeon/graph_parts.h"
#include "surgeon/sparse_weights.h"
#include "surgeon/stripped_weights.h"
#include "util/input_file.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// New values for initializers of the main graph, by name.
using NewValues = std::unordered_map<std::string, Tensor>;

// Views into `values`.
std::vector<ReplacedValues> AsReplaced(const OnnxModel& model, const NewValues& values) {
  std::vector<ReplacedValues> replaced;
  for (const OnnxTensor& tensor : model.graph().initializers) {
    const auto found = values.find(std::string(tensor.name));
    if (found == values.end()) continue;
    const std::span<const std::byte> bytes = found->second.bytes();
    BytePieces pieces;
    pieces.AddView({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    replaced.push_back({tensor, std::move(pieces)});
  }
  return replaced;
}

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

Result<NewValues> PruneWeights(const EditableModel& model, const NewValues& made,
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

Status Prune(const ParsedArgs& args, ConsoleLog& log) {
  VERNIER_ASSIGN_OR_RETURN(Surgery surgery, Surgery::Open(args, log));
  surgery.Tell("Original Model:", log);
  VERNIER_ASSIGN_OR_RETURN(const NewValues pruned, PruneWeights(surgery.model(), {}, {}, log));
  if (!pruned.empty()) log.Info("Replacing weights to build new model object...");
  VERNIER_ASSIGN_OR_RETURN(OnnxModel raw, WithRawValues(surgery.model().now(), pruned));
  surgery.model().Become(std::move(raw));
  return surgery.Save(args, log, AsReplaced(surgery.model().now(), pruned));
}

Result<std::set<std::string>> ReadExcludeList(const ParsedArgs& args) {
  std::set<std::string> names;
  const auto path = args.Value("exclude_list");
  if (!path) return names;
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const InputFile> file,
                           InputFile::Open(std::string(*path)));
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

Status Strip(const ParsedArgs& args, ConsoleLog& log) {
  VERNIER_ASSIGN_OR_RETURN(std::set<std::string> exclude, ReadExcludeList(args));
  VERNIER_ASSIGN_OR_RETURN(Surgery surgery, Surgery::Open(args, log));
  surgery.Tell("Original Model:", log);
  log.Start("Beginning weight stripping...");
  log.Warning(
      "The model is expected to be constant folded to successfully capture all weights eligible "
      "for stripping");
  const OnnxModel& model = surgery.model().now();
  log.Info("Querying Sparse Initializers in the model");
  const std::unordered_set<std::string_view> weights = FindStrippable(model, exclude);
  VERNIER_ASSIGN_OR_RETURN(const std::unordered_set<std::string_view> sparse,
                           FindSparseWeights(surgery.model(), log));
  for (const OnnxTensor& tensor : model.graph().initializers) {
    if (weights.contains(tensor.name)) {
      log.Verbose("Stripping initializer " + std::string(tensor.name));
    }
  }
  VERNIER_ASSIGN_OR_RETURN(OnnxModel stripped, WithoutValues(model, weights, sparse));
  std::vector<std::string> unknown(exclude.begin(), exclude.end());
  if (!unknown.empty()) {
    log.Warning(
        "The following weights provided by the user to skip stripping were not found in the "
        "model: " +
        FormatPythonList(unknown) + ".");
  }
  log.Finish("Finished stripping " + std::to_string(weights.size()) + " weights");
  surgery.model().Become(std::move(stripped));
  return surgery.Save(args, log);
}

Status Reconstruct(const ParsedArgs& args, ConsoleLog& log) {
  VERNIER_ASSIGN_OR_RETURN(Surgery surgery, Surgery::Open(args, log));
  EditableModel& model = surgery.model();
  surgery.Tell("Original Model:", log);
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
  VERNIER_ASSIGN_OR_RETURN(NewValues pruned, PruneWeights(model, made, skip, log));
  for (auto& [name, values] : pruned) made[name] = std::move(values);
  log.Finish("Finished reconstructing " + std::to_string(made.size()) + " weights");
  if (made.empty()) return surgery.Save(args, log);
  VERNIER_ASSIGN_OR_RETURN(OnnxModel emptied, WithoutValues(model.now(), stripped, sparse));
  model.Become(std::move(emptied));
  return surgery.Save(args, log, AsReplaced(model.now(), made));
}

int SurgeonPruneCommand(std::span<const std::string> words, const Invocation& invocation) {
  return RunModelTool(kSurgeonPruneCommand, Prune, true, words, invocation);
}

int SurgeonWeightStripCommand(std::span<const std::string> words, const Invocation& invocation) {
  return RunModelTool(kSurgeonWeightStripCommand, Strip, true, words, invocation);
}

int SurgeonWeightReconstructCommand(std::span<const std::string> words,
                                    const Invocation& invocation) {
  return RunModelTool(kSurgeonWeightReconstructCommand, Reconstruct, true, words, invocation);
}

}  // namespace

constexpr CommandSpec kSurgeonPruneCommand = {
    .name = "surgeon prune",
    .section = CommandSection::kModels,
    .operands = "model_file -o FILE [options ...]",
    .summary = "make the weights of an ONNX model 2:4 sparse, to try sparse kernels",
    .about =
        "Set the two values of smallest magnitude of every four weights of Conv, Gemm and MatMul"
        " to zero. This is for trying sparse kernels: the model loses its accuracy.",
    .options = [] { return OptionTable({SurgeonOptions({})}); },
    .run = SurgeonPruneCommand,
};

constexpr CommandSpec kSurgeonWeightReconstructCommand = {
    .name = "surgeon weight-reconstruct",
    .section = CommandSection::kModels,
    .operands = "model_file -o FILE [options ...]",
    .summary = "fill the weights that weight-strip removed with random values",
    .about =
        "Fill the initializers that weight-strip emptied with random values, the same each time;"
        " those that were 2:4 sparse become sparse again.",
    .options = [] { return OptionTable({SurgeonOptions({})}); },
    .run = SurgeonWeightReconstructCommand,
};

constexpr CommandSpec kSurgeonWeightStripCommand = {
    .name = "surgeon weight-strip",
    .section = CommandSection::kModels,
    .operands = "model_file -o FILE [options ...]",
    .summary = "write an ONNX model without its weights, for refittable engines",
    .about =
        "Empty the weights of Conv, ConvTranspose, Gemm, MatMul, Gather, Slice and of operators"
        " outside the ONNX standard, and mark them for TensorRT. Fold constants first.",
    .options = [] { return OptionTable({SurgeonOptions(WeightStripGroup())}); },
    .run = SurgeonWeightStripCommand,
};

}  // namespace vernier
