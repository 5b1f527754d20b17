// The nodes that have to stay float32 in a float16 model.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "debug/debug_session.h"
#include "debug/precision_trials.h"
#include "model/edit/onnx_save.h"
#include "surgeon/editable_model.h"
#include "util/log/log.h"
#include "vernier/debug.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

struct PrecisionDebugPlan {
  std::string model;               ///< its path
  std::string higher = "float32";  ///< the precision that nodes are kept in
  bool linear = false;             ///< node by node, without groups of operators
  bool reverse = false;            ///< nodes of equal evidence against the order of the graph
  /// This many checks find the nodes of most models; if errors come from everywhere, no number
  /// does.
  size_t most_checks = 100;
  SaveOnnxOptions save;  ///< of models with casts
  std::string output;    ///< where the found one goes; empty: nowhere
  EngineSettings engine;
  /// One inference of the model by ONNX Runtime, requested once the reference has run. Nothing:
  /// errors of nodes are not measured.
  std::function<Result<std::optional<RunPlan>>()> inference;
};

/// Looks for as few nodes as will do, logs them and returns them. kNotFound where no node could be
/// float16, or the check fails whatever is kept; kInvalidArgument and kUnimplemented for settings
/// of TensorRT that do not go together; errors of the session.
Result<Float32Record> DebugPrecision(const PrecisionDebugPlan& plan, const EditableModel& model,
                                     DebugSession& session, Logger& log);

}  // namespace vernier
