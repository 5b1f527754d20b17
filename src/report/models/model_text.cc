#include "report/models/model_text.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compare/functions/comparison.h"
#include "kernels/measures/magnitudes.h"
#include "model/onnx/external_data.h"
#include "model/onnx/mapped_weight.h"
#include "model/onnx/onnx_order.h"
#include "model/shapes/onnx_infer.h"
#include "model/shapes/onnx_shapes.h"
#include "report/text/array_text.h"
#include "report/text/numpy_text.h"
#include "report/text/text_table.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr double kShownQuantiles[] = {0.9, 0.95, 0.99};
constexpr std::string_view kTypeAttributes[] = {"to", "dtype", "target_type"};

struct ShownTensor {
  std::string name;
  TensorInfo info;
  bool known = false;
};

std::string ShapeText(const TensorInfo& info) {
  return FormatShape(info.shape ? info.shape : std::vector<Dim>());
}

std::string Describe(const ShownTensor& tensor) {
  if (!tensor.known) return tensor.name;
  std::string text = tensor.name + (tensor.name.empty() ? "" : " ") + "[";
  if (tensor.info.dtype != DType::kUndefined) {
    text += "dtype=" + std::string(DTypeName(tensor.info.dtype)) + ", ";
  }
  return text + "shape=" + ShapeText(tensor.info) + "]";
}

std::string List(const std::vector<ShownTensor>& tensors) {
  std::string text = "{";
  for (size_t i = 0; i < tensors.size(); ++i) text += (i > 0 ? ",\n " : "") + Describe(tensors[i]);
  return text + "}";
}

