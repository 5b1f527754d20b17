#include "check/lint/lint_run.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "check/lint/lint_words.h"
#include "check/lint/model_bench.h"
#include "inputs/coerce_feed.h"
#include "lint/rules.h"
#include "model/edit/model_composer.h"
#include "model/onnx/onnx_order.h"
#include "model/shapes/onnx_infer.h"
#include "run/feeds/plan_feeds.h"
#include "run/live/size_search.h"
#include "run/workers/model_source.h"
#include "run/workers/runner_session.h"
#include "util/log/no_log.h"
#include "util/text/quoted.h"

namespace vernier {
namespace {

// Runs the model as a whole or, where that fails, node by node, and reports what happens.
class ModelTrial {
 public:
  ModelTrial(const RunPlan& plan, size_t index, const LintedModel& linted,
             const Probe::Shared& shared, Findings& findings)
      : plan_(plan),
        linted_(linted),
        model_(linted.model),
        graph_(linted.model.graph()),
        findings_(findings),
        logger_(shared.logger),
        bench_(plan.runners[index], shared) {
    result_.runs.assign(graph_.nodes.size(), LintRun::kNotRun);
  }

  Result<LintRunResult> Run() {
    VERNIER_ASSIGN_OR_RETURN(result_.runner, bench_.Start());
    VERNIER_ASSIGN_OR_RETURN(const bool takes_opsets, TryOpsets());
    result_.refused = !takes_opsets;
    if (!takes_opsets || graph_.nodes.empty()) return result_;
    if (const OnnxValue* other = InputWithoutTensor()) {
      result_.limits = "nodes were not run: input " + Quoted(other->name) + " is of the kind " +
                       std::string(OnnxValueKindName(other->kind)) +
                       ", and only tensors can be made";
      return result_;
    }
    Result<TensorMap> drawn = Draw();
    if (!drawn.ok()) {
      // A fault of the model may be why: it is reported already.
      const bool given = plan_.inputs.script.given() || !plan_.inputs.load_paths.empty();
      if (given || (linted_.faultless && !HasInputsToLoad())) return drawn.status();
      result_.limits = "nodes were not run: " + drawn.status().message();
      return result_;
    }
    TensorMap feed = *std::move(drawn);
    FindIgnoredWeights();
    const bool whole = linted_.faultless && !graph_.outputs.empty() && ignored_weights_.empty();
    Status refused;
    if (whole) {
      refused = RunWhole(feed);  // which may have found other sizes for it
      if (refused.code() == StatusCode::kCancelled) return refused;
      if (refused.ok()) return result_;
      logger_.Verbose("the model as a whole: " + refused.message());
    }
    VERNIER_TRY(RunNodes(std::move(feed)));
    if (whole && !explained_) ReportWholeRun(refused);
    return result_;
  }

 private:
  // nullptr: all are tensors. One without a type is a fault that a rule reports.
  const OnnxValue* InputWithoutTensor() const {
    const auto found =
        std::find_if(graph_.inputs.begin(), graph_.inputs.end(), [](const OnnxValue& input) {
          return input.kind != OnnxValueKind::kTensor && input.kind != OnnxValueKind::kUntyped;
        });
    return found == graph_.inputs.end() ? nullptr : &*found;
  }

  // Weights that are not to be read: nodes cannot be run on them.
  void FindIgnoredWeights() {
    if (!bench_.runner().model.ignore_external_data) return;
    for (const OnnxTensor& tensor : graph_.initializers) {
      if (tensor.external) ignored_weights_.insert(tensor.name);
    }
  }

  Result<bool> TryOpsets() {
    const BytePieces bytes = SmallestModel(model_);
    VERNIER_ASSIGN_OR_RETURN(
        const std::shared_ptr<const ModelSource> source,
        ModelSource::Assemble(bench_.runner().model, bytes,
                              {{"x", DType::kFloat32, std::vector<Dim>{{1, {}}}}}, {"y"}));
    const Result<std::unique_ptr<RunnerSession>> live = bench_.Open(*source);
    bench_.TakeWarnings();
    if (live.ok()) {
      (void)(*live)->Close();
      return true;
    }
    if (live.status().code() == StatusCode::kCancelled) return live.status();
    std::string versions =
        "version " + std::to_string(model_.contents().ir_version) + " of the format";
    for (const OnnxOpset& opset : model_.contents().opsets) {
      versions += ", opset " + std::to_string(opset.version) + " of " +
                  Quoted(opset.domain.empty() ? "ai.onnx" : opset.domain);
    }
    if (model_.contents().opsets.empty()) versions = "no opset";
    findings_.AddFrom(lint_rule::kUnsupportedOpset, LintLevel::kException, bench_.runner().backend,
                      result_.runner + " takes no model of " + versions + ": " +
                          PruneMessage(live.status().message()),
                      {});
    return false;
  }

