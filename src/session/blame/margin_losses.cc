#include "session/blame/margin_losses.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blame/judge/verdicts.h"
#include "blame/search/branch_search.h"
#include "blame/sides/foreign_reference.h"
#include "blame/sides/probe_side.h"
#include "decide/kinds/decision.h"
#include "model/edit/onnx_extract.h"
#include "record/schema/gate_text.h"
#include "run/workers/worker_pool.h"
#include "util/log/forwarding_log.h"

namespace vernier {
namespace {

// Each costs two sessions.
constexpr size_t kMeasuredLayers = 4;

// The flip that is looked at.
struct MeasuredFlip {
  const DecisionRecord* decision = nullptr;
  const WorstFlip* flip = nullptr;
  DecisionPlan plan;
  size_t feed = 0;  // of those that are searched
};

// The worst flip with a margin, of the iteration that is searched first and has one.
std::optional<MeasuredFlip> FlipToMeasure(const BlamePlan& plan, const BlameFlipsRecord& flips) {
  const auto& plans = plan.run.decisions.decisions;
  for (size_t feed = 0; feed < std::min(flips.iterations.size(), plan.feeds.size()); ++feed) {
    for (const DecisionRecord& decision : flips.decisions) {
      const auto flip = std::ranges::find_if(decision.worst, [&](const WorstFlip& one) {
        return one.iteration == flips.iterations[feed] && std::isfinite(one.sample.first_margin);
      });
      const auto asked = std::ranges::find(plans, decision.kind, &DecisionPlan::text);
      if (flip == decision.worst.end() || asked == plans.end()) continue;
      return MeasuredFlip{&decision, &*flip, *asked, feed};
    }
  }
  return std::nullopt;
}

// Culprits first, then by own error.
std::vector<const BlameLayerRecord*> LayersToMeasure(const BlameRecord& record) {
  std::vector<const BlameLayerRecord*> layers;
  for (const BlameCulprit& culprit : record.culprits) {
    const auto layer = std::ranges::find(record.layers, culprit.node, &BlameLayerRecord::node);
    if (layer != record.layers.end()) layers.push_back(&*layer);
  }
  std::vector<const BlameLayerRecord*> others;
  for (const BlameLayerRecord& layer : record.layers) {
    const bool known = std::ranges::find(layers, &layer) != layers.end();
    if (!known && layer.own_error.value_or(0) > 0) others.push_back(&layer);
  }
  std::ranges::stable_sort(others, [](const auto* a, const auto* b) {
    return a->own_error.value_or(0) > b->own_error.value_or(0);
  });
  layers.insert(layers.end(), others.begin(), others.end());
  if (layers.size() > kMeasuredLayers) layers.resize(kMeasuredLayers);
  return layers;
}

const RunnerPlan* RunnerOfName(const RunPlan& run, const std::string& name) {
  const auto runner = std::ranges::find(run.runners, name, &RunnerPlan::name);
  return runner == run.runners.end() ? nullptr : &*runner;
}

// As these tensors are; of a type that the model declares where it does.
std::vector<TensorInfo> InfosOf(const OnnxModel& model, const TensorMap& tensors) {
  std::vector<TensorInfo> infos;
  for (const NamedTensor& input : tensors) {
    TensorInfo info = DescribeTensors(model, std::span(&input.name, 1)).front();
    if (info.dtype == DType::kUndefined) info.dtype = input.tensor.dtype();
    info.shape.emplace();
    for (const int64_t dim : input.tensor.dims()) info.shape->push_back({dim, {}});
    infos.push_back(std::move(info));
  }
  return infos;
}

// The part of a side's model between the fed tensors and these outputs, run once.
Result<TensorMap> RunPart(ProbeSide& side, const OnnxModel& model, const TensorMap& feed,
                          const std::vector<std::string>& outputs) {
  ExtractPlan cut;
  cut.inputs = InfosOf(model, feed);
  cut.outputs = DescribeTensors(model, outputs);
  VERNIER_ASSIGN_OR_RETURN(const BytePieces part, ExtractModel(model, cut));
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<RunnerSession> session,
                           side.OpenParts(part, cut.inputs, outputs, [](const OnnxModel&) {}));
  Result<TensorMap> made = side.Infer(*session, feed);
  if (made.ok()) ProbeSide::Close(session);
  return made;
}

bool HasOneName(const BlameLayerRecord& layer) {
  return std::ranges::all_of(
      layer.outputs, [](const BlameTensorRecord& tensor) { return tensor.candidate_name.empty(); });
}

// Both sides with their models, and what the reference makes of the feed.
class MarginBench {
 public:
  MarginBench(const RunnerPlan& reference, const RunnerPlan& candidate, const TensorMap& feed,
              WorkerPool& pool, Logger& logger)
      : reference_(reference, "margins", pool, logger, clock_),
        candidate_(candidate, "margins of layers", pool, logger, clock_),
        feed_(feed) {}

