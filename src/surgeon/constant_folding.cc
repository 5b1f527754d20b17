#include "surgeon/constant_folding.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/edit/model_composer.h"
#include "model/onnx/initializer_names.h"
#include "model/onnx/onnx_order.h"
#include "model/shapes/onnx_infer.h"
#include "surgeon/cleanup.h"
#include "surgeon/graph_parts.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

using Names = std::unordered_set<std::string_view>;

// Other numbers each time, or a meaning that a runtime looks for in the graph.
constexpr std::string_view kNeverFolded[] = {
    "QuantizeLinear",     "DequantizeLinear",  "DynamicQuantizeLinear", "RandomNormal",
    "RandomNormalLike",   "RandomUniform",     "RandomUniformLike",     "Multinomial",
    "Bernoulli",          "Dropout",           "SequenceEmpty",         "SequenceConstruct",
    "SplitToSequence",    "SequenceInsert",    "SequenceErase",         "SequenceMap",
    "SequenceAt",         "SequenceLength",    "ConcatFromSequence",    "Optional",
    "OptionalGetElement", "OptionalHasElement"};

constexpr uint64_t kLarge = uint64_t{1} << 20;

// Beyond this an initializer that is an input too is a default, which callers may replace.
constexpr int64_t kLastWithoutDefaults = 3;

bool MayBeFolded(const OnnxModel& model, const OnnxNode& node) {
  const auto* never = std::find(std::begin(kNeverFolded), std::end(kNeverFolded), node.op_type);
  if (never != std::end(kNeverFolded)) return false;
  if (node.domain.empty() || node.domain == "ai.onnx" || node.domain == "com.microsoft") {
    return true;
  }
  const auto& functions = model.contents().functions;
  return std::any_of(functions.begin(), functions.end(), [&](const OnnxFunction& function) {
    return function.name == node.op_type && function.domain == node.domain;
  });
}

// What can be folded of one graph, and what is wanted of that.
class FoldPlan {
 public:
  FoldPlan(const OnnxModel& model, const GraphInModel& here) : model_(model), here_(here) {
    FindConstants();
  }

  /// kMalformed for nodes that wait for each other.
  Status Find() {
    VERNIER_ASSIGN_OR_RETURN(order_, TopologicalOrder(model_, here_.graph));
    Names known = constants_;
    folded_.assign(here_.graph.nodes.size(), false);
    for (const uint32_t index : order_) {
      const OnnxNode& node = here_.graph.nodes[index];
      if (excluded_.contains(index) || !MayBeFolded(model_, node)) continue;
      const auto reads = ValuesReadBy(model_, here_.graph, node);
      const bool ready = std::all_of(reads.begin(), reads.end(),
                                     [&](std::string_view name) { return known.contains(name); });
      if (!ready || HandsOut(node)) continue;
      folded_[index] = true;
      for (const std::string_view name : here_.graph.Outputs(node)) known.insert(name);
    }
    FindWanted();
    return {};
  }

  void Exclude(std::string_view tensor) {
    if (const auto producer = producers_.find(tensor); producer != producers_.end()) {
      excluded_.insert(producer->second);
    }
  }

  /// Tensors that folded nodes make and others read.
  const std::vector<std::string_view>& wanted() const { return wanted_; }

  /// Those that the node which makes `tensor` reads and that are computed too.
  std::vector<std::string_view> Before(std::string_view tensor) const {
    std::vector<std::string_view> before;
    const OnnxNode& node = here_.graph.nodes[producers_.at(tensor)];
    for (const std::string_view name : ValuesReadBy(model_, here_.graph, node)) {
      if (producers_.contains(name)) before.push_back(name);
    }
    return before;
  }

