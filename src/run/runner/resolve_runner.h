// What a runner's plan leaves open, and what follows from it before any framework loads: who serves
// its backend, which format its model has, and whether that must be converted.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/onnx/model_type.h"
#include "util/log/log.h"
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

/// Do these formats, those of a backend, have the model converted to ONNX? See
/// vn_backend_api::model_formats.
bool IsConvertedFor(std::span<const std::string> formats, ModelType type);

/// Are they those of a backend that opens any file?
bool OpensAnyFile(std::span<const std::string> formats);

/// Does the backend open TensorFlow's formats, as far as that is known before it is loaded?
bool ReadsTensorFlow(std::string_view backend);

/// kInvalidArgument, as ResolveRunner() has it, for a model that a plug-in with these formats does
/// not open.
Status CheckFormat(const ModelPlan& model, std::span<const std::string> formats);

/// Has the model converted for a runner that reads ONNX.
void ConvertToOnnx(RunnerPlan& runner);

/// Whether the runner has this session option, whatever its value; or with this value.
bool HasOption(const RunnerPlan& runner, std::string_view key);
bool HasOption(const RunnerPlan& runner, std::string_view key, std::string_view value);

/// Warns of a model that is not there, once for each path.
void WarnOfMissingModel(const std::string& path, Logger& logger);

}  // namespace vernier
