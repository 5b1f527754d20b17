#include "blame/judge/layer_merge.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace vernier {
namespace {

double WorstError(const BlameLayerRecord& layer) {
  return std::max({layer.total_error, layer.own_error.value_or(0), layer.in_place_error.value_or(0),
                   layer.fused_error.value_or(0)});
}

}  // namespace

void MergeWorst(std::span<const BlameLayerRecord> more, std::vector<BlameLayerRecord>& into) {
  std::unordered_map<std::string, size_t> known;
  for (size_t i = 0; i < into.size(); ++i) known[into[i].outputs.front().name] = i;
  for (const BlameLayerRecord& layer : more) {
    const auto [place, added] = known.emplace(layer.outputs.front().name, into.size());
    if (added) {
      into.push_back(layer);
    } else if (WorstError(layer) > WorstError(into[place->second])) {
      into[place->second] = layer;
    }
  }
}

}  // namespace vernier
