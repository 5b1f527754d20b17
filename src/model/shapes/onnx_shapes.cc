#include "model/shapes/onnx_shapes.h"

#include <algorithm>
#include <cstring>

#include "io/test_data/tensor_proto.h"
#include "model/onnx/onnx_attributes.h"
#include "model/shapes/window.h"

namespace vernier {
namespace {

using Inputs = std::vector<const Dims*>;

// A constant that holds a shape or a list of axes has no more values than this.
constexpr size_t kSmallConstant = 64;

// One node, with what its rule may look at.
struct Visited {
  const ShapeTracker& shapes;
  const OnnxGraph& graph;
  const OnnxNode& node;
  Inputs inputs;  // nullptr where unknown
  NodeAttributes& attributes;

  const Dims* Input(size_t index) const { return index < inputs.size() ? inputs[index] : nullptr; }
  std::optional<std::vector<int64_t>> InputValues(size_t index) const {
    const auto names = graph.Inputs(node);
    return index < names.size() ? shapes.Ints(names[index]) : std::nullopt;
  }
};

using Shape = std::optional<Dims>;

Shape Same(const Visited& v) { return v.Input(0) ? Shape(*v.Input(0)) : std::nullopt; }

Shape BroadcastDims(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t back = out.size() - i;
    const int64_t x = back <= a.size() ? a[a.size() - back] : 1;
    const int64_t y = back <= b.size() ? b[b.size() - back] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[i] = x == 1 ? y : x;
  }
  return out;
}

Shape Broadcast(const Visited& v) {
  Shape out = Dims{};
  for (const Dims* input : v.inputs) {
    if (input == nullptr || !out) return std::nullopt;
    out = BroadcastDims(*out, *input);
  }
  return out;
}

Shape MatMul(const Visited& v) {
  const Dims* a = v.Input(0);
  const Dims* b = v.Input(v.node.op_type == "QLinearMatMul" ? 3 : 1);
  if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2) return std::nullopt;
  const Dims a_batch(a->begin(), a->end() - 2);
  const Dims b_batch(b->begin(), b->end() - 2);
  Shape out = BroadcastDims(a_batch, b_batch);
  if (out) out->insert(out->end(), {(*a)[a->size() - 2], b->back()});
  return out;
}

Shape Gemm(const Visited& v) {
  const Dims* a = v.Input(0);
  const Dims* b = v.Input(1);
  if (a == nullptr || b == nullptr || a->size() != 2 || b->size() != 2) return std::nullopt;
  const bool flip_a = v.attributes.Int("transA", 0) != 0;
  const bool flip_b = v.attributes.Int("transB", 0) != 0;
  return Dims{(*a)[flip_a ? 1 : 0], (*b)[flip_b ? 0 : 1]};
}

Shape Windowed(const Visited& v, const Dims& kernel, int64_t channels) {
  const Dims* x = v.Input(0);
  if (x == nullptr || x->size() != kernel.size() + 2) return std::nullopt;
  const auto strides = v.attributes.Ints("strides");
  const auto dilations = v.attributes.Ints("dilations");
  const auto pads = v.attributes.Ints("pads");
  const std::string_view automatic = v.attributes.Text("auto_pad");
  const bool same = automatic.substr(0, 4) == "SAME";
  const bool ceil = v.attributes.Int("ceil_mode", 0) != 0;
  Dims out = {(*x)[0], channels};
  for (size_t i = 0; i < kernel.size(); ++i) {
    Window w{.size = kernel[i]};
    if (i < strides.size()) w.stride = strides[i];
    if (i < dilations.size()) w.dilation = dilations[i];
    if (i + kernel.size() < pads.size()) {
      w.before = pads[i];
      w.after = pads[i + kernel.size()];
    }
    const int64_t length = (*x)[i + 2];
    if (!w.IsPlausible() || length >= kMostLength) return std::nullopt;
    out.push_back(w.OutputOf(length, same, ceil));
  }
  const bool valid = std::all_of(out.begin(), out.end(), [](int64_t d) { return d >= 0; });
  return valid ? Shape(out) : std::nullopt;
}

Shape Conv(const Visited& v) {
  const Dims* w = v.Input(v.node.op_type == "QLinearConv" ? 3 : 1);
  if (w == nullptr || w->size() < 3) return std::nullopt;
  return Windowed(v, Dims(w->begin() + 2, w->end()), w->front());
}

