// Tensors of a search without the positions that a mask among the inputs excludes.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "blame/judge/tensor_judge.h"
#include "model/onnx/onnx_model.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The mask [batch, positions] among inputs: integers of 0 and 1, some of them 0. `asked`: --mask,
/// of which `none` is none; empty: the usual one. Null: there is none.
const NamedTensor* FindFedMask(const TensorMap& feed, const std::string& asked);

/// Why the input that --mask names is no mask; without a name OK.
Status CheckAskedMask(const TensorMap& feed, const std::string& asked);

/// Which tensors of a model have their positions along the axis of a mask, by the names that the
/// model's inputs give to their dimensions.
class MaskedTensors {
 public:
  /// None where the model has no such mask, or names no axes. With `asked` (as in FindFedMask) all
  /// outputs, as in a run, and tensors along the axis of the mask or of an output's positions, by
  /// sizes, too.
  static MaskedTensors Find(const OnnxModel& model, const std::string& asked);

  /// All positions of this tensor count.
  void Keep(const std::string& name) { names_.erase(name); }

  bool Has(std::string_view name) const { return names_.contains(name); }
  bool empty() const { return names_.empty(); }
  const std::string& asked() const { return asked_; }

 private:
  std::string asked_;
  std::set<std::string, std::less<>> names_;
};

/// Of one feed.
class PaddedTensors {
 public:
  PaddedTensors() = default;  ///< leaves nothing out
  /// Both must outlive it.
  PaddedTensors(const MaskedTensors& masked, const TensorMap& feed);

  /// Where the mask excludes positions of this tensor, the pair is then of copies without them,
  /// which live as long as this.
  void Reduce(std::string_view name, JudgedPair& pair);

 private:
  const MaskedTensors* masked_ = nullptr;
  const NamedTensor* mask_ = nullptr;  // of the feed
  std::deque<Tensor> copies_;
};

}  // namespace vernier
