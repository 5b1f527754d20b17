#include "report/models/engine_text.h"

#include <algorithm>
#include <cstdio>
#include <span>

#include "io/bytes/text_encoding.h"
#include "kernels/elements/tensor_elements.h"
#include "kernels/measures/statistics.h"
#include "report/text/text_table.h"
#include "vernier/tensor.h"

namespace vernier {
namespace {

// As Polygraphy writes it.
std::string RangeText(const EngineTextOptions& options, const std::string& name) {
  const auto found = options.ranges.find(name);
  if (found == options.ranges.end()) return "";
  const auto number = [](const char* label, double value) {
    char text[400];  // the largest double has 309 digits before the point
    std::snprintf(text, sizeof text, ", %s=%.2f", label, value);
    return std::string(text);
  };
  const TensorRange& range = found->second;
  return number("min", range.min) + number("max", range.max) + number("avg", range.mean);
}

std::string Describe(const EngineLayerTensor& tensor, const EngineTextOptions& options) {
  std::string text = tensor.name + " [";
  if (!tensor.dtype.empty()) text += "dtype=" + tensor.dtype + ", ";
  text += "shape=" + FormatDims(tensor.shape);
  const bool is_known = !tensor.format.empty() && tensor.format.find("N/A") == std::string::npos;
  return text + (is_known ? ", Format: " + tensor.format : "") + RangeText(options, tensor.name) +
         "]";
}

std::string List(const std::vector<EngineLayerTensor>& tensors, const EngineTextOptions& options) {
  std::string text = "{";
  for (size_t i = 0; i < tensors.size(); ++i) {
    text += (i > 0 ? ",\n " : "") + Describe(tensors[i], options);
  }
  return text + "}";
}

std::string Tensors(const EngineRecord& engine, bool inputs) {
  std::string text;
  int count = 0;
  for (const EngineTensor& tensor : engine.tensors) {
    if (tensor.input != inputs) continue;
    text += (count++ > 0 ? ",\n " : "") + tensor.name + " [dtype=" + tensor.dtype +
            ", shape=" + FormatDims(tensor.shape) + "]";
  }
  return "---- " + std::to_string(count) + (inputs ? " Engine Input(s)" : " Engine Output(s)") +
         " ----\n{" + text + "}\n\n";
}

std::string Profiles(const EngineRecord& engine) {
  std::string out = "---- " + std::to_string(engine.profiles.size()) + " Profile(s) (" +
                    std::to_string(engine.tensors.size()) + " Tensor(s) Each) ----\n";
  size_t width = 0;
  for (const EngineTensor& tensor : engine.tensors) {
    width = std::max(width, CountCodePoints(tensor.name));
  }
  for (size_t p = 0; p < engine.profiles.size(); ++p) {
    out += "- Profile: " + std::to_string(p) + "\n";
    const std::vector<EngineShapes>& shapes = engine.profiles[p].shapes;
    for (size_t i = 0; i < engine.tensors.size(); ++i) {
      const EngineTensor& tensor = engine.tensors[i];
      out += "    Tensor: " + tensor.name +
             std::string(width + 8 - CountCodePoints(tensor.name), ' ') +
             (tensor.input ? "  (Input)" : " (Output)") + ", Index: " + std::to_string(i);
      const EngineShapes none;
      const EngineShapes& own = i < shapes.size() ? shapes[i] : none;
      out += tensor.input
                 ? " | Shapes: min=" + FormatDims(own.min) + ", opt=" + FormatDims(own.opt) +
                       ", max=" + FormatDims(own.max) + "\n"
                 : " | Shape: " + FormatDims(tensor.shape) + "\n";
    }
    out += "\n";
  }
  return out;
}

std::string Layer(const EngineLayer& layer, size_t index, const EngineTextOptions& options) {
  std::string number = std::to_string(index);
  number.resize(std::max(number.size(), size_t{4}), ' ');
  const bool both = !layer.inputs.empty() && !layer.outputs.empty();
  const size_t level = both ? 1 : 0;
  std::string outputs = IndentBlock(List(layer.outputs, options), level);
  outputs.erase(0, outputs.find_first_not_of(' '));
  return "Layer " + number + " | " + layer.name + " [Op: " + layer.type + "]\n" +
         IndentBlock(List(layer.inputs, options), 1) + (both ? "\n" : "") +
         IndentBlock(" -> " + outputs, level) + "\n";
}

std::string Layers(const EngineRecord& engine, const EngineTextOptions& options) {
  const size_t profiles =
      engine.layers_repeat ? std::max(engine.profiles.size(), size_t{1}) : size_t{1};
  const size_t each = engine.layers.size() / profiles;
  const size_t level = profiles > 1 ? 1 : 0;
  std::string out = "---- " + std::to_string(each) + " Layer(s)" +
                    (profiles > 1 ? " Per Profile" : "") + " ----\n";
  for (size_t i = 0; options.layers && i < each * profiles; ++i) {
    const EngineLayer& layer = engine.layers[i];
    if (level > 0 && i % each == 0) out += "- Profile: " + std::to_string(i / each) + "\n";
    out += IndentBlock(Layer(layer, i % each, options), level) + "\n";
    if (options.attributes) {
      out += IndentBlock(
                 "---- Attributes ----\nOrigin = " + layer.origin + "\nTactic = " + layer.tactic,
                 level + 1) +
             "\n";
    }
    out += "\n";
  }
  return out;
}

}  // namespace

std::map<std::string, TensorRange> RangesOf(const TensorMap& tensors) {
  std::map<std::string, TensorRange> ranges;
  for (const NamedTensor& named : tensors) {
    if (named.tensor.dtype() == DType::kString || named.tensor.element_count() == 0) continue;
    const ValueStatistics found = ComputeStatistics(Elements(named.tensor), {});
    ranges[named.name] = {found.min, found.max, found.mean};
  }
  return ranges;
}

std::string FormatEngine(const EngineRecord& engine, const EngineTextOptions& options) {
  std::string text =
      "Name: " + engine.name + " | " + (engine.refittable ? "Refittable " : "") +
      "Explicit Batch Engine\n\n" + Tensors(engine, true) + Tensors(engine, false) +
      "---- Memory ----\nDevice Memory: " + std::to_string(engine.device_memory_bytes) +
      " bytes\n\n" + Profiles(engine) + Layers(engine, options);
  text.pop_back();
  return text;
}

}  // namespace vernier