  Result<TensorMap> Draw() {
    const std::vector<TensorInfo> inputs = model_.RequiredInputs();
    VERNIER_ASSIGN_OR_RETURN(const TensorMap feed,
                             OpenFirstFeed(plan_, inputs, bench_.pool(), logger_));
    VERNIER_ASSIGN_OR_RETURN(CoercedFeed coerced,
                             CoerceFeed(feed, inputs, {Strictness::kStrict, {}, false}, logger_));
    return std::move(coerced.tensors);
  }

  // Inputs that cannot be drawn: strings, and those that the model itself does not describe,
  // which rules have reported.
  bool HasInputsToLoad() const {
    const std::vector<TensorInfo> inputs = model_.RequiredInputs();
    return std::any_of(inputs.begin(), inputs.end(),
                       [](const TensorInfo& i) { return !i.shape || i.dtype == DType::kString; });
  }

  // A feed with other sizes for what is free. kNotFound where the runner takes none that is tried.
  Result<TensorMap> FindOtherSizes(RunnerSession& live, const Result<TensorMap>& plain) {
    const std::vector<TensorInfo> inputs = model_.RequiredInputs();
    const auto draw = [&](const RunPlan& sized) {
      return OpenFirstFeed(sized, inputs, bench_.pool(), silence_);
    };
    const auto infer = [&](const TensorMap& feed) -> Result<bool> {
      if (!bench_.lives()) return Unavailable("the worker is gone");
      const Result<TensorMap> outputs = bench_.Infer(live, feed);
      bench_.TakeWarnings();
      return AllHaveElements(outputs);
    };
    VERNIER_ASSIGN_OR_RETURN(
        FoundSizes found,
        FindSizes(plan_, inputs,
                  {draw, {{bench_.runner().name, infer, AllHaveElements(plain)}}, logger_}));
    VERNIER_TRY(found.unsteady);
    if (found.dims.empty()) return NotFound("no sizes were found that it accepts");
    logger_.Info(found.note);
    return std::move(found.feed);
  }

  Status RunWhole(TensorMap& feed) {
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> source,
                             ModelSource::Prepare(bench_.runner().model, silence_));
    VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<RunnerSession> live, bench_.Open(*source));
    const Result<TensorMap> outputs = bench_.Infer(*live, feed);
    Status inferred = outputs.status();
    const std::optional<SizeOne> why = WhyNotSizeOne(AllHaveElements(outputs));
    if (why && HasGuessedSizes()) {
      Result<TensorMap> found = FindOtherSizes(*live, outputs);
      if (found.status().code() == StatusCode::kCancelled) return found.status();
      sizes_needed_ = found.status().code() == StatusCode::kNotFound && why == SizeOne::kRefused;
      if (found.ok()) {
        feed = *std::move(found);
        inferred = {};
      }
    }
    // Nodes are run in the same worker, which need not hold the whole model as well.
    if (bench_.lives()) (void)live->Close();
    VERNIER_TRY(inferred);
    for (const std::string& warning : bench_.TakeWarnings()) {
      findings_.AddFrom(lint_rule::kRunnerWarning, LintLevel::kWarning, bench_.runner().backend,
                        PruneMessage(warning), {});
    }
    // Runtimes leave out what no output depends on.
    const std::vector<bool> needed = NodesOutputsDependOn(model_);
    for (size_t i = 0; i < needed.size(); ++i) {
      if (needed[i]) result_.runs[i] = LintRun::kPassed;
    }
    return {};
  }