  /// A model without inputs that computes these.
  Result<OnnxModel> Part(std::span<const std::string_view> tensors, const ValueTypes& types) const {
    ModelComposer composer(model_);
    for (const OnnxGraph* graph : here_.enclosing) composer.OpenBody(*graph);
    composer.OpenBody(here_.graph);
    for (const std::string_view name : tensors) {
      const auto type = types.find(name);
      const int32_t number = type == types.end() ? 0 : type->second;
      composer.AddOutput(
          {std::string(name), DTypeFromOnnx(number).value_or(DType::kUndefined), {}});
    }
    const Names needed = NodesBehind(tensors);
    for (const uint32_t index : order_) {
      const auto outputs = here_.graph.Outputs(here_.graph.nodes[index]);
      const bool wanted = std::any_of(outputs.begin(), outputs.end(), [&](std::string_view name) {
        return !name.empty() && needed.contains(name);
      });
      if (folded_[index] && wanted) composer.AddNode(here_.graph, here_.graph.nodes[index]);
    }
    VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces, composer.Finish());
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ToBytes(pieces));
    return OwnModel({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, model_.path());
  }

 private:
  void FindConstants() {
    std::vector<const OnnxGraph*> scopes(here_.enclosing.begin(), here_.enclosing.end());
    scopes.push_back(&here_.graph);
    const bool defaults = model_.contents().ir_version > kLastWithoutDefaults;
    for (const OnnxGraph* scope : scopes) {
      const bool inner = scope != &model_.graph();
      for (const OnnxNode& node : scope->nodes) {
        for (const std::string_view name : scope->Outputs(node)) constants_.erase(name);
      }
      if (inner) {
        for (const OnnxValue& input : scope->inputs) constants_.erase(input.name);
      }
      constants_.merge(InitializerNames(*scope));
      if (inner || !defaults) continue;
      for (const OnnxValue& input : scope->inputs) constants_.erase(input.name);
    }
    for (uint32_t i = 0; i < here_.graph.nodes.size(); ++i) {
      for (const std::string_view name : here_.graph.Outputs(here_.graph.nodes[i])) {
        if (!name.empty()) producers_.emplace(name, i);
      }
    }
  }

  // A body has to make what it hands out.
  bool HandsOut(const OnnxNode& node) const {
    if (here_.main) return false;
    const auto outputs = here_.graph.Outputs(node);
    return std::any_of(
        here_.graph.outputs.begin(), here_.graph.outputs.end(), [&](const OnnxValue& value) {
          return std::find(outputs.begin(), outputs.end(), value.name) != outputs.end();
        });
  }

  void FindWanted() {
    wanted_.clear();
    Names seen;
    const auto want = [&](std::string_view name) {
      const auto producer = producers_.find(name);
      const bool made = producer != producers_.end() && folded_[producer->second];
      if (made && seen.insert(name).second) wanted_.push_back(name);
    };
    for (const uint32_t index : order_) {
      if (folded_[index]) continue;
      for (const std::string_view name :
           ValuesReadBy(model_, here_.graph, here_.graph.nodes[index])) {
        want(name);
      }
    }
    for (const OnnxValue& output : here_.graph.outputs) want(output.name);
  }

  Names NodesBehind(std::span<const std::string_view> tensors) const {
    Names needed;
    std::vector<std::string_view> open(tensors.begin(), tensors.end());
    while (!open.empty()) {
      const std::string_view name = open.back();
      open.pop_back();
      const auto producer = producers_.find(name);
      if (producer == producers_.end() || !needed.insert(name).second) continue;
      const auto reads = ValuesReadBy(model_, here_.graph, here_.graph.nodes[producer->second]);
      open.insert(open.end(), reads.begin(), reads.end());
    }
    return needed;
  }

  const OnnxModel& model_;
  const GraphInModel& here_;
  Names constants_;
  std::unordered_map<std::string_view, uint32_t> producers_;
  std::unordered_set<uint32_t> excluded_;
  std::vector<uint32_t> order_;
  std::vector<bool> folded_;
  std::vector<std::string_view> wanted_;
};

class Folder {
 public:
  Folder(const OnnxModel& model, const FoldOptions& options, const ConstantEvaluator& evaluate,
         Logger& logger)
      : model_(model),
        options_(options),
        evaluate_(evaluate),
        logger_(logger),
        main_types_(InferGraphTypes(model, model.graph(), {})) {}

  Status Fold(GraphInModel& here) {
    types_ = here.main ? main_types_ : InferGraphTypes(model_, here.graph, main_types_);
    FoldPlan plan(model_, here);
    values_.clear();
    // Each round leaves out what turned out to be too large.
    for (bool again = true; again;) {
      again = false;
      VERNIER_TRY(plan.Find());
      std::vector<std::string_view> open;
      for (const std::string_view name : plan.wanted()) {
        if (!values_.contains(name)) open.push_back(name);
      }
      VERNIER_TRY(Compute(plan, open));
      for (const std::string_view name : open) {
        const auto found = values_.find(name);
        if (found == values_.end() || !IsTooLarge(name, found->second)) continue;
        plan.Exclude(name);
        values_.erase(found);
        again = true;
      }
    }
    return Replace(here);
  }

  void LogLarge() const {
    if (large_.empty()) return;
    logger_.Warning(
        "It looks like this model contains foldable nodes that produce large outputs.\n"
        "In order to avoid bloating the model, you may want to set a constant-folding size "
        "threshold.\nNote: Large tensors and their corresponding sizes were: {" +
        large_ + "}");
  }

 private:
  Status Compute(const FoldPlan& plan, const std::vector<std::string_view>& tensors) {
    if (tensors.empty()) return {};
    const Status whole = ComputeTogether(plan, tensors);
    if (whole.ok() || !IsOfThePart(whole)) return whole;
    if (options_.partitions == FoldPartitions::kNone) {
      logger_.Warning(
          "Inference failed. You may want to try enabling partitioning to see better results. "
          "Note: Error was:\n" +
          whole.message());
      return {};
    }
    return ComputeEach(plan, tensors);
  }

