#include "model/onnx/function_table.h"

#include <algorithm>

namespace vernier {
namespace {

// Both names of ONNX's own domain.
std::string_view Normalised(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

}  // namespace

FunctionTable::FunctionTable(const OnnxModel& model) {
  for (const OnnxFunction& function : model.contents().functions) {
    functions_[{Normalised(function.domain), function.name, function.overload}] = &function;
  }
}

const OnnxFunction* FunctionTable::Find(const OnnxNode& node) const {
  if (functions_.empty()) return nullptr;
  const auto found = functions_.find({Normalised(node.domain), node.op_type, node.overload});
  return found == functions_.end() ? nullptr : found->second;
}

bool HasOpsetOf(const OnnxModel& model, const OnnxFunction& function) {
  const auto standard =
      std::find_if(function.opsets.begin(), function.opsets.end(),
                   [](const OnnxOpset& opset) { return Normalised(opset.domain).empty(); });
  return standard != function.opsets.end() && standard->version == model.opset();
}

}  // namespace vernier
