// The fewest nodes of a model that still fail a check.
#pragma once

#include <string>

#include "debug/debug_session.h"
#include "model/edit/onnx_save.h"
#include "surgeon/editable_model.h"
#include "util/log/log.h"
#include "vernier/debug.h"
#include "vernier/status.h"

namespace vernier {

struct ReduceDebugPlan {
  bool reduce_inputs = true;       ///< nodes at the beginning are taken away
  bool reduce_outputs = true;      ///< nodes at the end are
  bool bisect = true;              ///< false: node by node
  std::vector<TensorInfo> inputs;  ///< shapes that inputs are given first
  /// A model whose check passes is written whole, as Polygraphy does; else that is kNotFound.
  bool keep_good = false;
  SaveOnnxOptions save;
  std::string output;    ///< the smallest model that fails; empty: not written
  std::string min_good;  ///< a model that passes and is close to it; empty: not written
};

/// Checks ever smaller parts of `model`, which is one of them afterwards, and logs what remains. A
/// model that keep_good keeps is in the record as one that fails. kNotFound where the check passes
/// for the whole model; errors of the session and of saving.
Result<ReduceRecord> DebugReduce(const ReduceDebugPlan& plan, EditableModel& model,
                                 DebugSession& session, Logger& log);

}  // namespace vernier
