// What a runner's plan leaves open, and what follows from it before any framework loads: who serves
// its backend, which format its model has, and whether that must be converted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/onnx/model_type.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Completes the plan of a runner whose backend, model and options are chosen: a backend without a
/// plug-in gets the script of ours that drives it; the model's path and type are found out, and
/// what the backend needs to know of them becomes session options. A second call changes nothing.
/// A model that is not there is a warning, for a framework may read what we cannot.
/// kInvalidArgument where nothing determines the type, or the backend cannot take it.
Status ResolveRunner(RunnerPlan& runner, Logger& logger);

/// Every tensor, in the words of --onnx-outputs: `*`, or `mark all`.
bool MeansAll(const std::vector<std::string>& words);

/// What is asked to be seen, in the words of --onnx-outputs, for runners that may have names of
/// their own for tensors: scripts and PyTorch. Nothing for others, and where marks are there
/// already.
void PassMarks(const std::vector<std::string>& words, RunnerPlan& runner);

/// The script that drives a backend in Python, beside or in place of a plug-in. Nothing for
/// backends that Python does not serve, and where a script is named already.
void ServeInPython(RunnerPlan& runner);

/// What kind of model a TensorRT runner gets, and what followed its path after a colon. A network
/// script moves the runner to Python.
void GiveModelToTensorRt(ModelType type, const std::string& extra, RunnerPlan& runner);

/// Has the model converted for a runner that reads ONNX.
void ConvertToOnnx(RunnerPlan& runner);

/// Whether the runner has this session option, whatever its value; or with this value.
bool HasOption(const RunnerPlan& runner, std::string_view key);
bool HasOption(const RunnerPlan& runner, std::string_view key, std::string_view value);

/// Warns of a model that is not there, once for each path.
void WarnOfMissingModel(const std::string& path, Logger& logger);

}  // namespace vernier