std::string FormatDimsAsList(std::span<const int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

// The name of an element type as an attribute's value, where Polygraphy maps two of them.
std::string TypeName(int64_t number) {
  const auto dtype = DTypeFromOnnx(number);
  if (!dtype) return std::to_string(number);
  return *dtype == DType::kFloat8E4M3FN     ? "float8e4m3fn"
         : *dtype == DType::kFloat8E4M3FNUZ ? "float8e4m3fnuz"
         : *dtype == DType::kFloat8E5M2     ? "float8e5m2"
         : *dtype == DType::kFloat8E5M2FNUZ ? "float8e5m2fnuz"
                                            : std::string(DTypeName(*dtype));
}

std::string StatisticsText(const Tensor& values) {
  if (values.dtype() == DType::kString) return "strings have none";
  const ValueStatistics statistics =
      MeasureValues(Elements(values), StatisticsLevel::kRanks, kShownQuantiles);
  const Magnitudes magnitudes = MeasureMagnitudes(Elements(values));
  std::string text = FormatStatistics(statistics, values.dtype(), values.dims());
  if (magnitudes.nan_count > 0) text += ", " + std::to_string(magnitudes.nan_count) + " NaN";
  if (magnitudes.infinite_count > 0) {
    text += ", " + std::to_string(magnitudes.infinite_count) + " infinite";
  }
  return text;
}

bool IsCalled(const OnnxGraph& graph, const OnnxNode& node, std::string_view name) {
  const auto made = graph.Outputs(node);
  return !name.empty() &&
         (node.name == name || std::find(made.begin(), made.end(), name) != made.end());
}

using Known = std::unordered_map<std::string_view, TensorInfo>;

class Formatter {
 public:
  Formatter(const OnnxModel& model, const ModelTextOptions& options)
      : model_(model), options_(options) {}

  std::string Title() const {
    std::string version = "Unknown", others;
    for (const OnnxOpset& opset : model_.contents().opsets) {
      if (opset.domain.empty()) {
        version = std::to_string(opset.version);
        continue;
      }
      others += (others.empty() ? "" : ", ") + QuotePython(opset.domain) + ": " +
                std::to_string(opset.version);
    }
    std::string title = "Name: " + std::string(model_.graph().name) + " | ONNX Opset: " + version;
    if (!others.empty()) title += " | Other Opsets: {" + others + "}";
    return title + "\n\n";
  }

  std::string Graph(const OnnxGraph& graph, const Known& outer, bool body, int level) {
    std::unordered_set<std::string_view> constants;
    for (const OnnxTensor& tensor : graph.initializers) constants.insert(tensor.name);
    const Known known = Declarations(graph, outer);
    const std::string prefix = body ? "Subgraph" : "Graph";
    std::string out = level == 0 && !body ? Title() : "";
    std::vector<OnnxValue> inputs;
    for (const OnnxValue& value : graph.inputs) {
      if (!constants.contains(value.name)) inputs.push_back(value);
    }
    if (options_.attributes && !graph.doc_string.empty()) {
      out += "---- Docstring ----\n" + std::string(graph.doc_string) + "\n\n";
    }
    out += Values(inputs, prefix + " Input(s)") + Values(graph.outputs, prefix + " Output(s)");
    out += Initializers(graph);
    out += "---- " + std::to_string(graph.nodes.size()) + " Node(s) ----\n";
    if (options_.layers) {
      for (size_t i = 0; i < graph.nodes.size(); ++i) {
        out += Node(graph, i, known, constants, level) + "\n";
      }
    }
    return IndentBlock(out, level);
  }

  // A node of `graph`, which is the main graph or a body.
  std::optional<std::string> Layer(const OnnxGraph& graph, std::string_view name) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const OnnxNode& node = graph.nodes[i];
      if (!IsCalled(graph, node, name)) continue;
      Known known = Declarations(model_.graph(), {});
      AddInferred(graph, node, known);
      known.merge(Declarations(graph, {}));
      std::unordered_set<std::string_view> constants;
      std::string weights;
      for (const OnnxGraph* home : {&graph, &model_.graph()}) {
        for (const OnnxTensor& tensor : home->initializers) {
          const auto read = graph.Inputs(node);
          const bool used = std::find(read.begin(), read.end(), tensor.name) != read.end();
          if (used && constants.insert(tensor.name).second) weights += Initializer(tensor);
        }
      }
      return Node(graph, i, known, constants, 0) + (weights.empty() ? "" : "\n" + weights);
    }
    return std::nullopt;
  }

 private:
  // Types that follow from the operators, where the model declares none.
  void AddInferred(const OnnxGraph& graph, const OnnxNode& node, Known& known) const {
    if (&graph != &model_.graph()) return;
    ShapeTracker shapes(model_, {});
    const Result<std::vector<uint32_t>> order = TopologicalOrder(model_);
    if (!order.ok()) return;
    for (const uint32_t index : *order) shapes.Visit(graph, graph.nodes[index]);
    std::vector<std::string_view> names(graph.Inputs(node).begin(), graph.Inputs(node).end());
    names.insert(names.end(), graph.Outputs(node).begin(), graph.Outputs(node).end());
    const std::vector<InferredType> types = InferTypes(model_, names);
    for (size_t i = 0; i < names.size(); ++i) {
      const Dims* dims = shapes.Find(names[i]);
      if (names[i].empty() || known.contains(names[i]) || dims == nullptr) continue;
      TensorInfo info{std::string(names[i]), DType::kUndefined, std::vector<Dim>()};
      info.dtype = DTypeFromOnnx(types[i].onnx_type).value_or(DType::kUndefined);
      for (const int64_t dim : *dims) info.shape->push_back({dim, {}});
      known[names[i]] = std::move(info);
    }
  }

  static ShownTensor Show(const OnnxValue& value) {
    return {std::string(value.name), ToTensorInfo(value), true};
  }

  static TensorInfo InfoOf(const OnnxTensor& tensor) {
    TensorInfo info{std::string(tensor.name), tensor.dtype, std::vector<Dim>()};
    for (const int64_t dim : tensor.dims) info.shape->push_back({dim, {}});
    return info;
  }

  static Known Declarations(const OnnxGraph& graph, const Known& outer) {
    Known known = outer;
    const auto add = [&](const std::vector<OnnxValue>& values) {
      for (const OnnxValue& value : values) known[value.name] = ToTensorInfo(value);
    };
    add(graph.value_info);
    for (const OnnxTensor& tensor : graph.initializers) known[tensor.name] = InfoOf(tensor);
    for (const OnnxValue& value : graph.inputs) {
      const bool constant =
          std::any_of(graph.initializers.begin(), graph.initializers.end(),
                      [&](const OnnxTensor& tensor) { return tensor.name == value.name; });
      if (!constant) known[value.name] = ToTensorInfo(value);
    }
    add(graph.outputs);
    return known;
  }

  static std::string Values(const std::vector<OnnxValue>& values, const std::string& what) {
    std::vector<ShownTensor> shown;
    for (const OnnxValue& value : values) shown.push_back(Show(value));
    return "---- " + std::to_string(values.size()) + " " + what + " ----\n" + List(shown) + "\n\n";
  }

  std::string Initializers(const OnnxGraph& graph) const {
    std::string out =
        "---- " + std::to_string(graph.initializers.size()) + " Initializer(s) ----\n";
    if (options_.weights || options_.statistics) {
      for (const OnnxTensor& tensor : graph.initializers) out += Initializer(tensor);
      return out + (graph.initializers.empty() ? "{}\n\n" : "");
    }
    if (!options_.layers) return out + "\n";
    std::vector<ShownTensor> shown;
    for (const OnnxTensor& tensor : graph.initializers) {
      shown.push_back({std::string(tensor.name), InfoOf(tensor), true});
    }
    return out + List(shown) + "\n\n";
  }

  std::string Initializer(const OnnxTensor& tensor) const {
    const std::string title = "Initializer | " + std::string(tensor.name) +
                              " [dtype=" + std::string(DTypeName(tensor.dtype)) +
                              ", shape=" + FormatDimsAsList(tensor.dims) + "]";
    std::string out;
    if (options_.statistics) out += title + " | Stats: " + StatisticsOf(tensor) + "\n\n";
    if (options_.weights) out += title + " | Values:\n" + IndentBlock(ValuesOf(tensor), 1) + "\n\n";
    return out;
  }

  std::string StatisticsOf(const OnnxTensor& tensor) const {
    return TextOf(tensor, StatisticsText);
  }

  // What was read of a file that changed meanwhile must not be shown.
  template <typename Text>
  std::string TextOf(const OnnxTensor& tensor, Text text) const {
    if (tensor.external && options_.ignore_external) return NotLoaded("external data are ignored");
    const Result<MappedWeight> weight = Read(tensor);
    std::string shown = weight.ok() ? text(weight->values) : "";
    const Status read = weight.ok() ? weight->CheckIntact() : weight.status();
    if (read.ok()) return shown;
    if (options_.unread != nullptr) {
      options_.unread->push_back("'" + std::string(tensor.name) + "': " + read.message());
    }
    return NotLoaded(read.message());
  }

  // Most of what is printed of a large weight is dots: only what is looked at is read.
  Result<MappedWeight> Read(const OnnxTensor& tensor) const {
    ExternalDataOptions place;
    place.directory = options_.external_data_dir;
    return MapWeight(model_, tensor, place);
  }

  static std::string NotLoaded(const std::string& why) {
    return "<error: failed to load weights>: " + why;
  }

  std::string ValuesOf(const OnnxTensor& tensor) const {
    return TextOf(tensor, [](const Tensor& values) { return FormatNumpyArray(values); });
  }

  std::string Tensors(std::span<const std::string_view> names, const Known& known,
                      const std::unordered_set<std::string_view>& constants) const {
    std::vector<ShownTensor> shown;
    for (const std::string_view name : names) {
      const auto found = known.find(name);
      ShownTensor tensor{std::string(name), {}, found != known.end()};
      if (tensor.known) tensor.info = found->second;
      if (constants.contains(name)) tensor.name = "Initializer | " + tensor.name;
      shown.push_back(std::move(tensor));
    }
    return List(shown);
  }

  std::string Node(const OnnxGraph& graph, size_t index, const Known& known,
                   const std::unordered_set<std::string_view>& constants, int level) {
    const OnnxNode& node = graph.nodes[index];
    std::string number = std::to_string(index);
    number.resize(std::max<size_t>(number.size(), 4), ' ');
    std::string out = "Node " + number + " | " + std::string(node.name) +
                      " [Op: " + std::string(node.op_type) + "]\n";
    const auto inputs = graph.Inputs(node);
    const auto outputs = graph.Outputs(node);
    const int deep = !inputs.empty() && !outputs.empty() ? 1 : 0;
    out += IndentBlock(Tensors(inputs, known, constants), 1) + (deep == 1 ? "\n" : "");
    std::string made = IndentBlock(Tensors(outputs, known, constants), deep);
    made.erase(0, made.find_first_not_of(' '));
    out += IndentBlock(" -> " + made, deep) + "\n";
    if (!options_.attributes) return out;
    const std::string attributes = Attributes(graph, node, known, level);
    return attributes.empty() ? out
                              : out + IndentBlock("---- Attributes ----", 1) + "\n" + attributes;
  }

  // A file may call an attribute a graph and give none, which reads as an empty one.
  const OnnxGraph& BodyOf(const OnnxGraph& graph, const OnnxNode& node, std::string_view name) {
    static const OnnxGraph kEmpty;
    for (const OnnxSubgraph& body : graph.Subgraphs(node)) {
      if (body.attribute == name) return model_.Subgraph(body);
    }
    return kEmpty;
  }

  std::string Attributes(const OnnxGraph& graph, const OnnxNode& node, const Known& known,
                         int level) {
    std::string out;
    for (const OnnxAttribute& attribute : model_.Attributes(node)) {
      std::string value;
      if (attribute.type == 5) {
        value = "\n" + Graph(BodyOf(graph, node, attribute.name), known, true, level + 2);
      } else if (const auto text = Value(attribute)) {
        value = *text;
      } else {
        continue;
      }
      const std::string owner = node.name.empty() ? "" : std::string(node.name) + ".";
      out += IndentBlock(owner + std::string(attribute.name) + " = " + value, 1) + "\n";
    }
    return out;
  }

  template <typename T, typename Format>
  static std::string Join(const std::vector<T>& values, Format format) {
    std::string text = "[";
    for (size_t i = 0; i < values.size(); ++i) text += (i > 0 ? ", " : "") + format(values[i]);
    return text + "]";
  }

  // nullopt for the kinds that Polygraphy leaves out.
  std::optional<std::string> Value(const OnnxAttribute& attribute) const {
    const auto as_float = [](float f) { return FormatFloatRepr(static_cast<double>(f)); };
    switch (attribute.type) {
      case 1:
        return as_float(attribute.f);
      case 2: {
        const bool type = std::find(std::begin(kTypeAttributes), std::end(kTypeAttributes),
                                    attribute.name) != std::end(kTypeAttributes);
        return type ? TypeName(attribute.i) : std::to_string(attribute.i);
      }
      case 3:
        return std::string(attribute.s);
      case 4:
        return attribute.tensor ? std::optional(TensorText(*attribute.tensor)) : std::nullopt;
      case 6:
        return Join(attribute.floats, as_float);
      case 7:
        return Join(attribute.ints, [](int64_t i) { return std::to_string(i); });
      case 8:
        return Join(attribute.strings, [](std::string_view s) { return QuotePython(s); });
      default:
        return std::nullopt;
    }
  }

  std::string TensorText(const OnnxTensor& tensor) const {
    std::string text = "Tensor: [dtype=" + std::string(DTypeName(tensor.dtype)) +
                       ", shape=" + FormatDimsAsList(tensor.dims) + "]";
    if (options_.statistics) text += " | Stats: " + StatisticsOf(tensor);
    if (options_.weights) text += " | Values:\n" + IndentBlock(ValuesOf(tensor), 1);
    return text;
  }

  const OnnxModel& model_;
  const ModelTextOptions& options_;
};

}  // namespace

