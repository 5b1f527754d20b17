// Which nodes have weights that float16 cannot hold. Internal to model.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/float16/float16_edit.h"
#include "model/float16/float16_functions.h"
#include "model/onnx/onnx_model.h"

namespace vernier {

/// Looks for nodes of the main graph, and of bodies in it, that read finite values beyond float16's
/// range from an initializer or a Constant, also through nodes that only rearrange values.
class BeyondFloat16 {
 public:
  /// All must outlive this.
  BeyondFloat16(const OnnxModel& model, const Float16Functions& functions,
                const WeightSources& sources)
      : model_(model), functions_(functions), sources_(sources) {}

  /// Adds the nodes to `kept`, and of those that compute something the names to `named`. Left out
  /// are nodes with bodies and calls of functions, which cannot be kept, and weights that nobody
  /// can read now.
  void Find(Float16Kept& kept, std::vector<std::string>& named) {
    Visit(model_.graph(), {}, kept, named);
  }

 private:
  using Names = std::unordered_set<std::string_view>;

  void Visit(const OnnxGraph& graph, Names beyond, Float16Kept& kept,
             std::vector<std::string>& named) const;
  bool IsBeyond(const OnnxTensor& tensor) const;
  bool MakesBeyond(const OnnxNode& node) const;

  const OnnxModel& model_;
  const Float16Functions& functions_;
  const WeightSources& sources_;
};

}  // namespace vernier
