#include "blame/judge/padded_tensors.h"

#include <algorithm>
#include <utility>

#include "compare/fed_positions.h"
#include "compare/masked_positions.h"
#include "model/shapes/symbolic_shapes.h"
#include "run/comparison/mask_axes.h"
#include "run/comparison/position_feeds.h"

namespace vernier {

MaskedTensors MaskedTensors::Find(const OnnxModel& model) {
  MaskedTensors found;
  const OnnxGraph& graph = model.graph();
  const auto mask = std::ranges::find(graph.inputs, kUsualMask, &OnnxValue::name);
  if (mask == graph.inputs.end()) return found;
  const TensorInfo declared = ToTensorInfo(*mask);
  if (!declared.shape) return found;
  std::vector<std::string> names;
  for (const OnnxNode& node : graph.nodes) {
    for (const std::string_view name : graph.Outputs(node)) names.emplace_back(name);
  }
  const auto shapes = FollowNamedSizes(model, {}, names);
  if (!shapes.ok()) return found;
  for (const TensorInfo& tensor : *shapes) {
    const bool along = tensor.shape && LiesAlongMask(*declared.shape, *tensor.shape);
    if (along) found.names_.emplace(tensor.name, true);
  }
  return found;
}

PaddedTensors::PaddedTensors(const MaskedTensors& masked, const TensorMap& feed)
    : masked_(&masked) {
  const NamedTensor* const mask = masked.empty() ? nullptr : FindUsualMask(feed);
  if (mask != nullptr && mask->tensor.dims().size() == 2) mask_ = mask->tensor;
}

void PaddedTensors::Reduce(std::string_view name, JudgedPair& pair) {
  if (!mask_ || !masked_->Has(name) || pair.reference->dims() != pair.candidate->dims()) return;
  FedPositions fed;
  fed.mask = PositionValues{.source = kUsualMask,
                            .for_elements = true,
                            .outputs = {std::string(name)},
                            .tensor = *mask_,
                            .count = mask_->dims().back()};
  const auto kept = FindKeptPositions(&fed, {std::string(name), *pair.reference});
  if (!kept || kept->masked.excluded == 0) return;
  for (const Tensor** const side : {&pair.reference, &pair.candidate}) {
    Result<Tensor> copy = TakePositions(**side, kept->kept, kept->masked.length);
    if (!copy.ok()) return;
    copies_.push_back(*std::move(copy));
    *side = &copies_.back();
  }
}

}  // namespace vernier
