// Tensors of a search without the positions that a mask among the inputs excludes.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blame/judge/tensor_judge.h"
#include "model/onnx/onnx_model.h"
#include "vernier/tensor.h"

namespace vernier {

/// Which tensors of a model have their positions along the axis of the usual mask, by the names
/// that the model's inputs give to their dimensions.
class MaskedTensors {
 public:
  /// None where the model has no such mask, or names no axes.
  static MaskedTensors Find(const OnnxModel& model);

  bool Has(std::string_view name) const { return names_.contains(name); }
  bool empty() const { return names_.empty(); }

 private:
  std::map<std::string, bool, std::less<>> names_;
};

/// Of one feed.
class PaddedTensors {
 public:
  PaddedTensors() = default;  ///< leaves nothing out
  /// `masked` must outlive it.
  PaddedTensors(const MaskedTensors& masked, const TensorMap& feed);

  /// Where the mask excludes positions of this tensor, the pair is then of copies without them,
  /// which live as long as this.
  void Reduce(std::string_view name, JudgedPair& pair);

 private:
  const MaskedTensors* masked_ = nullptr;
  std::optional<Tensor> mask_;  // [batch, positions]
  std::deque<Tensor> copies_;
};

}  // namespace vernier
