// The outputs of a runner that are no tensors, and so not among its results.
#pragma once

#include <vector>

#include "backend/wire/messages.h"
#include "backend/wire/tensor_block.h"
#include "vernier/tensor.h"

namespace vernier {

class SkippedOutputs {
 public:
  /// A model was opened that does not expose these.
  void Begin(std::vector<SkippedOutput> not_exposed) { all_ = std::move(not_exposed); }

  /// An inference gave `outputs` and left out `skipped`.
  void Add(const TensorMap& outputs, const std::vector<SkippedOutput>& skipped);

  const std::vector<SkippedOutput>& all() const { return all_; }
  /// Those among them that inferences have made: values that are no tensors.
  const std::vector<SkippedOutput>& lost() const { return lost_; }

 private:
  std::vector<SkippedOutput> all_, lost_;
};

}  // namespace vernier
