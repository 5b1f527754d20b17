#include "check/lint/model_bench.h"

#include "backend/wire/messages.h"
#include "inputs/coerce_feed.h"

namespace vernier {
namespace {

// What it warns of is a finding, not a line among others.
RunnerPlan WithWarningsToHost(RunnerPlan runner) {
  runner.backend_options.emplace_back(kLogPlace, "host");
  return runner;
}

}  // namespace

ModelBench::ModelBench(const RunnerPlan& runner, const Probe::Shared& shared)
    : runner_(WithWarningsToHost(runner)),
      collector_(shared.logger),
      pool_(shared.execution, shared.interrupted, collector_) {}

Result<std::string> ModelBench::Start() {
  VERNIER_ASSIGN_OR_RETURN(worker_, pool_.Get(runner_));
  VERNIER_ASSIGN_OR_RETURN(const BackendInfo backend, worker_->AwaitLoad());
  return runner_.backend + " " + backend.framework_version;
}

Result<std::unique_ptr<RunnerSession>> ModelBench::Open(const ModelSource& source) {
  if (!worker_->death().ok()) {
    worker_.reset();
    VERNIER_ASSIGN_OR_RETURN(worker_, pool_.Get(runner_));
  }
  auto live = std::make_unique<RunnerSession>(runner_);
  live->Attach(worker_, ++sessions_);
  live->LeaveOutParts();
  VERNIER_TRY(live->Open(source));
  return live;
}

Result<TensorMap> ModelBench::Infer(RunnerSession& live, const TensorMap& feed) {
  VERNIER_ASSIGN_OR_RETURN(
      CoercedFeed coerced,
      CoerceFeed(feed, live.session().inputs, {Strictness::kStrict, {}, false}, silence_));
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(coerced.tensors));
  VERNIER_ASSIGN_OR_RETURN(IterationResult result, live.Infer(block, 0));
  return std::move(result.outputs);
}

}  // namespace vernier