Shape Pool(const Visited& v) {
  const Dims* x = v.Input(0);
  if (x == nullptr || x->size() < 3) return std::nullopt;
  return Windowed(v, v.attributes.Ints("kernel_shape"), (*x)[1]);
}

Shape GlobalPool(const Visited& v) {
  Shape out = Same(v);
  for (size_t i = 2; out && i < out->size(); ++i) (*out)[i] = 1;
  return out;
}

Shape Transpose(const Visited& v) {
  const Dims* x = v.Input(0);
  if (x == nullptr) return std::nullopt;
  std::vector<int64_t> order = v.attributes.Ints("perm");
  if (order.empty()) return Dims(x->rbegin(), x->rend());
  Dims out;
  for (const int64_t axis : order) {
    if (axis < 0 || axis >= static_cast<int64_t>(x->size())) return std::nullopt;
    out.push_back((*x)[static_cast<size_t>(axis)]);
  }
  return out;
}

Shape Reshape(const Visited& v) {
  const Dims* x = v.Input(0);
  const auto wanted = v.InputValues(1);
  if (x == nullptr || !wanted) return std::nullopt;
  Dims out = *wanted;
  const bool copy_zero = v.attributes.Int("allowzero", 0) == 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] != 0 || !copy_zero) continue;
    if (i >= x->size()) return std::nullopt;
    out[i] = (*x)[i];
  }
  const auto open = std::find(out.begin(), out.end(), -1);
  if (open == out.end()) return out;
  *open = 1;
  const std::optional<int64_t> rest = ElementCount(out);
  const std::optional<int64_t> all = ElementCount(*x);
  if (!rest || !all || *rest == 0 || *all % *rest != 0) return std::nullopt;
  *open = *all / *rest;
  return out;
}

Shape Flatten(const Visited& v) {
  const Dims* x = v.Input(0);
  if (x == nullptr) return std::nullopt;
  int64_t axis = v.attributes.Int("axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(x->size());
  if (axis < 0 || axis > static_cast<int64_t>(x->size())) return std::nullopt;
  const auto before = ElementCount(std::span(*x).first(static_cast<size_t>(axis)));
  const auto after = ElementCount(std::span(*x).subspan(static_cast<size_t>(axis)));
  return before && after ? Shape(Dims{*before, *after}) : std::nullopt;
}

Shape Reduce(const Visited& v) {
  const Dims* x = v.Input(0);
  if (x == nullptr) return std::nullopt;
  const bool squeeze = v.node.op_type == "Squeeze";
  const bool keep = !squeeze && v.attributes.Int("keepdims", 1) != 0;
  const auto axes = v.shapes.Axes(v.graph, v.node);
  if (!axes) return std::nullopt;
  Dims out;
  for (size_t i = 0; i < x->size(); ++i) {
    const auto position = static_cast<int64_t>(i);
    const auto names = [&](int64_t axis) {
      return axis == position || axis + static_cast<int64_t>(x->size()) == position;
    };
    const bool reduced =
        axes->empty() ? !squeeze || (*x)[i] == 1 : std::any_of(axes->begin(), axes->end(), names);
    if (!reduced) out.push_back((*x)[i]);
    if (reduced && keep) out.push_back(1);
  }
  return out;
}

Shape Unsqueeze(const Visited& v) {
  const Dims* x = v.Input(0);
  const auto axes = v.shapes.Axes(v.graph, v.node);
  if (x == nullptr || !axes) return std::nullopt;
  const auto rank = static_cast<int64_t>(x->size() + axes->size());
  Dims out(static_cast<size_t>(rank), 0);
  for (const int64_t given : *axes) {
    const int64_t axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank || out[static_cast<size_t>(axis)] == 1) return std::nullopt;
    out[static_cast<size_t>(axis)] = 1;
  }
  auto next = x->begin();
  for (int64_t& size : out) size = size == 1 ? 1 : *next++;
  return out;
}

