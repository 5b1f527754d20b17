// A worker of a runner in which models are tried, one after another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/runners/probe.h"
#include "run/workers/model_source.h"
#include "run/workers/runner_session.h"
#include "run/workers/worker_pool.h"
#include "util/log/log.h"
#include "util/log/no_log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Collects a framework's warnings; passes on what is below, and drops what is above.
class WarningCollector final : public Logger {
 public:
  explicit WarningCollector(Logger& logger) : logger_(logger) {}

  bool Enabled(Severity severity) const override {
    return severity >= Severity::kWarning || logger_.Enabled(severity);
  }
  void Write(Severity severity, std::string_view text, LogColor color, bool once) override {
    if (severity == Severity::kWarning) warnings_.emplace_back(text);
    if (severity < Severity::kWarning) logger_.Write(severity, text, color, once);
  }
  void Indent(int levels) override { logger_.Indent(levels); }

  std::vector<std::string> Take() { return std::exchange(warnings_, {}); }

 private:
  Logger& logger_;
  std::vector<std::string> warnings_;
};

class ModelBench {
 public:
  /// What `shared` has must outlive it.
  ModelBench(const RunnerPlan& runner, const Probe::Shared& shared);

  /// Before all else: "onnxruntime 1.20.0". Errors as of WorkerPool::Get and Worker::AwaitLoad.
  Result<std::string> Start();

  /// A session in a worker that lives: one that died with the last model is replaced.
  Result<std::unique_ptr<RunnerSession>> Open(const ModelSource& source);
  Result<TensorMap> Infer(RunnerSession& live, const TensorMap& feed);

  /// The worker has not died.
  bool lives() const { return worker_->death().ok(); }
  /// What the framework has warned of since it was asked last.
  std::vector<std::string> TakeWarnings() { return collector_.Take(); }

  const RunnerPlan& runner() const { return runner_; }
  WorkerPool& pool() { return pool_; }

 private:
  const RunnerPlan runner_;
  NoLog silence_;
  WarningCollector collector_;
  WorkerPool pool_;
  std::shared_ptr<Worker> worker_;
  uint64_t sessions_ = 0;
};

}  // namespace vernier
