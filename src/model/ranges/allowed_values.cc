#include "model/ranges/allowed_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "io/test_data/tensor_proto.h"
#include "kernels/elements/float_formats.h"
#include "model/onnx/onnx_attributes.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// Sizes, counts and divisors that are legal, and small enough to be computed with.
constexpr int64_t kSmallCount = 4;
constexpr int64_t kSmallDivisor = 16;
// A constant of which more is asked than its sizes has no more numbers than this.
constexpr int64_t kMostNumbers = 1 << 16;

// Which input are indices into the rows of which; the types of other inputs distinguish versions.
struct TableLookup {
  std::string_view op;
  size_t indices, table;
  std::string_view what;
};
constexpr TableLookup kLookups[] = {
    {"EmbedLayerNormalization", 0, 2, "token ids"},
    {"EmbedLayerNormalization", 1, 4, "segment ids"},
    {"EmbedLayerNormalization", 8, 3, "position ids"},
    {"RotaryEmbedding", 1, 2, "position ids"},  // com.microsoft's
    {"RotaryEmbedding", 3, 1, "position ids"},  // ONNX's
    {"GatherBlockQuantized", 1, 0, "indices"},
};

// Which input of com.microsoft's attention says what may be seen: lengths of the rows, or a mask.
struct MaskInput {
  std::string_view op;
  size_t mask, data;
};
constexpr MaskInput kMasks[] = {{"Attention", 3, 0},
                                {"QAttention", 5, 0},
                                {"MultiHeadAttention", 4, 1},
                                {"EmbedLayerNormalization", 7, 0}};

std::string Sized(std::string_view name, int64_t size) {
  return " into " + QuotePython(ShownName(name)) + " of size " + std::to_string(size);
}

}  // namespace

std::string_view InputOf(const Use& use, size_t input) {
  const auto inputs = use.graph.Inputs(use.node);
  return input < inputs.size() ? inputs[input] : std::string_view();
}

std::optional<Allowed> UseRules::Judge(const Use& use, const ValueKind& kind) {
  // The rounds are counted from 0 on: it is reported where that is illegal, and not where it is of
  // no use.
  if (kind.counts) return Index(use, use.node.op_type);
  if (kind.truth) return Truth(use, kind);
  // A mask of truth values: whoever reads it.
  if (kind.mask && kind.integer) return Allowed{0, 1, "a mask", true, true};
  if (!kind.integer) return std::nullopt;
  if (std::optional<Allowed> allowed = JudgePlace(use)) return allowed;
  if (std::optional<Allowed> allowed = Mask(use, use.node.op_type)) return allowed;
  return Arithmetic(use, use.node.op_type);
}

std::optional<Allowed> UseRules::JudgePlace(const Use& use) {
  for (const auto rule :
       {&UseRules::Index, &UseRules::Length, &UseRules::Position, &UseRules::Shape}) {
    if (std::optional<Allowed> allowed = (this->*rule)(use, use.node.op_type)) return allowed;
  }
  return std::nullopt;
}

// Where truth values have a meaning. A Loop that is not entered would show nothing.
std::optional<Allowed> UseRules::Truth(const Use& use, const ValueKind& kind) {
  const std::string_view op = use.node.op_type;
  if (op == "If" && use.input == 0) return Allowed{0, 1, "the branch", true, true};
  if (op == "Loop" && use.input == 1) {
    return Allowed{kind.turned ? 0 : 1, 1, "the condition", true, true};
  }
  const bool masks = (op == "Where" && use.input == 0) || (op == "Compress" && use.input == 1) ||
                     op.ends_with("Attention") || op == "Dropout";
  if (!masks) return std::nullopt;
  return Allowed{0, 1, op == "Dropout" ? "the mode" : "a mask", true, true};
}