Shape Concat(const Visited& v) {
  Shape out = Same(v);
  if (!out || out->empty()) return std::nullopt;
  int64_t axis = v.attributes.Int("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(out->size());
  if (axis < 0 || axis >= static_cast<int64_t>(out->size())) return std::nullopt;
  for (size_t i = 1; i < v.inputs.size(); ++i) {
    const Dims* next = v.inputs[i];
    if (next == nullptr || next->size() != out->size()) return std::nullopt;
    int64_t& size = (*out)[static_cast<size_t>(axis)];
    const int64_t more = (*next)[static_cast<size_t>(axis)];
    if (size >= kMostLength || more >= kMostLength) return std::nullopt;
    size += more;
  }
  return out;
}

Shape Gather(const Visited& v) {
  const Dims* x = v.Input(0);
  const Dims* indices = v.Input(1);
  int64_t axis = v.attributes.Int("axis", 0);
  if (x == nullptr || indices == nullptr || x->empty()) return std::nullopt;
  if (axis < 0) axis += static_cast<int64_t>(x->size());
  if (axis < 0 || axis >= static_cast<int64_t>(x->size())) return std::nullopt;
  Dims out(x->begin(), x->begin() + axis);
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), x->begin() + axis + 1, x->end());
  return out;
}

struct ShapeRule {
  std::string_view operators;  // separated by blanks, with one before and after each
  Shape (*rule)(const Visited&);
};

constexpr ShapeRule kRules[] = {
    {" Abs BatchNormalization BiasGelu Cast CastLike Ceil Celu Clip Cos CumSum DequantizeLinear "
     "Dropout DynamicQuantizeLinear Elu Erf Exp FastGelu Floor Gelu GroupNormalization HardSigmoid "
     "HardSwish Identity InstanceNormalization IsNaN LRN LayerNormalization LeakyRelu Log "
     "LogSoftmax LpNormalization MeanVarianceNormalization Mish Neg Not PRelu QuantizeLinear "
     "RMSNormalization Reciprocal Relu Round ScatterND Selu Shrink Sigmoid Sign SimplifiedLayer"
     "Normalization Sin SkipLayerNormalization Softmax Softplus Softsign Sqrt Swish Tan Tanh "
     "ThresholdedRelu Trilu ",
     Same},
    {" Add And Div Equal Greater Less Max Mean Min Mod Mul Or Pow Sub Sum Where ", Broadcast},
    {" MatMul MatMulInteger DynamicQuantizeMatMul QLinearMatMul FusedMatMul ", MatMul},
    {" Gemm FusedGemm ", Gemm},
    {" Conv ConvInteger QLinearConv FusedConv ", Conv},
    {" AveragePool LpPool MaxPool ", Pool},
    {" GlobalAveragePool GlobalLpPool GlobalMaxPool ", GlobalPool},
    {" Transpose ", Transpose},
    {" Reshape ", Reshape},
    {" Flatten ", Flatten},
    {" ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSum ReduceSumSquare Squeeze ",
     Reduce},
    {" Unsqueeze ", Unsqueeze},
    {" Concat ", Concat},
    {" Gather ", Gather},
};

Shape Apply(const Visited& v) {
  const std::string word = " " + std::string(v.node.op_type) + " ";
  for (const ShapeRule& rule : kRules) {
    if (rule.operators.find(word) != std::string_view::npos) return rule.rule(v);
  }
  return std::nullopt;
}

// Another domain's operator may share the name alone.
bool HasRules(std::string_view domain) {
  return domain.empty() || domain == "ai.onnx" || domain == "com.microsoft";
}

std::optional<Dims> FixedDims(const OnnxValue& value) {
  const TensorInfo info = ToTensorInfo(value);
  if (!info.shape) return std::nullopt;
  Dims dims;
  for (const Dim& dim : *info.shape) {
    if (dim.dynamic()) return std::nullopt;
    dims.push_back(dim.value);
  }
  return dims;
}

}  // namespace

ShapeTracker::ShapeTracker(const OnnxModel& model, std::span<const InputDims> inputs,
                           ShapeTrust trust)
    : model_(model), trust_(trust), functions_(model) {
  Declare(model.graph());
  for (const OnnxValue& value : model.graph().inputs) {
    const auto fed = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const InputDims& input) { return input.name == value.name; });
    if (fed != inputs.end()) Store(value.name, fed->dims);
  }
}

void ShapeTracker::Declare(const OnnxGraph& graph) {
  if (trust_ == ShapeTrust::kAll) {
    for (const auto* values : {&graph.value_info, &graph.outputs}) {
      for (const OnnxValue& value : *values) Store(value.name, FixedDims(value));
    }
  }
  for (const OnnxValue& value : graph.inputs) Store(value.name, FixedDims(value));
  for (const OnnxTensor& tensor : graph.initializers) {
    Store(tensor.name, tensor.dims);
    if (!tensor.external && !tensor.split) constants_[tensor.name] = tensor;
  }
}

