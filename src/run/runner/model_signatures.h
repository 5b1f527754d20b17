// The inputs and outputs that the ONNX models of a run declare, whichever runtime runs them: some
// do not hand out the names of dimensions.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "vernier/run_plan.h"
#include "vernier/tensor.h"

namespace vernier {

/// Each model is read once, when it is first asked for.
class ModelSignatures {
 public:
  /// `plan` must outlive it.
  explicit ModelSignatures(const RunPlan& plan) : plan_(&plan) {}

  /// Of a tensor of runner `stream`. Null: its model is not ONNX or cannot be read, it has no such
  /// tensor, or does not say its rank.
  const std::vector<Dim>* InputShape(size_t stream, const std::string& name);
  const std::vector<Dim>* OutputShape(size_t stream, const std::string& name);

 private:
  struct Signature {
    std::vector<TensorInfo> inputs, outputs;
  };
  const Signature& SignatureOf(size_t stream);

  const RunPlan* plan_;
  std::map<size_t, Signature> signatures_;  // empty ones of what is no ONNX model
};

}  // namespace vernier
