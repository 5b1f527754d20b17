#include "inference/constant_worker.h"

#include <utility>

#include "model/edit/onnx_edit.h"
#include "run/feeds/plan_feeds.h"
#include "run/workers/model_source.h"
#include "surgeon/graph_parts.h"
#include "surgeon/input_shapes.h"
#include "util/process/interruption.h"

namespace vernier {
namespace {

RunnerPlan OnnxRuntimePlan(const EditableModel& model, const std::string& library) {
  RunnerPlan runner;
  runner.name = "constant folding";
  runner.backend = "onnxruntime";
  if (!library.empty()) runner.backend_options.emplace_back("lib", library);
  runner.model.path = model.original().path();
  runner.model.type = "onnx";
  return runner;
}

}  // namespace

ConstantWorker::ConstantWorker(const EditableModel& model, const ExecutionPlan& execution,
                               const std::string& library, const std::atomic<int>& interrupted,
                               Logger& log)
    : model_(model),
      interrupted_(interrupted),
      log_(log),
      runner_(OnnxRuntimePlan(model, library)),
      pool_(execution, interrupted, log) {
  runner_.model.external_data_dir = model.external().directory;
}

Result<TensorMap> ConstantWorker::Compute(const OnnxModel& part) {
  Result<TensorMap> computed = RunOnce(part);
  // A framework that died of this part must be there for the next.
  if (worker_ != nullptr && !worker_->death().ok()) worker_.reset();
  return computed;
}

Status ConstantWorker::Open(const OnnxModel& part, RunnerSession& live) {
  VERNIER_TRY(CheckInterrupted(interrupted_));
  if (worker_ == nullptr) {
    VERNIER_ASSIGN_OR_RETURN(worker_, pool_.Get(runner_));
  }
  VERNIER_ASSIGN_OR_RETURN(const BytePieces bytes, model_.WithWeights(part));
  std::vector<std::string> outputs;
  for (const OnnxValue& output : part.graph().outputs) outputs.emplace_back(output.name);
  VERNIER_ASSIGN_OR_RETURN(
      const std::shared_ptr<const ModelSource> source,
      ModelSource::Assemble(runner_.model, bytes, part.RequiredInputs(), std::move(outputs)));
  live.Attach(worker_, ++sessions_);
  return live.Open(*source);
}

Result<TensorMap> ConstantWorker::RunOnce(const OnnxModel& part) {
  RunnerSession live(runner_);
  VERNIER_TRY(Open(part, live));
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock nothing, EncodeTensors({}));
  VERNIER_ASSIGN_OR_RETURN(IterationResult result, live.Infer(nothing, 0));
  (void)live.Close();
  return std::move(result.outputs);
}

Result<TensorMap> ConstantWorker::Measure(const OnnxModel& model,
                                          std::span<const std::string> names,
                                          const RunPlan& feeds) {
  const std::vector<std::string_view> wanted(names.begin(), names.end());
  VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces,
                           ApplyPatches(model.bytes(), EditOutputs(model, wanted).patches));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ToBytes(pieces));
  VERNIER_ASSIGN_OR_RETURN(
      const OnnxModel marked,
      OwnModel({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, model.path()));
  RunnerSession live(runner_);
  VERNIER_TRY(Open(marked, live));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap fed,
                           OpenFirstFeed(feeds, live.session().inputs, pool_, log_));
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock feed, EncodeTensors(fed));
  VERNIER_ASSIGN_OR_RETURN(IterationResult result, live.Infer(feed, 0));
  (void)live.Close();
  TensorMap tensors = std::move(result.outputs);
  tensors.insert(tensors.end(), fed.begin(), fed.end());
  return tensors;
}

Result<OnnxModel> ConstantWorker::InferShapesOf(const OnnxModel& model, ShapeTool tool) {
  if (!no_python_) {
    const Result<std::shared_ptr<Worker>> worker = pool_.GetForScripts();
    Result<InferredModel> inferred =
        worker.ok()
            ? InferShapes(**worker,
                          std::as_bytes(std::span(model.bytes().data(), model.bytes().size())),
                          tool)
            : Result<InferredModel>(worker.status());
    if (inferred.ok()) {
      for (const auto& [severity, text] : inferred->notes) log_.Once(severity, text);
      const auto owner = std::make_shared<const Tensor>(inferred->file);
      return OnnxModel::FromBytes(owner->bytes(), owner, model.path());
    }
    if (inferred.status().code() == StatusCode::kCancelled) return inferred.status();
    no_python_ = true;
    log_.Verbose("Shapes are inferred by rules: " + inferred.status().message());
  }
  return WithShapesThatFollow(model, -1);
}

}  // namespace vernier
