// Which model-local functions --fp-to-fp16 converts with the graphs that call them. Internal to
// model.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/onnx/function_table.h"
#include "model/onnx/onnx_model.h"
#include "model/shapes/onnx_infer.h"

namespace vernier {

/// A function is there once for all of its calls, so it is converted where all of them have
/// arguments of the same types, the types of all values in it are known, it imports the model's own
/// operators (casts are among them), and no function that stays as it is calls it.
class Float16Functions {
 public:
  /// `model` must outlive this.
  explicit Float16Functions(const OnnxModel& model);

  /// Of the types in all graphs of the model.
  TypeInference& inference() { return inference_; }

  bool IsCall(const OnnxNode& node) const { return table_.Find(node) != nullptr; }
  /// Does the node call a function that is converted?
  bool IsConvertedCall(const OnnxNode& node) const;

  /// The types of the values in a function that is converted; nullptr for one that stays as it is.
  const ValueTypes* TypesIn(const OnnxFunction& function) const;

 private:
  struct Called {
    std::vector<int32_t> arguments;
    ValueTypes types;
    std::vector<const OnnxFunction*> callees;
    bool stays = false;
  };

  void VisitCalls(const OnnxGraph& graph, const ValueTypes& types, Called* caller, int depth);
  void VisitCall(const OnnxFunction& function, std::vector<int32_t> arguments, int depth);
  void LeaveCalleesOfWhatStays();

  const OnnxModel& model_;
  FunctionTable table_;
  TypeInference inference_;
  std::unordered_map<const OnnxFunction*, Called> called_;
};

}  // namespace vernier
