// One TorchScript module.
#pragma once

#include <torch/script.h>

#include <memory>
#include <string>
#include <vector>

#include "vernier/backend_sdk.hpp"

namespace vernier {

/// Names that the file does not have: of outputs, in their order.
using OutputNames = std::vector<std::string>;

class TorchScriptSession final : public sdk::Session {
 public:
  /// `asked`: the names are the user's, and their number must be right (kInvalidArgument).
  /// kUnimplemented for a module whose arguments or results are other than tensors: Python can
  /// still run it. `asked`: the names are the user's, and as many as there are outputs, else
  /// kInvalidArgument.
  static Result<std::unique_ptr<sdk::Session>> Create(const sdk::Host& host,
                                                      torch::jit::Module module,
                                                      const OutputNames& names, bool asked);

  std::span<const sdk::TensorSpec> inputs() const override { return inputs_; }
  std::span<const sdk::TensorSpec> outputs() const override { return outputs_; }
  sdk::SessionInfo info() const override;
  /// Inputs go by name where the feed has all of them, else in order, which a warning says once.
  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override;

 private:
  TorchScriptSession(const sdk::Host& host, torch::jit::Module module);
  Status ReadArguments();
  Status ReadResults(const OutputNames& names, bool asked);
  Result<std::vector<c10::IValue>> Arguments(std::span<const vn_tensor* const> feed);
  void WarnOfOrder(std::span<const vn_tensor* const> feed);

  const sdk::Host host_;
  torch::jit::Module module_;
  at::Device device_;
  bool warned_of_order_ = false;
  bool needs_own_inputs_ = false;  ///< it may write to them or keep them: then it gets copies
  std::vector<sdk::TensorSpec> inputs_, outputs_;
};

}  // namespace vernier
