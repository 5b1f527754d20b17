#include "blame/judge/marked_alone.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "vernier/dtype.h"

namespace vernier {
namespace {

// Errors that are smaller may fade in the layers behind, whose bounds are wider.
constexpr double kFarOver = 100;

bool HasFloats(const BlameLayerRecord& layer) {
  return std::ranges::all_of(layer.outputs, [](const BlameTensorRecord& tensor) {
    return Kind(DTypeFromName(tensor.dtype).value_or(DType::kUndefined)) == DTypeKind::kFloat;
  });
}

bool ReadsAny(const BlameLayerRecord& layer, const std::unordered_set<std::string_view>& names) {
  return std::ranges::any_of(layer.inputs,
                             [&](const std::string& name) { return names.contains(name); });
}

std::unordered_set<std::string_view> OutputsOf(const BlameLayerRecord& layer) {
  std::unordered_set<std::string_view> names;
  for (const BlameTensorRecord& tensor : layer.outputs) names.insert(tensor.name_in_candidate());
  return names;
}

// Floats, since places and truths hide what they are made of; but no value is in a shape.
bool ReadersAgree(const BlameLayerRecord& layer, const BlameRecord& record) {
  const auto own = OutputsOf(layer);
  bool any = false;
  for (const BlameLayerRecord& reader : record.layers) {
    if (&reader == &layer || !ReadsAny(reader, own)) continue;
    const bool reads_shape = reader.op_type == "Shape" || reader.op_type == "Size";
    if (reader.total_error > 1 || (!HasFloats(reader) && !reads_shape)) return false;
    any = true;
  }
  return any;
}

// None of the layer's own, and at least one: the layers are in topological order.
bool OutputsBehindAgree(const BlameLayerRecord& layer, const std::vector<std::string>& outputs,
                        const std::map<std::string, double>& errors, const BlameRecord& record) {
  auto behind = OutputsOf(layer);
  const auto is_behind = [&](const std::string& name) { return behind.contains(name); };
  if (std::ranges::any_of(outputs, is_behind)) return false;
  for (const BlameLayerRecord& other : record.layers) {
    if (ReadsAny(other, behind)) behind.merge(OutputsOf(other));
  }
  return std::ranges::any_of(outputs, is_behind) &&
         std::ranges::all_of(outputs, [&](const std::string& name) {
           const auto error = errors.find(name);
           return !is_behind(name) || (error != errors.end() && error->second <= 1);
         });
}

}  // namespace

void NoteMarkedAlone(const std::vector<std::string>& outputs,
                     const std::map<std::string, double>& errors,
                     const std::map<std::string, std::string>& weights, BlameRecord& record) {
  for (BlameCulprit& culprit : record.culprits) {
    const auto layer = std::ranges::find(record.layers, culprit.node, &BlameLayerRecord::node);
    if (layer == record.layers.end() || weights.contains(culprit.node)) continue;
    const double error = std::max(
        {layer->own_error.value_or(0), layer->total_error, layer->in_place_error.value_or(0)});
    const bool alone = error >= kFarOver && ReadersAgree(*layer, record) &&
                       OutputsBehindAgree(*layer, outputs, errors, record);
    if (!alone) continue;
    culprit.why +=
        "; the layers that read it and, without marked tensors, the outputs behind it agree: it "
        "differs only when its tensor is marked as an output, for which the runtime computes "
        "another program";
    record.notes.push_back("layer '" + culprit.node + "' (" + culprit.op_type +
                           ") differs only when its tensor is marked as an output: without "
                           "marked tensors the outputs behind it agree");
  }
}

}  // namespace vernier