void ShapeTracker::Assume(const OnnxValue& value) { Assume(value.name, FixedDims(value)); }

void ShapeTracker::Assume(std::string_view name, std::optional<Dims> dims) {
  if (Find(name) == nullptr) Store(name, std::move(dims));
}

void ShapeTracker::Store(std::string_view name, std::optional<Dims> dims) {
  // A size from a damaged file must not become a length.
  if (name.empty() || !dims || !ElementCount(*dims)) return;
  dims_[name] = *std::move(dims);
}

const Dims* ShapeTracker::Find(std::string_view name) const {
  const auto found = dims_.find(name);
  return found == dims_.end() ? nullptr : &found->second;
}

std::optional<std::vector<int64_t>> ShapeTracker::Ints(std::string_view name) const {
  if (const auto numbers = numbers_.find(name); numbers != numbers_.end()) return numbers->second;
  const auto found = constants_.find(name);
  if (found == constants_.end()) return std::nullopt;
  const DType dtype = found->second.dtype;
  if (dtype != DType::kInt64 && dtype != DType::kInt32) return std::nullopt;
  const std::optional<int64_t> count = ElementCount(found->second.dims);
  if (!count || *count > static_cast<int64_t>(kSmallConstant)) return std::nullopt;
  const std::string_view bytes = found->second.bytes;
  const Result<NamedTensor> parsed = ParseTensorProto(std::as_bytes(std::span(bytes)));
  if (!parsed.ok()) return std::nullopt;
  if (dtype == DType::kInt32) {
    const auto narrow = parsed->tensor.As<int32_t>();
    return std::vector<int64_t>(narrow.begin(), narrow.end());
  }
  std::vector<int64_t> values(static_cast<size_t>(*count));
  if (!values.empty()) {
    std::memcpy(values.data(), parsed->tensor.bytes().data(), values.size() * sizeof(int64_t));
  }
  return values;
}

std::optional<std::vector<int64_t>> ShapeTracker::Axes(const OnnxGraph& graph,
                                                       const OnnxNode& node) const {
  NodeAttributes attributes(model_, node);
  if (attributes.Find("axes") != nullptr) return attributes.Ints("axes");
  const auto inputs = graph.Inputs(node);
  if (inputs.size() > 1 && !inputs[1].empty()) return Ints(inputs[1]);
  return std::vector<int64_t>{};
}

// Constants that are written as numbers.
void ShapeTracker::StoreNumbers(std::string_view name, NodeAttributes& attributes) {
  if (const OnnxAttribute* one = attributes.Find("value_int")) {
    Store(name, Dims{});
    numbers_[name] = {one->i};
  } else if (const OnnxAttribute* list = attributes.Find("value_ints")) {
    Store(name, Dims{static_cast<int64_t>(list->ints.size())});
    if (list->ints.size() <= kSmallConstant) numbers_[name] = list->ints;
  } else if (attributes.Find("value_float") != nullptr) {
    Store(name, Dims{});
  } else if (const OnnxAttribute* floats = attributes.Find("value_floats")) {
    Store(name, Dims{static_cast<int64_t>(floats->floats.size())});
  }
}

void ShapeTracker::Visit(const OnnxGraph& graph, const OnnxNode& node) {
  NodeAttributes attributes(model_, node);
  const auto outputs = graph.Outputs(node);
  if (outputs.empty()) return;
  if (node.op_type == "Constant") {
    const OnnxAttribute* value = attributes.Find("value");
    if (value == nullptr || !value->tensor) return StoreNumbers(outputs[0], attributes);
    Store(outputs[0], value->tensor->dims);
    if (!value->tensor->external) constants_[outputs[0]] = *value->tensor;
    return;
  }
  if (Find(outputs[0]) != nullptr) return;  // declared, and the declaration has every size
  if (!HasRules(node.domain) || functions_.Find(node) != nullptr) return;
  Visited visited{*this, graph, node, {}, attributes};
  for (const std::string_view input : graph.Inputs(node)) visited.inputs.push_back(Find(input));
  Store(outputs[0], Apply(visited));
  if (node.op_type == "DynamicQuantizeLinear") {
    for (const std::string_view scalar : outputs.subspan(1)) Store(scalar, Dims{});
  }
}

}  // namespace vernier