// The size of an input along an axis; nullopt while unknown.
std::optional<int64_t> UseRules::SizeOf(std::string_view name, int64_t axis) const {
  const Dims* dims = shapes_.Find(name);
  if (dims == nullptr) return std::nullopt;
  if (axis < 0) axis += static_cast<int64_t>(dims->size());
  if (axis < 0 || axis >= static_cast<int64_t>(dims->size())) return std::nullopt;
  return (*dims)[static_cast<size_t>(axis)];
}

Allowed UseRules::IndexInto(std::string_view name, std::optional<int64_t> size,
                            std::string what) const {
  if (!size || *size < 1) {
    return {
        0, 0,
        std::move(what) + " into " + QuotePython(ShownName(name)) + ", whose size is not known,",
        true};
  }
  return {0, *size - 1, std::move(what) + Sized(name, *size), true};
}

std::optional<Allowed> UseRules::Index(const Use& use, std::string_view op) {
  NodeAttributes attributes(model_, use.node);
  const bool gathers =
      op == "Gather" || op == "GatherElements" || op == "ScatterElements" || op == "Scatter";
  if (gathers && use.input == 1) {
    const std::string_view data = InputOf(use, 0);
    return IndexInto(data, SizeOf(data, attributes.Int("axis", 0)), "indices");
  }
  if ((op == "GatherND" || op == "ScatterND") && use.input == 1) return TupleIndex(use);
  if (op == "OneHot" && use.input == 0) {
    const auto depth = shapes_.Ints(InputOf(use, 1));
    const bool known = depth && depth->size() == 1;
    return IndexInto(InputOf(use, 1), known ? std::optional(depth->front()) : std::nullopt,
                     "classes");
  }
  if (op == "OneHot" && use.input == 1) return Allowed{1, kSmallCount, "the depth", true};
  if (op == "RoiAlign" && use.input == 2) {
    return IndexInto(InputOf(use, 0), SizeOf(InputOf(use, 0), 0), "batch indices");
  }
  const bool loss = op == "SoftmaxCrossEntropyLoss" || op == "NegativeLogLikelihoodLoss";
  if (loss && use.input == 1) {
    return IndexInto(InputOf(use, 0), SizeOf(InputOf(use, 0), 1), "labels");
  }
  for (const TableLookup& lookup : kLookups) {
    if (op != lookup.op || use.input != lookup.indices) continue;
    const std::string_view table = InputOf(use, lookup.table);
    return IndexInto(table, SizeOf(table, 0), std::string(lookup.what));
  }
  return std::nullopt;
}

// Tuples of indices share one tensor: the smallest dimension that they select from.
std::optional<Allowed> UseRules::TupleIndex(const Use& use) const {
  const std::string_view data = InputOf(use, 0);
  const Dims* dims = shapes_.Find(data);
  const Dims* indices = shapes_.Find(InputOf(use, 1));
  std::optional<int64_t> least;
  if (dims != nullptr && !dims->empty()) {
    const bool known = indices != nullptr && !indices->empty() && indices->back() > 0;
    const size_t count =
        known ? std::min(dims->size(), static_cast<size_t>(indices->back())) : dims->size();
    least = *std::min_element(dims->begin(), dims->begin() + static_cast<ptrdiff_t>(count));
  }
  return IndexInto(data, least, "indices");
}

std::optional<Allowed> UseRules::Length(const Use& use, std::string_view op) {
  const bool recurrent = op == "LSTM" || op == "GRU" || op == "RNN";
  if (recurrent && use.input == 4) {
    return Allowed{1, SizeOf(InputOf(use, 0), 0).value_or(1), "sequence lengths", true};
  }
  if (op == "ReverseSequence" && use.input == 1) {
    NodeAttributes attributes(model_, use.node);
    const int64_t axis = attributes.Int("time_axis", 0);
    return Allowed{1, SizeOf(InputOf(use, 0), axis).value_or(1), "sequence lengths", true};
  }
  if (op == "TopK" && use.input == 1) {
    NodeAttributes attributes(model_, use.node);
    const int64_t size = SizeOf(InputOf(use, 0), attributes.Int("axis", -1)).value_or(1);
    return Allowed{1, std::max<int64_t>(size, 1), "the count", true};
  }
  if (op == "Loop" && use.input == 0) return Allowed{1, kSmallCount, "the number of rounds", true};
  if (op == "NonMaxSuppression" && use.input == 2) {
    return Allowed{1, kSmallCount, "the number of boxes", true};
  }
  return std::nullopt;
}

