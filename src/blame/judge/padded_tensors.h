// Tensors of a search without the positions that a mask among the inputs excludes.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "blame/judge/tensor_judge.h"
#include "model/onnx/onnx_model.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The mask [batch, positions] among inputs: integers of 0 and 1, some of them 0. `asked`: --mask,
/// of which `none` is none; empty: a usual one, first that of a decoder. Null: there is none.
const NamedTensor* FindFedMask(const TensorMap& feed, const std::string& asked);

/// Why the input that --mask names is no mask; without a name OK.
Status CheckAskedMask(const TensorMap& feed, const std::string& asked);

/// Which tensors of a model have their positions along the axis of which mask, by the names that
/// the model's inputs give to their dimensions.
class MaskedTensors {
 public:
  /// None where the model has no such mask, or names no axes. With `asked` (as in FindFedMask) all
  /// outputs, as in a run, and tensors along the axis of the mask or of an output's positions, by
  /// sizes, too.
  static MaskedTensors Find(const OnnxModel& model, const std::string& asked);

  /// All positions of this tensor count.
  void Keep(const std::string& name) { masks_.erase(name); }

  /// Empty: there is none.
  std::string MaskOf(std::string_view name) const;
  bool empty() const { return masks_.empty(); }
  const std::string& asked() const { return asked_; }

 private:
  void Add(const OnnxModel& model, const std::string& mask);

  std::string asked_;
  std::map<std::string, std::string, std::less<>> masks_;  // by tensor
};

/// Of one feed.
class PaddedTensors {
 public:
  PaddedTensors() = default;  ///< leaves nothing out
  /// Both must outlive it.
  PaddedTensors(const MaskedTensors& masked, const TensorMap& feed)
      : masked_(&masked), feed_(&feed) {}

  /// Where the mask excludes positions of this tensor, the pair is then of copies without them,
  /// which live as long as this.
  void Reduce(std::string_view name, JudgedPair& pair);

 private:
  const MaskedTensors* masked_ = nullptr;
  const TensorMap* feed_ = nullptr;
  std::map<std::string, const NamedTensor*> masks_;  // of the feed, by name; null: it excludes none
  std::deque<Tensor> copies_;
};

}  // namespace vernier
