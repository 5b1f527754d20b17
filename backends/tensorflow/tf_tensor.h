// Tensors of the host to TensorFlow's and back, without copies where the memory allows it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "tf_api.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::tf {

using TensorHandle = Handle<TF_Tensor>;

/// Counts the tensors of one run that TensorFlow has not let go of. A graph may keep what it is
/// fed: a variable that an input is assigned to has its memory from then on.
class FedTensors {
 public:
  /// kCopy: of memory of its own, which TensorFlow may keep. kLend: of the host's. Strings are
  /// copied in any case. kInvalidArgument for a type that TensorFlow does not have.
  enum class Memory : uint8_t { kCopy, kLend };
  Result<TensorHandle> Make(const Api& api, const vn_tensor& tensor, Memory memory);

  /// Have all been let go of? To be asked when the run is over and nothing of it is left here;
  /// another thread of TensorFlow may be a moment late, which is waited for.
  bool AllReturned(std::chrono::milliseconds patience) const;

 private:
  std::shared_ptr<std::atomic<int>> held_ = std::make_shared<std::atomic<int>>(0);
};

/// An output that keeps TensorFlow's tensor alive; strings are copied.
sdk::OutputTensor FromTensor(const Api& api, std::string name, TensorHandle tensor);

/// An output with bytes of its own, of what the host has handed in.
sdk::OutputTensor CopyOf(const vn_tensor& tensor, std::string name);

/// Puts the bytes of an output that lie in the host's memory, which it lends for one run,
/// elsewhere.
void DetachFrom(const vn_tensor& input, sdk::OutputTensor& output);

}  // namespace vernier::tf