std::optional<Allowed> UseRules::Position(const Use& use, std::string_view op) {
  if (op == "Slice" && use.input > 0) return Bounds(use);
  if (op == "Trilu" && use.input == 1) return Allowed{-1, 1, "the diagonal", true};
  if (op == "Squeeze" && use.input == 1) return AxesOfOne(use);
  const bool axes =
      op == "Unsqueeze" || op == "CumSum" || op == "CumProd" || op.starts_with("Reduce");
  if (axes && use.input == 1) return Axes(use, "axes");
  if (op == "SequenceAt" && use.input == 1) return Allowed{0, 0, "a position", true};
  return std::nullopt;
}

// One axis, or as many as must differ.
Allowed UseRules::Axes(const Use& use, const std::string& what) const {
  const Dims* const dims = shapes_.Find(InputOf(use, use.input));
  if (dims == nullptr || ElementCount(*dims).value_or(0) <= 1) return {0, 0, what, true};
  return {0, 0, what + " that must differ: load them with --load-inputs, those", false};
}

// Only such axes can be squeezed.
Allowed UseRules::AxesOfOne(const Use& use) const {
  const Dims* const dims = shapes_.Find(InputOf(use, 0));
  if (dims == nullptr) {
    return {0, 0, "axes of size 1 where no size is known: load them with --load-inputs, those",
            false};
  }
  const auto first = std::find(dims->begin(), dims->end(), 1);
  if (first == dims->end()) return {0, 0, "axes of size 1, which there are not,", false};
  Allowed axes = Axes(use, "axes");
  const auto last = std::find_if(first, dims->end(), [](int64_t size) { return size != 1; });
  axes.low = first - dims->begin();
  axes.high = last - dims->begin() - 1;
  return axes;
}

// Starts lie before the middle and ends behind it, so that something is left; the other way round
// where the steps go backward.
std::optional<Allowed> UseRules::Bounds(const Use& use) const {
  constexpr size_t kStarts = 1, kEnds = 2, kAxes = 3, kSteps = 4;
  if (use.input == kAxes) return Axes(use, "axes");
  if (use.input == kSteps) return Allowed{1, 1, "steps", true};
  const std::string_view data = InputOf(use, 0);
  const Dims* dims = shapes_.Find(data);
  const auto axes = shapes_.Ints(InputOf(use, kAxes));
  int64_t least = 1;
  if (dims != nullptr && !dims->empty()) {
    least = *std::min_element(dims->begin(), dims->end());
    if (axes && axes->size() == 1) least = SizeOf(data, axes->front()).value_or(least);
  }
  const int64_t middle = std::max<int64_t>(least, 1) / 2;
  const auto steps = shapes_.Ints(InputOf(use, kSteps)).value_or(std::vector<int64_t>());
  const auto backward =
      std::count_if(steps.begin(), steps.end(), [](int64_t by) { return by < 0; });
  if (backward > 0) {
    if (backward != std::ssize(steps)) {
      return Allowed{
          0, 0, "bounds of steps in both directions: load them with --load-inputs, those", false};
    }
    if (use.input == kStarts) {
      return Allowed{middle, std::max<int64_t>(least - 1, middle), "starts" + Sized(data, least),
                     true};
    }
    // Nothing else is before the first element.
    constexpr int64_t kBefore = std::numeric_limits<int32_t>::min();
    return Allowed{middle > 0 ? 0 : kBefore, middle > 0 ? middle - 1 : kBefore,
                   "ends" + Sized(data, least), true};
  }
  if (use.input == kStarts) return Allowed{0, middle, "starts" + Sized(data, least), true};
  if (use.input != kEnds) return std::nullopt;
  return Allowed{middle + 1, std::max<int64_t>(least, middle + 1), "ends" + Sized(data, least),
                 true};
}

