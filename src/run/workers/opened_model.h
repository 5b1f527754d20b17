// Opens a model in a worker: a runner's session, and what is known of it from then on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/worker/worker.h"
#include "run/workers/model_source.h"
#include "vernier/dim_size.h"
#include "vernier/run_record.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"

namespace vernier {

struct OpenedModel {
  SessionDescription session;
  /// What the model declares as outputs, whichever are marked or chosen; empty: not known.
  std::vector<std::string> own_outputs;
  /// The one float type that the runner computes in; kUndefined: in those of the model's tensors.
  DType computes_in = DType::kUndefined;
  std::optional<EngineBuildRecord> engine;
};

/// Options of a session beside its runner's own.
struct MoreOptions {
  OptionList named = {};
  /// For the options of that meaning, whatever the backend calls them: it may have none, and what
  /// its user has set stays.
  std::vector<std::pair<OptionMeaning, std::string>> meant = {};

  MoreOptions() = default;
  MoreOptions(OptionList options) : named(std::move(options)) {}
};

/// What a session is opened with.
struct SessionToOpen {
  const RunnerPlan& runner;
  const BackendInfo& backend;  ///< what the worker has loaded
  uint64_t session = 0;        ///< its number in the worker
  const ModelSource& model;
  const MoreOptions& more;
  std::span<const DimSize> found;  ///< sizes that feeds will have, for profiles of TensorRT
};

/// kInvalidArgument for an option that the backend does not have, or not with this value; other
/// errors as Worker::Open.
Result<OpenedModel> OpenModel(Worker& worker, const SessionToOpen& opening);

}  // namespace vernier
