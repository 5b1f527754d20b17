// One TorchScript module.
#pragma once

#include <torch/script.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vernier/backend_sdk.hpp"

namespace vernier {

/// Names that the file does not have: of outputs, in their order.
using OutputNames = std::vector<std::string>;

/// What the user says of a module.
struct ModuleWords {
  OutputNames outputs;
  bool asked = false;  ///< the names are the user's, and their number must be right
  std::string reset;   ///< --reset: the method that resets its state; empty: see Reset()
};

/// Gives the module as it is in its file, each time anew, on the CPU; throws as torch::jit::load.
using LoadModule = std::function<torch::jit::Module()>;

class TorchScriptSession final : public sdk::Session {
 public:
  /// kInvalidArgument for names of the user's that are more or fewer than the outputs, and for a
  /// method of the user's that the module lacks. kUnimplemented for a module whose arguments or
  /// results are other than tensors: Python can still run it. Throws as `load`.
  static Result<std::unique_ptr<sdk::Session>> Create(const sdk::Host& host, LoadModule load,
                                                      const ModuleWords& words);

  std::span<const sdk::TensorSpec> inputs() const override { return inputs_; }
  std::span<const sdk::TensorSpec> outputs() const override { return outputs_; }
  sdk::SessionInfo info() const override;
  /// Inputs go by name where the feed has all of them, else in order, which a warning says once.
  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override;
  /// Calls the user's method, or `reset_states`, where the module has one. Else a module whose
  /// forward writes to what is its own becomes a copy of what was loaded, or is loaded again.
  Status Reset() override;

 private:
  TorchScriptSession(const sdk::Host& host, LoadModule load);
  void Load();
  Status ReadArguments();
  Status ReadResults(const OutputNames& names, bool asked);
  Result<std::vector<c10::IValue>> Arguments(std::span<const vn_tensor* const> feed);
  void WarnOfOrder(std::span<const vn_tensor* const> feed);
  Status FindReset(const std::string& asked);
  void FindState();

  const sdk::Host host_;
  const LoadModule load_;
  torch::jit::Module module_;
  std::optional<torch::jit::Module> pristine_;  ///< of a module that writes to its attributes
  bool loads_again_ = false;                    ///< to be reset: copies would share its state
  bool asked_to_reset_ = false;
  std::string reset_;  ///< the method that resets it; empty: there is none
  at::Device device_;
  bool warned_of_order_ = false;
  bool needs_own_inputs_ = false;  ///< it may write to them or keep them: then it gets copies
  std::vector<sdk::TensorSpec> inputs_, outputs_;
};

}  // namespace vernier