std::optional<Allowed> UseRules::Shape(const Use& use, std::string_view op) {
  if (op == "ConstantOfShape" && use.input == 0) return Allowed{1, kSmallCount, "sizes", true};
  if (op == "Expand" && use.input == 1) return Allowed{1, 1, "sizes", true};
  if (op == "Tile" && use.input == 1) return Allowed{1, 2, "repeats", true};
  if (op == "Range" && use.input == 0) return Allowed{0, 0, "the start", true};
  if (op == "Range" && use.input == 1) return Allowed{1, kSmallCount, "the limit", true};
  if (op == "Range" && use.input == 2) return Allowed{1, 1, "the step", true};
  if (op == "Pad" && use.input == 1) return Paddings(use);
  if (op == "Reshape" && use.input == 1) {
    const Dims* dims = shapes_.Find(InputOf(use, 1));
    if (dims != nullptr && *dims == Dims{1}) return Allowed{-1, -1, "the shape", true};
    if (CopiesEverySize(use)) return Allowed{0, 0, "the shape, each size as it was,", true};
    return Allowed{0, 0, "a shape whose product is given: load it with --load-inputs, the target",
                   false};
  }
  constexpr std::pair<std::string_view, size_t> kSizes[] = {
      {"Split", 1},     {"Resize", 3}, {"AffineGrid", 1},      {"Col2Im", 1},       {"Col2Im", 2},
      {"MaxUnpool", 2}, {"STFT", 1},   {"SplitToSequence", 1}, {"CenterCropPad", 1}};
  if (std::find(std::begin(kSizes), std::end(kSizes), std::pair(op, use.input)) ==
      std::end(kSizes)) {
    return std::nullopt;
  }
  return Allowed{0, 0, "sizes that depend on each other: load them with --load-inputs, those",
                 false};
}

// Reflections need as many elements beside the first.
Allowed UseRules::Paddings(const Use& use) {
  const std::string_view mode = NodeAttributes(model_, use.node).Text("mode");
  const Dims* const dims = shapes_.Find(InputOf(use, 0));
  const bool narrow =
      dims == nullptr || dims->empty() || *std::min_element(dims->begin(), dims->end()) < 2;
  return {0, mode == "reflect" && narrow ? 0 : 1, "paddings", true};
}

// Whether a target of zeros gives a Reshape the shape that it has.
bool UseRules::CopiesEverySize(const Use& use) {
  const Dims* data = shapes_.Find(InputOf(use, 0));
  const Dims* target = shapes_.Find(InputOf(use, 1));
  const bool alike = data != nullptr && target != nullptr && target->size() == 1 &&
                     target->front() == static_cast<int64_t>(data->size());
  return alike && NodeAttributes(model_, use.node).Int("allowzero", 0) == 0;
}

std::optional<Allowed> UseRules::Mask(const Use& use, std::string_view op) {
  if (use.node.domain != "com.microsoft") return std::nullopt;
  for (const MaskInput& row : kMasks) {
    if (op != row.op || use.input != row.mask) continue;
    const Dims* dims = shapes_.Find(InputOf(use, row.mask));
    if (dims == nullptr || dims->size() != 1) return Allowed{0, 1, "a mask", true};
    return Allowed{1, std::max<int64_t>(SizeOf(InputOf(use, row.data), 1).value_or(1), 1),
                   "lengths of the rows", true};
  }
  return std::nullopt;
}