  bool BuildsEngines() const { return reference_.BuildsEngines() || candidate_.BuildsEngines(); }

  // Runs the reference for all tensors that the layers read and make, and for the decision's
  // output.
  Status Open(const std::vector<const BlameLayerRecord*>& layers, const std::string& output) {
    VERNIER_ASSIGN_OR_RETURN(reference_model_, reference_.ReadModel());
    VERNIER_ASSIGN_OR_RETURN(candidate_model_, candidate_.ReadModel());
    std::vector<std::string> names = {output};
    const auto add = [&](const std::string& name) {
      const bool fed = Find(feed_, name) != nullptr;
      if (!fed && std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    for (const BlameLayerRecord* layer : layers) {
      if (!HasOneName(*layer)) continue;
      for (const std::string& name : layer->inputs) add(name);
      for (const BlameTensorRecord& tensor : layer->outputs) add(tensor.name);
    }
    VERNIER_ASSIGN_OR_RETURN(made_, reference_.RunOnce(names, feed_));
    output_ = output;
    return {};
  }

  Result<Tensor> Expected() const { return Take(made_, output_); }

  // The decision's output where the candidate computes this layer, and the reference all others.
  Result<Tensor> With(const BlameLayerRecord& layer) {
    VERNIER_ASSIGN_OR_RETURN(TensorMap made, RunLayer(layer));
    if (Find(made, output_) != nullptr) return Take(made, output_);
    for (const TensorInfo& input : reference_model_->RequiredInputs()) {
      const Tensor* const fed = Find(feed_, input.name);
      if (fed != nullptr) made.push_back({input.name, *fed});
    }
    VERNIER_ASSIGN_OR_RETURN(const TensorMap end,
                             RunPart(reference_, *reference_model_, made, {output_}));
    return Take(end, output_);
  }

 private:
  static Result<Tensor> Take(const TensorMap& tensors, const std::string& name) {
    const Tensor* const tensor = Find(tensors, name);
    if (tensor == nullptr) return NotFound("tensor '" + name + "' is not handed out");
    return *tensor;
  }

  // What the candidate's layer makes of the reference's tensors, in the reference's types.
  Result<TensorMap> RunLayer(const BlameLayerRecord& layer) {
    TensorMap fed;
    for (const std::string& name : layer.inputs) {
      const Tensor* const given = Find(feed_, name);
      if (given != nullptr) {
        fed.push_back({name, *given});
        continue;
      }
      VERNIER_ASSIGN_OR_RETURN(Tensor tensor, Take(made_, name));
      fed.push_back({name, std::move(tensor)});
    }
    std::vector<std::string> outputs;
    for (const BlameTensorRecord& tensor : layer.outputs) outputs.push_back(tensor.name);
    return RunPart(candidate_, *candidate_model_, fed, outputs);
  }

  RuntimeClock clock_;
  ProbeSide reference_, candidate_;
  const TensorMap& feed_;
  std::shared_ptr<const OnnxModel> reference_model_, candidate_model_;
  TensorMap made_;
  std::string output_;
};

// Below 0 where the answer is another: by how much that one leads.
Result<double> MarginWith(const MeasuredFlip& measured, const Tensor& expected,
                          const Tensor& output) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<DecisionSample> samples,
                           Decide(measured.plan, expected, output, std::nullopt, std::nullopt));
  const auto row = static_cast<size_t>(measured.flip->row);
  if (row >= samples.size()) return NotFound("the output has no such sample");
  const DecisionSample& sample = samples[row];
  return sample.flip == Flip::kNone ? sample.second_margin : -sample.second_margin;
}

Result<double> MeasureLayer(const MeasuredFlip& measured, const Tensor& expected,
                            const BlameLayerRecord& layer, MarginBench& bench) {
  if (HasBody(layer.op_type)) return Unimplemented("it has a body");
  if (!HasOneName(layer)) return Unimplemented("its tensors have other names in the reference");
  VERNIER_ASSIGN_OR_RETURN(const Tensor output, bench.With(layer));
  return MarginWith(measured, expected, output);
}

void NoteUnmeasured(const std::string& what, const Status& why, BlameRecord& record) {
  record.notes.push_back("the margin that " + what + " uses up was not measured: " + why.message());
}

// Nothing where the decision has no margin to use up.
Status MeasureLayers(const MeasuredFlip& measured,
                     const std::vector<const BlameLayerRecord*>& layers, MarginBench& bench,
                     BlameRecord& record) {
  VERNIER_TRY(bench.Open(layers, measured.decision->output));
  VERNIER_ASSIGN_OR_RETURN(const Tensor expected, bench.Expected());
  VERNIER_ASSIGN_OR_RETURN(const double before, MarginWith(measured, expected, expected));
  if (!std::isfinite(before) || before <= 0) return {};
  BlameFlipsRecord& flips = *record.on_flips;
  for (const BlameLayerRecord* layer : layers) {
    const Result<double> margin = MeasureLayer(measured, expected, *layer, bench);
    if (margin.status().code() == StatusCode::kCancelled) return margin.status();
    if (!margin.ok()) {
      NoteUnmeasured("'" + layer->node + "'", margin.status(), record);
      continue;
    }
    flips.margins.push_back({layer->node, layer->op_type, *margin, (before - *margin) / before});
  }
  if (flips.margins.empty()) return {};
  flips.margin_of = {measured.decision->output, measured.decision->kind, measured.flip->iteration,
                     measured.flip->row, before};
  return {};
}

// Silence would read as a margin that was not touched.
void NoteCulprits(const std::string& why, BlameRecord& record) {
  for (const BlameCulprit& culprit : record.culprits) {
    const auto& margins = record.on_flips->margins;
    const std::string named = "'" + culprit.node + "'";
    if (culprit.why.starts_with(kFusedTogether)) {
      NoteUnmeasured("the fusion at " + named, Unimplemented("layers run one at a time"), record);
      continue;
    }
    const bool said = std::ranges::any_of(record.notes, [&](const std::string& note) {
      return note.starts_with("the margin that " + named + " uses up");
    });
    if (said || std::ranges::find(margins, culprit.node, &BlameEatenMargin::node) != margins.end())
      continue;
    NoteUnmeasured(named, InvalidArgument(why), record);
  }
}

}  // namespace