  Status RunNodes(TensorMap feed) {
    std::vector<uint32_t> order(graph_.nodes.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
    Result<std::vector<uint32_t>> sorted = TopologicalOrder(model_);
    if (sorted.ok()) order = *std::move(sorted);
    types_ = InferGraphTypes(model_, graph_, {});
    for (const OnnxTensor& tensor : graph_.initializers) constants_.insert(tensor.name);
    constants_.insert(graph_.sparse_initializers.begin(), graph_.sparse_initializers.end());
    for (NamedTensor& tensor : feed) values_.emplace(tensor.name, std::move(tensor.tensor));
    std::unordered_map<std::string_view, size_t> readers;
    for (const uint32_t i : order) {
      for (const std::string_view name : ValuesReadBy(model_, graph_, graph_.nodes[i])) {
        ++readers[name];
      }
    }
    for (const uint32_t i : order) {
      VERNIER_TRY(RunNode(i));
      for (const std::string_view name : ValuesReadBy(model_, graph_, graph_.nodes[i])) {
        if (--readers[name] == 0) values_.erase(std::string(name));
      }
    }
    return {};
  }

  // Only that the run was interrupted is an error.
  Status RunNode(uint32_t index) {
    if (linted_.failed[index]) return {};
    const OnnxNode& node = graph_.nodes[index];
    TensorMap feed;
    for (const std::string_view name : ValuesReadBy(model_, graph_, node)) {
      if (ignored_weights_.contains(name)) {
        result_.limits = "external weights are ignored: nodes that read them were not run";
        return {};
      }
      if (constants_.contains(name)) continue;
      const auto found = values_.find(std::string(name));
      if (found == values_.end()) return {};  // behind a node that failed
      feed.push_back({std::string(name), found->second});
    }
    Result<TensorMap> outputs = Compute(node, feed);
    if (outputs.status().code() == StatusCode::kCancelled) return outputs.status();
    bench_.TakeWarnings();
    if (!outputs.ok()) {
      Report(index, outputs.status());
      return {};
    }
    result_.runs[index] = LintRun::kPassed;
    for (NamedTensor& output : *outputs) values_[output.name] = std::move(output.tensor);
    for (const std::string_view name : graph_.Outputs(node)) {
      if (name.empty() || values_.contains(std::string(name))) continue;
      result_.limits = "values that are not tensors, such as " + Quoted(name) +
                       ", cannot be passed on: nodes after them were not run";
    }
    return {};
  }

  void Report(uint32_t index, const Status& why) {
    explained_ = true;
    // A rule has warned of an operator of the model's own, as Polygraphy does.
    for (const LintFinding& finding : findings_.list()) {
      const bool own = finding.rule == lint_rule::kCustomOperator.name &&
                       finding.nodes == std::vector{findings_.NameOf(index)};
      if (own) return;
    }
    if (sizes_needed_) return ReportSizes(why, index);
    result_.runs[index] = LintRun::kFailed;
    findings_.AddFrom(lint_rule::kRunnerFailed, LintLevel::kException, bench_.runner().backend,
                      PruneMessage(why.message()), index);
  }

  // Our guess may be why: no fault of the model is known.
  void ReportSizes(const Status& why, std::optional<uint32_t> node) {
    if (std::exchange(sizes_reported_, true)) return;
    findings_.AddFrom(lint_rule::kSizesNeeded, LintLevel::kWarning, bench_.runner().backend,
                      "give the sizes of free dimensions with --input-shapes: none were found that "
                      "the model runs with; with size 1: " +
                          PruneMessage(why.message()),
                      node);
  }

  // Also in lenient mode: Polygraphy calls no size of its own a fault of the model.
  bool HasGuessedSizes() const {
    RunPlan plan = plan_;
    plan.lenient = false;
    return SizesAreGuessed(plan, model_.RequiredInputs());
  }

  // No node is known to be why. Those that were not run may be.
  void ReportWholeRun(const Status& why) {
    if (sizes_needed_) return ReportSizes(why, std::nullopt);
    const bool all = std::all_of(result_.runs.begin(), result_.runs.end(),
                                 [](LintRun run) { return run == LintRun::kPassed; });
    findings_.AddFrom(lint_rule::kRunnerFailed, LintLevel::kException, bench_.runner().backend,
                      std::string(all ? "every node runs alone, but not the model as a whole: "
                                      : "the model as a whole does not run: ") +
                          PruneMessage(why.message()),
                      {});
  }

  Result<TensorMap> Compute(const OnnxNode& node, const TensorMap& feed) {
    ModelComposer composer(model_);
    std::vector<TensorInfo> inputs;
    for (const NamedTensor& value : feed) {
      TensorInfo info{value.name, value.tensor.dtype(), std::vector<Dim>()};
      for (const int64_t size : value.tensor.dims()) info.shape->push_back({size, {}});
      composer.AddInput(info);
      inputs.push_back(std::move(info));
    }
    std::vector<std::string> outputs;
    for (const std::string_view name : graph_.Outputs(node)) {
      if (name.empty()) continue;
      const auto type = types_.find(name);
      const int32_t number = type == types_.end() ? 0 : type->second;
      composer.AddOutput(
          {std::string(name), DTypeFromOnnx(number).value_or(DType::kUndefined), {}});
      outputs.emplace_back(name);
    }
    composer.AddNode(graph_, node);
    VERNIER_ASSIGN_OR_RETURN(const BytePieces bytes, composer.Finish());
    VERNIER_ASSIGN_OR_RETURN(
        const std::shared_ptr<const ModelSource> source,
        ModelSource::Assemble(bench_.runner().model, bytes, std::move(inputs), std::move(outputs)));
    VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<RunnerSession> live, bench_.Open(*source));
    Result<TensorMap> computed = bench_.Infer(*live, feed);
    if (bench_.lives()) (void)live->Close();
    return computed;
  }

  const RunPlan& plan_;
  const LintedModel& linted_;
  const OnnxModel& model_;
  const OnnxGraph& graph_;
  Findings& findings_;
  Logger& logger_;
  NoLog silence_;
  ModelBench bench_;
  LintRunResult result_;
  bool explained_ = false;  // is a node known that does not run?
  bool sizes_needed_ = false, sizes_reported_ = false;
  ValueTypes types_;
  std::unordered_set<std::string_view> constants_, ignored_weights_;
  std::unordered_map<std::string, Tensor> values_;
};

}  // namespace

Result<LintRunResult> LintWithRunner(const RunPlan& plan, size_t index, const LintedModel& linted,
                                     const Probe::Shared& shared, Findings& findings) {
  return ModelTrial(plan, index, linted, shared, findings).Run();
}

}  // namespace vernier
