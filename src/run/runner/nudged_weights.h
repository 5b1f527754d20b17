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

/// Which floats of a model are moved. Of those with fewer than two dimensions, which may be sizes
/// and limits, only what `Mul` and `Add` read, and the scales of `QuantizeLinear`: all that is no
/// integer in the layers of a quantised model.
enum class MovedWeights : uint8_t { kMatrices, kMatricesAndScales };

class NudgedWeights {
 public:
  /// kUnimplemented for a model that is no ONNX or is to be changed on its way to the runner, and
  /// for one without such weights in the file itself. Otherwise the errors of OnnxModel::Open.
  static Result<NudgedWeights> Of(const ModelPlan& plan,
                                  MovedWeights which = MovedWeights::kMatrices);

  /// Of the coarsest type of weights.
  double roundoff() const { return roundoff_; }

  /// The model with its weights moved so, as they are without a nudge. Of large models only the
  /// first weights are.
  Result<std::shared_ptr<const ModelSource>> Move(std::optional<Nudge> nudge) const;

 private:
  NudgedWeights(const ModelPlan& plan, MovedWeights which, OnnxModel model)
      : plan_(plan), which_(which), model_(std::move(model)) {}

  ModelPlan plan_;
  MovedWeights which_;
  OnnxModel model_;
  double roundoff_ = 0;
};

}  // namespace vernier