  Status ComputeEach(const FoldPlan& plan, const std::vector<std::string_view>& tensors) {
    std::vector<std::string_view> open(tensors.rbegin(), tensors.rend());
    Names tried;
    while (!open.empty()) {
      const std::string_view name = open.back();
      open.pop_back();
      if (values_.contains(name) || !tried.insert(name).second) continue;
      const Status status = ComputeTogether(plan, {&name, 1});
      if (status.ok()) continue;
      if (!IsOfThePart(status)) return status;
      logger_.Warning("Inference failed for subgraph: Folding: [" + QuotePython(name) +
                      "]. Note: Error was:\n" + status.message());
      if (options_.partitions != FoldPartitions::kRecursive) {
        logger_.Info("You may see better results if you set partitioning='recursive'");
        continue;
      }
      const std::vector<std::string_view> before = plan.Before(name);
      open.insert(open.end(), before.begin(), before.end());
    }
    return {};
  }

  static bool IsOfThePart(const Status& status) {
    return status.code() != StatusCode::kCancelled && status.code() != StatusCode::kUnavailable &&
           status.code() != StatusCode::kIo;
  }

  Status ComputeTogether(const FoldPlan& plan, std::span<const std::string_view> tensors) {
    VERNIER_ASSIGN_OR_RETURN(const OnnxModel part, plan.Part(tensors, types_));
    VERNIER_ASSIGN_OR_RETURN(TensorMap computed, evaluate_(part));
    for (const std::string_view name : tensors) {
      const Tensor* found = Find(computed, name);
      if (found == nullptr) return BackendError("there is no value of " + QuotePython(name));
      values_.emplace(name, *found);
    }
    return {};
  }

  bool IsTooLarge(std::string_view name, const Tensor& values) {
    const uint64_t size = values.bytes().size();
    if (options_.size_threshold) {
      if (size <= *options_.size_threshold) return false;
      logger_.Verbose("Will not fold: " + QuotePython(name) + " since its size in bytes (" +
                      std::to_string(size) + ") exceeds the size threshold (" +
                      std::to_string(*options_.size_threshold) + ")");
      return true;
    }
    if (size > kLarge) {
      large_ += (large_.empty() ? "" : ", ") + QuotePython(name) + ": '" +
                std::to_string(size / kLarge) + " MiB'";
    }
    return false;
  }

  Status Replace(GraphInModel& here) const {
    if (values_.empty()) return {};
    for (size_t i = 0; i < here.graph.nodes.size(); ++i) {
      const auto outputs = here.graph.Outputs(here.graph.nodes[i]);
      const bool changed = std::any_of(outputs.begin(), outputs.end(), [&](std::string_view name) {
        return values_.contains(name);
      });
      if (!changed) continue;
      here.parts.nodes[i] = here.store.Keep(
          RenameValues(here.parts.nodes[i], [&](std::string_view name, bool output) {
            return output && values_.contains(name) ? std::string() : std::string(name);
          }));
    }
    for (const auto& [name, values] : values_) {
      VERNIER_ASSIGN_OR_RETURN(std::string made, MakeInitializer(name, values));
      here.parts.initializers.push_back(here.store.Keep(std::move(made)));
    }
    return {};
  }

  const OnnxModel& model_;
  const FoldOptions& options_;
  const ConstantEvaluator& evaluate_;
  Logger& logger_;
  ValueTypes main_types_, types_;
  std::unordered_map<std::string_view, Tensor> values_;
  std::string large_;
};

}  // namespace

Result<OnnxModel> FoldConstants(const OnnxModel& model, const FoldOptions& options,
                                const ConstantEvaluator& evaluate, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(OnnxModel now, ConstantsAsInitializers(model));
  if (options.shapes) {
    VERNIER_ASSIGN_OR_RETURN(now, KnownSizesAsInitializers(now));
  }
  // Sizes that were known may leave Shape nodes whose outputs are unused.
  VERNIER_ASSIGN_OR_RETURN(now, WithoutUnused(now));
  Folder folder(now, options, evaluate, logger);
  VERNIER_ASSIGN_OR_RETURN(
      OnnxModel folded, RewriteGraphs(now, [&](GraphInModel& here) { return folder.Fold(here); }));
  folder.LogLarge();
  for (uint64_t before = 0; before != folded.NodeCount();) {
    before = folded.NodeCount();
    VERNIER_ASSIGN_OR_RETURN(folded, WithoutConstantConditions(folded));
  }
  return WithoutUnused(folded);
}

}  // namespace vernier
