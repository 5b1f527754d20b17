// One model under tract.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tract_model.h"

namespace vernier::tract {

class TractSession final : public sdk::Session {
 public:
  /// A model whose inputs have all their sizes is compiled at once; any other by the first Run(),
  /// for the shapes of its feed.
  static Result<std::unique_ptr<sdk::Session>> Open(const Api& api, const Onnx* onnx,
                                                    const vn_model& model,
                                                    const sdk::Options& options);

  std::span<const sdk::TensorSpec> inputs() const override { return source_.inputs(); }
  std::span<const sdk::TensorSpec> outputs() const override {
    return compiled_ ? std::span<const sdk::TensorSpec>(compiled_->outputs) : source_.outputs();
  }
  sdk::SessionInfo info() const override;
  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override;
  /// Measures the layers, if asked to: tract repeats the last feed for seconds.
  void Close() override;

 private:
  TractSession(const Api& api, ModelSource source, Precision precision)
      : api_(api), source_(std::move(source)), precision_(precision) {}

  /// The facts of a feed in the model's order; kInvalidArgument if it does not fit.
  Result<std::vector<InputFact>> FactsOf(const std::vector<const vn_tensor*>& inputs) const;
  Status CompileFor(const std::vector<InputFact>& facts);
  Result<std::vector<Owned<Tensor>>> MakeInputs(const std::vector<const vn_tensor*>& inputs) const;

  const Api& api_;
  ModelSource source_;
  const Precision precision_;
  std::optional<Compiled> compiled_;
  std::string layer_times_path_;            ///< empty: layers are not measured
  std::vector<Owned<Tensor>> last_inputs_;  ///< to measure layers with
};

}  // namespace vernier::tract
