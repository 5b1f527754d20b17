#include "debug/mask_flow.h"

#include <algorithm>
#include <iterator>

namespace vernier {
namespace {

// What leaves a value far below all others where it is. No products: their signs change.
constexpr std::string_view kCarriers[] = {"Add",      "Where",   "Reshape", "Expand",   "Unsqueeze",
                                          "Squeeze",  "Flatten", "Slice",   "Gather",   "Cast",
                                          "Identity", "Tile",    "Concat",  "Transpose"};

}  // namespace

MaskFlow::MaskFlow(const OnnxModel& model) : model_(model) {
  for (const OnnxNode& node : model.graph().nodes) {
    has_bodies_ |= node.subgraph_count > 0;
    for (const std::string_view name : model.graph().Inputs(node)) readers_.emplace(name, &node);
  }
  // A result of the model is read by whoever runs it.
  for (const OnnxValue& output : model.graph().outputs) ends_[output.name] = std::nullopt;
}

const std::optional<MaskFlow::Ends>& MaskFlow::EndsOf(std::string_view value) {
  const auto [at, added] = ends_.try_emplace(value);
  if (!added) return at->second;
  Ends ends;
  const auto [begin, end] = readers_.equal_range(value);
  const bool masks =
      !has_bodies_ && begin != end &&
      std::all_of(begin, end, [&](const auto& entry) { return Follow(*entry.second, ends); });
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  if (masks) at->second = std::move(ends);
  return at->second;
}

bool MaskFlow::Follow(const OnnxNode& node, Ends& ends) {
  if (node.op_type == "Softmax") {
    ends.push_back(&node);
    return true;
  }
  if (std::find(std::begin(kCarriers), std::end(kCarriers), node.op_type) == std::end(kCarriers)) {
    return false;
  }
  for (const std::string_view name : model_.graph().Outputs(node)) {
    const std::optional<Ends>& further = EndsOf(name);
    if (!further) return false;
    ends.insert(ends.end(), further->begin(), further->end());
  }
  return true;
}

}  // namespace vernier
