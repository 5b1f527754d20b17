// What a module's code shows of the state that a run leaves in it for the next.
#pragma once

#include <torch/script.h>

#include <memory>
#include <string>

namespace vernier {

struct ModuleState {
  bool kept = false;      ///< it writes to what is its own
  bool in_copies = true;  ///< a copy of what was loaded begins anew: else only loading it does
  std::string unseen;     ///< a method that it calls and whose code is not known; empty: none
};

/// The code of `forward`, with that of all functions and methods that it calls.
std::shared_ptr<torch::jit::Graph> InlinedForward(const torch::jit::Module& module);

/// Does `forward` write to what the next run finds: attributes of the module, tensors in its lists,
/// dictionaries, tuples and objects, or constants of the code? Statistics that only training writes
/// do not count.
ModuleState FindModuleState(const torch::jit::Module& module);

}  // namespace vernier
