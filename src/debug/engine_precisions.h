// How TensorRT learns which nodes of a model stay in a higher precision. Networks of TensorRT
// 10 and newer are strongly typed: the types of the model's tensors hold. To older ones these
// are hints; there the layers that nodes became are given precisions, which the builder has to
// obey.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/run_plan.h"
#include "vernier/run_record.h"

namespace vernier {

inline constexpr std::string_view kTensorRtBackend = "tensorrt";

/// Of a library's own version: "8.5.3". False for what is no version.
bool IsStronglyTyped(std::string_view version);

/// Is this the key of an option that permits a precision below float32?
bool IsLowerPrecision(std::string_view key);

/// Takes away what lets a TensorRT runner compute in lower precisions. Nothing for other runners.
void KeepInFloat32(RunnerPlan& runner);

/// Lets a TensorRT runner compute as the model's own types say.
void ObeyTypes(RunnerPlan& runner);

/// Lets a TensorRT runner use lower precisions, float16 where its options permit none, but for the
/// nodes that make these tensors: they compute in `higher`.
void ObeyPrecisions(RunnerPlan& runner, std::span<const std::string> tensors,
                    std::string_view higher);

/// The worker of the runner makes one builder for all builds, and begins when it is started.
void KeepBuilder(RunnerPlan& runner);

/// Builds that follow each other need not begin from nothing: the builder is kept, and so are the
/// timings of kernels, also in this file or in that which the runner saves them to, if it has no
/// folder for them; not where the runner has files of tactics.
void ShareBuilder(RunnerPlan& runner, const std::string& timings);

/// The file that the timings of the runner's builds are saved to; empty where they are not.
std::string_view TimingsOf(const RunnerPlan& runner);

/// Where the engine of a runner that builds one goes.
void SetEngineFile(RunnerPlan& runner, const std::string& path);

/// The precisions requested for layers: "NAME:PRECISION", one each.
std::vector<std::string> AskedLayers(const EngineBuildRecord& build);

/// Layers that compute in another precision than requested, one sentence each.
std::vector<std::string> DisobeyedLayers(const EngineBuildRecord& build);

}  // namespace vernier
