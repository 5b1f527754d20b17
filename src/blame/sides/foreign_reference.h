// A reference in another format than ONNX: what is needed before its inner tensors can be read.
#pragma once

#include <span>
#include <string>

#include "backend/wire/messages.h"
#include "run/runner/model_conversion.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Is it a model in another format than ONNX, of a runner that exposes tensors by their names?
bool IsForeign(const RunnerPlan& runner);

/// The same runner with a model that exposes its inner tensors: a SavedModel is frozen, since its
/// tensors are within functions, and PyTorch's run in Python, unless that was ruled out. The file
/// lasts as long as `conversions`. Errors of ModelConversions::ModelOf; kInvalidArgument where
/// outputs of it were chosen.
Result<RunnerPlan> WithInnerTensors(RunnerPlan runner, ModelConversions& conversions);

/// The options of a session that request these tensors from a foreign runner ("*": all of them);
/// none for any other runner.
OptionList MarksOf(const RunnerPlan& runner, std::span<const std::string> names);

}  // namespace vernier