Status MeasureMarginLosses(const BlamePlan& plan, Logger& logger,
                           const std::atomic<int>& interrupted, BlameRecord& record) {
  if (!record.on_flips || !record.error.empty() || plan.feeds.empty()) return {};
  const std::optional<MeasuredFlip> measured = FlipToMeasure(plan, *record.on_flips);
  const std::vector<const BlameLayerRecord*> layers = LayersToMeasure(record);
  const RunnerPlan* const reference = RunnerOfName(plan.run, record.reference);
  const RunnerPlan* const candidate = RunnerOfName(plan.run, record.candidate);
  if (!measured || reference == nullptr || candidate == nullptr) return {};
  if (layers.empty()) {
    NoteCulprits("the candidate does not run it as a layer of its own", record);
    return {};
  }
  if (IsForeign(*reference)) {
    NoteCulprits("the reference is in another format than ONNX", record);
    return {};
  }
  ForwardingLog quiet = QuietLog(logger);
  ExecutionPlan execution = plan.run.execution;
  execution.use_subprocess = true;
  WorkerPool pool(execution, interrupted, quiet);
  MarginBench bench(*reference, *candidate, plan.feeds[measured->feed], pool, quiet);
  if (bench.BuildsEngines()) {
    NoteCulprits("an engine would have to be built for it", record);
    return {};
  }
  const Status status = MeasureLayers(*measured, layers, bench, record);
  if (status.code() == StatusCode::kCancelled) return status;
  if (!status.ok()) NoteUnmeasured("a layer", status, record);
  NoteCulprits("it is no layer that could be run alone, or not among the " +
                   std::to_string(kMeasuredLayers) + " with the largest errors",
               record);
  return {};
}

}  // namespace vernier