std::optional<Allowed> UseRules::Arithmetic(const Use& use, std::string_view op) {
  if ((op == "Div" || op == "Mod") && use.input == 1) {
    return Allowed{1, kSmallDivisor, "the divisor", true};
  }
  if (op == "BitShift" && use.input == 1) return Allowed{0, 7, "the distance", true};
  // 1 - mask, as attention masks are turned round.
  if (op != "Sub" || use.input != 1 || WholeNumber(InputOf(use, 0)) != 1) return std::nullopt;
  return Allowed{0, 1, "a mask", true, true};
}

std::optional<int64_t> UseRules::WholeNumber(std::string_view name) {
  if (const auto ints = shapes_.Ints(name)) {
    return ints->size() == 1 ? std::optional(ints->front()) : std::nullopt;
  }
  constexpr double kExact = 0x1p53;
  const std::optional<double> number = Number(name);
  if (!number || std::trunc(*number) != *number || std::fabs(*number) > kExact) return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::optional<Interval> UseRules::NumbersIn(std::string_view name) {
  const std::string_view rounds = flat_.RoundsOf(name);
  const std::optional<int64_t> count = rounds.empty() ? std::nullopt : WholeNumber(rounds);
  if (count) return *count > 0 ? std::optional(Interval{0, *count - 1}) : std::nullopt;
  if (const std::optional<int64_t> one = WholeNumber(name)) return Interval{*one, *one};
  std::vector<int64_t> numbers = shapes_.Ints(name).value_or(std::vector<int64_t>());
  if (const std::optional<Tensor> tensor = numbers.empty() ? Constant(name) : std::nullopt) {
    if (tensor->dtype() == DType::kInt64) {
      const auto values = tensor->As<int64_t>();
      numbers.assign(values.begin(), values.end());
    } else if (tensor->dtype() == DType::kInt32) {
      const auto values = tensor->As<int32_t>();
      numbers.assign(values.begin(), values.end());
    }
  }
  if (numbers.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return Interval{*least, *most};
}

// A constant that is small enough to be read.
std::optional<Tensor> UseRules::Constant(std::string_view name) {
  if (!collected_) CollectConstants();
  const auto found = constants_.find(name);
  if (found == constants_.end() || found->second.external) return std::nullopt;
  const std::optional<int64_t> count = ElementCount(found->second.dims);
  if (!count || *count > kMostNumbers) return std::nullopt;
  const std::string_view bytes = found->second.bytes;
  Result<NamedTensor> parsed = ParseTensorProto(std::as_bytes(std::span(bytes)));
  return parsed.ok() ? std::optional(std::move(parsed->tensor)) : std::nullopt;
}

// A constant of one float.
std::optional<double> UseRules::Number(std::string_view name) {
  const std::optional<Tensor> tensor = Constant(name);
  if (const auto number = numbers_.find(name); number != numbers_.end()) return number->second;
  if (!tensor || tensor->element_count() != 1) return std::nullopt;
  if (tensor->dtype() == DType::kFloat32) return static_cast<double>(tensor->As<float>()[0]);
  if (tensor->dtype() == DType::kFloat64) return tensor->As<double>()[0];
  if (tensor->dtype() != DType::kFloat16) return std::nullopt;
  return static_cast<double>(HalfToFloat(tensor->As<uint16_t>()[0]));
}

void UseRules::CollectConstants() {
  collected_ = true;
  const OnnxGraph& graph = flat_.graph();
  for (const OnnxTensor& tensor : graph.initializers) constants_[tensor.name] = tensor;
  for (const OnnxNode& node : graph.nodes) {
    const auto outputs = graph.Outputs(node);
    if (node.op_type != "Constant" || outputs.empty()) continue;
    NodeAttributes attributes(model_, node);
    const OnnxAttribute* value = attributes.Find("value");
    if (value != nullptr && value->tensor) constants_[outputs[0]] = *value->tensor;
    const OnnxAttribute* number = attributes.Find("value_float");
    if (number != nullptr) numbers_[outputs[0]] = static_cast<double>(number->f);
  }
}

}  // namespace vernier
