// A model whose weights are moved by one rounding step: a correct runtime may differ from the
// original by as much, since it rounds every product.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "model/onnx/onnx_model.h"
#include "run/runner/nudged_floats.h"
#include "run/workers/model_source.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"

namespace vernier {

class NudgedWeights {
 public:
  /// kUnimplemented for a model that is no ONNX or is to be changed on its way to the runner, and
  /// for one without weights that can be moved: floats of two dimensions or more, in the file
  /// itself. Others may be sizes, scales and limits. Otherwise the errors of OnnxModel::Open.
  static Result<NudgedWeights> Of(const ModelPlan& plan);

  /// Of the coarsest type of weights.
  double roundoff() const { return roundoff_; }

  /// The model with its weights moved so, as they are without a nudge. Of large models only the
  /// first weights are.
  Result<std::shared_ptr<const ModelSource>> Move(std::optional<Nudge> nudge) const;

 private:
  NudgedWeights(const ModelPlan& plan, OnnxModel model) : plan_(plan), model_(std::move(model)) {}

  ModelPlan plan_;
  OnnxModel model_;
  double roundoff_ = 0;
};

}  // namespace vernier
