// The model-local functions of a model, by what calls them.
#pragma once

#include <map>
#include <string_view>
#include <tuple>

#include "model/onnx/onnx_model.h"

namespace vernier {

class FunctionTable {
 public:
  /// `model` must outlive the table.
  explicit FunctionTable(const OnnxModel& model);

  /// The function that a node calls; nullptr for an operator.
  const OnnxFunction* Find(const OnnxNode& node) const;

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;

  std::map<Key, const OnnxFunction*> functions_;
};

/// Does the function import ai.onnx, and in the model's own version? What is known of operators is
/// known for that one.
bool HasOpsetOf(const OnnxModel& model, const OnnxFunction& function);

}  // namespace vernier
