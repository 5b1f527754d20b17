// Follows values that only mask others, through sums and selections, to a Softmax.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_model.h"

namespace vernier {

class MaskFlow {
 public:
  /// Both must outlive it.
  explicit MaskFlow(const OnnxModel& model);

  /// The Softmax nodes that a value of the main graph ends in, by way of operators that add, choose
  /// or move it; nullopt where it goes anywhere else, or nowhere.
  using Ends = std::vector<const OnnxNode*>;
  const std::optional<Ends>& EndsOf(std::string_view value);

 private:
  bool Follow(const OnnxNode& node, Ends& ends);

  const OnnxModel& model_;
  std::multimap<std::string_view, const OnnxNode*> readers_;
  std::map<std::string_view, std::optional<Ends>> ends_;
  bool has_bodies_ = false;  ///< which may read anything
};

}  // namespace vernier
