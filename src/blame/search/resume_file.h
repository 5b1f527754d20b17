// What an interrupted search had found.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "blame/probe/reference_choice.h"
#include "blame/search/blame_plan.h"
#include "model/onnx/onnx_model.h"
#include "vernier/blame_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// What a search is about. The models are those that the runners were given, where they are ONNX's.
struct ResumeScene {
  const BlamePlan& plan;
  const Sides& sides;
  const OnnxModel* candidate = nullptr;
  const OnnxModel* reference = nullptr;
  std::span<const RunnerRecord> runners;
  std::span<const TensorMap> feeds;
};

/// Equal for two commands that run the same models with the same releases of the same runners on
/// the same inputs. Files, weights beside a model among them, count by name, size and time of
/// change; inputs by their bytes.
std::string ResumeKey(const ResumeScene& scene);

/// nullopt when there is no such file yet. kMalformed when it is damaged or from another command;
/// `feeds` is how many iterations there are.
Result<std::optional<BlameRecord>> LoadResumeFile(const std::string& path, const std::string& key,
                                                  size_t feeds);

/// kIo.
Status SaveResumeFile(const std::string& path, const BlameRecord& record);

}  // namespace vernier
