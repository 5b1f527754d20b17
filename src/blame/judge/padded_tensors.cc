#include "blame/judge/padded_tensors.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "compare/positions/fed_positions.h"
#include "compare/positions/masked_positions.h"
#include "model/shapes/symbolic_shapes.h"
#include "run/comparison/mask_axes.h"
#include "run/comparison/position_feeds.h"

namespace vernier {
namespace {

std::vector<std::string> NamesOfMasks(const std::string& asked) {
  if (!asked.empty()) return {asked};
  return {kDecoderMask, kUsualMask};
}

// Positions of [batch, positions, values] and [batch, heads, positions, values].
const Dim* PositionsOfShape(const TensorInfo& tensor) {
  const size_t rank = tensor.shape ? tensor.shape->size() : 0;
  return rank == 3 || rank == 4 ? &(*tensor.shape)[rank - 2] : nullptr;
}

// [batch, positions], for the axis of the mask and those of the outputs: "sequence" beside
// "past + sequence", of which it is the end.
std::vector<std::vector<Dim>> AxesOfPositions(const std::vector<Dim>& mask,
                                              std::span<const TensorInfo> outputs) {
  std::vector<std::vector<Dim>> axes = {mask};
  for (const TensorInfo& output : outputs) {
    const Dim* const positions = PositionsOfShape(output);
    if (positions == nullptr || output.shape->front() != mask.front()) continue;
    axes.push_back({mask.front(), *positions});
  }
  return axes;
}

// Sizes are as good as names where the user says that there is a mask.
bool LiesAlongAxis(const std::vector<Dim>& axis, const TensorInfo& tensor) {
  const Dim* const positions = PositionsOfShape(tensor);
  const auto known = [](const Dim& dim) { return !dim.dynamic() || !dim.symbol.empty(); };
  return positions != nullptr && *positions == axis.back() &&
         tensor.shape->front() == axis.front() && known(axis.back()) && known(axis.front()) &&
         std::ranges::count(*tensor.shape, *positions) == 1;
}

}  // namespace

const NamedTensor* FindFedMask(const TensorMap& feed, const std::string& asked) {
  for (const std::string& name : NamesOfMasks(asked)) {
    const Result<const NamedTensor*> mask = FindPositions(name, kUsualMask, feed);
    const bool usable = mask.ok() && *mask != nullptr && (*mask)->tensor.dims().size() == 2 &&
                        HasExcluded((*mask)->tensor);
    if (usable) return *mask;
  }
  return nullptr;
}

Status CheckAskedMask(const TensorMap& feed, const std::string& asked) {
  if (asked.empty()) return {};
  VERNIER_ASSIGN_OR_RETURN(const NamedTensor* const mask, FindPositions(asked, kUsualMask, feed));
  if (mask == nullptr || mask->tensor.dims().size() == 2) return {};
  return Malformed("--mask " + asked + ": a search takes masks [batch, positions], not shape " +
                   FormatDims(mask->tensor.dims()));
}

MaskedTensors MaskedTensors::Find(const OnnxModel& model, const std::string& asked) {
  MaskedTensors found;
  found.asked_ = asked;
  for (const std::string& mask : NamesOfMasks(asked)) found.Add(model, mask);
  return found;
}

void MaskedTensors::Add(const OnnxModel& model, const std::string& name) {
  const OnnxGraph& graph = model.graph();
  const auto mask = std::ranges::find(graph.inputs, name, &OnnxValue::name);
  if (mask == graph.inputs.end()) return;
  const TensorInfo declared = ToTensorInfo(*mask);
  std::vector<TensorInfo> outputs;
  if (!asked_.empty()) {
    for (const OnnxValue& output : graph.outputs) {
      outputs.push_back(ToTensorInfo(output));
      masks_.emplace(output.name, name);
    }
  }
  if (!declared.shape || declared.shape->size() != 2) return;
  const auto axes = AxesOfPositions(*declared.shape, outputs);
  std::vector<std::string> names;
  for (const OnnxNode& node : graph.nodes) {
    for (const std::string_view name : graph.Outputs(node)) names.emplace_back(name);
  }
  const auto shapes = FollowNamedSizes(model, {}, names);
  if (!shapes.ok()) return;
  for (const TensorInfo& tensor : *shapes) {
    const bool along =
        tensor.shape && std::ranges::any_of(axes, [&](const auto& axis) {
          return asked_.empty() ? LiesAlongMask(axis, *tensor.shape) : LiesAlongAxis(axis, tensor);
        });
    if (along) masks_.emplace(tensor.name, name);
  }
}

std::string MaskedTensors::MaskOf(std::string_view name) const {
  const auto found = masks_.find(name);
  return found == masks_.end() ? "" : found->second;
}

void PaddedTensors::Reduce(std::string_view name, JudgedPair& pair) {
  const std::string of = masked_ == nullptr ? "" : masked_->MaskOf(name);
  if (of.empty() || pair.reference->dims() != pair.candidate->dims()) return;
  const auto known = masks_.find(of);
  const NamedTensor* const mask =
      known != masks_.end() ? known->second : (masks_[of] = FindFedMask(*feed_, of));
  if (mask == nullptr) return;
  FedPositions fed;
  fed.mask = PositionValues{.source = mask->name,
                            .asked = !masked_->asked().empty(),
                            .for_elements = true,
                            .outputs = {std::string(name)},
                            .tensor = mask->tensor,
                            .count = mask->tensor.dims().back()};
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