std::string FormatModel(const OnnxModel& model, const ModelTextOptions& options) {
  std::string text = Formatter(model, options).Graph(model.graph(), {}, false, 0);
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

Result<std::string> FormatLayer(const OnnxModel& model, ModelTextOptions options,
                                const std::string& name) {
  options.layers = options.attributes = options.statistics = true;
  Formatter formatter(model, options);
  std::optional<std::string> text = formatter.Layer(model.graph(), name);
  for (const OnnxGraph& body : model.contents().subgraphs) {
    if (!text) text = formatter.Layer(body, name);
  }
  if (!text) {
    return NotFound("--layer: no node of '" + model.path() + "' is called '" + name +
                    "' or makes a tensor of that name");
  }
  text->erase(text->find_last_not_of(" \n") + 1);
  return *std::move(text);
}

Result<std::vector<std::string>> TensorsOfLayer(const OnnxModel& model, const std::string& name) {
  const OnnxGraph& graph = model.graph();
  std::unordered_set<std::string_view> weights;
  for (const OnnxTensor& tensor : graph.initializers) weights.insert(tensor.name);
  for (const OnnxNode& node : graph.nodes) {
    if (!IsCalled(graph, node, name)) continue;
    std::vector<std::string> names;
    const auto add = [&](std::span<const std::string_view> tensors) {
      for (const std::string_view tensor : tensors) {
        if (!tensor.empty() && !weights.contains(tensor)) names.emplace_back(tensor);
      }
    };
    add(graph.Inputs(node));
    add(graph.Outputs(node));
    return names;
  }
  return NotFound("'" + name +
                  "' is not a node of the main graph, and activations are known there only");
}

std::string FormatActivation(const std::string& source, const NamedTensor& tensor) {
  return "Activation | " + tensor.name +
         " [dtype=" + std::string(DTypeName(tensor.tensor.dtype())) +
         ", shape=" + FormatDimsAsList(tensor.tensor.dims()) + "] | " + source +
         " | Stats: " + StatisticsText(tensor.tensor);
}

}  // namespace vernier
