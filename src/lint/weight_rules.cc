// Initializers, constants and factors: their types, sizes, files and values.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "io/test_data/tensor_proto.h"
#include "kernels/elements/element_blocks.h"
#include "lint/rule_groups.h"
#include "model/onnx/external_data.h"
#include "model/onnx/onnx_attributes.h"
#include "model/onnx/wire_reader.h"
#include "util/files/input_file.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// What rounds to infinity, and what rounds to zero, in float16 (to nearest, ties to even).
constexpr double kInfiniteInFloat16 = 65520.0;
constexpr double kZeroInFloat16 = 0x1p-25;
constexpr size_t kBlockBytes = size_t{1} << 20;

struct ValueCounts {
  uint64_t count = 0, nan = 0, infinite = 0, too_large = 0, too_small = 0;
  double largest = 0;

  // Little-endian elements without alignment. Of types that are no floats nothing is counted.
  void Add(DType dtype, std::string_view bytes) {
    if (Kind(dtype) != DTypeKind::kFloat) return;
    const auto size = static_cast<int64_t>(bytes.size() * 8 / static_cast<size_t>(BitsOf(dtype)));
    const ElementSpan elements{dtype, std::as_bytes(std::span(bytes)), size};
    std::array<double, kBlockSize> scratch;
    for (int64_t at = 0; at < size; at += static_cast<int64_t>(kBlockSize)) {
      const auto part = static_cast<size_t>(std::min<int64_t>(kBlockSize, size - at));
      const double* block = LoadBlock(elements, at, part, scratch.data());
      for (const double value : std::span(block, part)) AddValue(value, dtype);
    }
  }

  void AddValue(double value, DType dtype) {
    ++count;
    nan += std::isnan(value) ? 1 : 0;
    infinite += std::isinf(value) ? 1 : 0;
    // What a conversion to float16 changes.
    if (dtype == DType::kFloat16 || !std::isfinite(value)) return;
    const double size = std::fabs(value);
    too_large += size >= kInfiniteInFloat16 ? 1 : 0;
    too_small += size <= kZeroInFloat16 && size > 0 ? 1 : 0;
    largest = std::max(largest, size);
  }
};

// Attributes that tensors are multiplied by. Of others a limit that is infinite is none, and an
// epsilon that is zero is the runtime's business.
struct FactorRow {
  std::string_view op, attribute;
};
constexpr FactorRow kFactors[] = {
    {"Attention", "scale"}, {"Celu", "alpha"},        {"Elu", "alpha"},  {"Gemm", "alpha"},
    {"Gemm", "beta"},       {"HardSigmoid", "alpha"}, {"LRN", "alpha"},  {"LeakyRelu", "alpha"},
    {"Selu", "alpha"},      {"Selu", "gamma"},        {"Swish", "alpha"}};

// TensorProto's fields of values.
struct ValueField {
  uint32_t number;
  std::string_view name;
};
constexpr ValueField kValueFields[] = {{4, "float_data"},  {5, "int32_data"}, {6, "string_data"},
                                       {7, "int64_data"},  {9, "raw_data"},   {10, "double_data"},
                                       {11, "uint64_data"}};

// The fields that hold a value.
std::vector<std::string_view> FilledFields(const OnnxTensor& tensor) {
  std::array<bool, std::size(kValueFields)> filled{};
  WireSource source(tensor.bytes);
  WireReader reader(source, OnnxMessage::kTensor, tensor.bytes);
  while (reader.Next()) {
    const auto field =
        std::find_if(std::begin(kValueFields), std::end(kValueFields),
                     [&](const ValueField& known) { return known.number == reader.field(); });
    if (field == std::end(kValueFields)) {
      reader.Skip();
      continue;
    }
    // Numbers stand in lists or one by one. An empty string is a value, too.
    const bool list = reader.type() == WireType::kBytes && field->name != "string_data";
    bool& has_values = filled[static_cast<size_t>(field - std::begin(kValueFields))];
    has_values |= !list || !reader.Bytes().empty();
    if (!list) reader.Skip();
  }
  std::vector<std::string_view> names;
  for (size_t i = 0; i < filled.size(); ++i) {
    if (filled[i]) names.push_back(kValueFields[i].name);
  }
  return names;
}

class WeightCheck {
 public:
  explicit WeightCheck(const LintSubject& subject) : subject_(subject) {}

  void Run() {
    FindBounds();
    for (const OnnxTensor& tensor : subject_.model.graph().initializers) Initializer(tensor);
    for (const OnnxGraph& body : subject_.model.contents().subgraphs) {
      for (const OnnxTensor& tensor : body.initializers) Initializer(tensor);
    }
    ForEachLintNode(subject_.model, [&](const LintNode& at) {
      if (OperatorTable::Domain(at.node.domain).empty()) Node(at);
    });
  }

 private:
  // Weights that are read as bounds of a Clip alone, where infinity is none.
  void FindBounds() {
    std::unordered_set<std::string_view> others;
    ForEachLintNode(subject_.model, [&](const LintNode& at) {
      const bool clips = at.node.op_type == "Clip" && OperatorTable::Domain(at.node.domain).empty();
      for (size_t i = 0; i < at.inputs().size(); ++i) {
        (clips && i > 0 ? bounds_ : others).insert(at.inputs()[i]);
      }
    });
    std::erase_if(bounds_, [&](std::string_view name) { return others.contains(name); });
  }

  void Initializer(const OnnxTensor& tensor) {
    is_bound_ = bounds_.contains(tensor.name);
    Tensor(tensor, "initializer " + QuotePython(tensor.name));
    is_bound_ = false;
  }

  // Values that stand in attributes.
  void Node(const LintNode& at) {
    NodeAttributes attributes(subject_.model, at.node);
    if (at.node.op_type == "Constant" || at.node.op_type == "ConstantOfShape") {
      const std::string name = "constant of node " + subject_.findings.Describe(at);
      const OnnxAttribute* value = attributes.Find("value");
      is_bound_ = !at.outputs().empty() && bounds_.contains(at.outputs()[0]);
      if (value != nullptr && value->tensor) Tensor(*value->tensor, name);
      is_bound_ = false;
      if (at.node.op_type != "Constant") return;
      if (const OnnxAttribute* one = attributes.Find("value_float")) Floats({&one->f, 1}, name);
      if (const OnnxAttribute* list = attributes.Find("value_floats")) Floats(list->floats, name);
    }
    for (const FactorRow& row : kFactors) {
      if (row.op != at.node.op_type) continue;
      const OnnxAttribute* factor = attributes.Find(row.attribute);
      if (factor == nullptr) continue;
      Floats({&factor->f, 1}, "attribute " + QuotePython(row.attribute) + " of node " +
                                  subject_.findings.Describe(at));
    }
  }

  void Floats(std::span<const float> values, const std::string& name) {
    ValueCounts counts;
    for (const float value : values) counts.AddValue(value, DType::kFloat32);
    Values(counts, name);
  }

  void Tensor(const OnnxTensor& tensor, const std::string& name) {
    if (!subject_.table.KnowsType(tensor.onnx_type)) {
      return subject_.findings.Add(
          lint_rule::kUnknownType,
          name + " has the element type " + std::to_string(tensor.onnx_type) +
              (tensor.onnx_type == 0 ? ", which is none" : ", which ONNX does not have"));
    }
    const std::optional<int64_t> count = ElementCount(tensor.dims);
    if (!count) {
      const bool negative =
          std::any_of(tensor.dims.begin(), tensor.dims.end(), [](int64_t dim) { return dim < 0; });
      return subject_.findings.Add(lint_rule::kBadDimension,
                                   (negative ? "Negative dimension value"
                                             : "Too many elements in " + FormatDims(tensor.dims)) +
                                       std::string(" (tensor name: ") + std::string(tensor.name) +
                                       ")");
    }
    // Of a tensor that the file gives in parts, only the last one can be looked at here.
    if (!tensor.split && !FieldsFit(tensor)) return;
    if (tensor.external) return External(tensor, name);
    Embedded(tensor, name, *count);
  }

  // False where the values stand in several places: which of them are meant is not known.
  bool FieldsFit(const OnnxTensor& tensor) {
    const std::vector<std::string_view> fields = FilledFields(tensor);
    if (fields.size() <= (tensor.external ? 0 : 1)) return true;
    std::string found;
    for (const std::string_view field : fields) {
      found += (found.empty() ? "" : ", ") + std::string(field);
    }
    const std::string who = " (tensor name: " + std::string(tensor.name) + ") ";
    subject_.findings.Add(
        lint_rule::kWeightFields,
        tensor.external
            ? "Data of TensorProto" + who + "is stored externally and should not be in " + found
            : "TensorProto" + who + "should contain one and only one value field, and has " +
                  found);
    return false;
  }

  void Embedded(const OnnxTensor& tensor, const std::string& name, int64_t count) {
    ValueCounts counts;
    const std::optional<uint64_t> needed = ByteSize(tensor.dtype, static_cast<uint64_t>(count));
    if (!tensor.raw_data.empty() && needed) {
      if (tensor.raw_data.size() != *needed) return WrongSize(tensor, *needed);
      counts.Add(tensor.dtype, tensor.raw_data);
    } else if (tensor.dtype != DType::kUndefined && !tensor.split) {
      const std::string_view bytes = tensor.bytes;
      const Result<NamedTensor> parsed = ParseTensorProto(std::as_bytes(std::span(bytes)));
      if (!parsed.ok()) {
        return subject_.findings.Add(lint_rule::kWeightSize,
                                     name + ": " + parsed.status().message());
      }
      const std::span<const std::byte> values = parsed->tensor.bytes();
      counts.Add(tensor.dtype, {reinterpret_cast<const char*>(values.data()), values.size()});
    }
    Values(counts, name);
  }

  void WrongSize(const OnnxTensor& tensor, uint64_t needed) {
    const size_t size = tensor.raw_data.size();
    subject_.findings.Add(
        lint_rule::kWeightSize,
        "TensorProto (tensor name: " + std::string(tensor.name) + ") raw_data size (" +
            std::to_string(size) + " bytes) is too " + (size < needed ? "small" : "large") +
            " for the declared shape and type (" + std::to_string(needed) + " bytes required).");
  }

  void External(const OnnxTensor& tensor, const std::string& name) {
    ValueCounts counts;
    const Status read = ReadExternal(tensor, counts);
    if (!read.ok()) {
      return subject_.findings.Add(lint_rule::kExternalData,
                                   "external data of " + name + ": " + read.message());
    }
    Values(counts, name);
  }

  Status ReadExternal(const OnnxTensor& tensor, ValueCounts& counts) {
    if (!folder_) {
      VERNIER_ASSIGN_OR_RETURN(
          ExternalFolder folder,
          ExternalFolder::Open(subject_.model.path(),
                               {.directory = subject_.external_data_dir, .detached = {}}));
      folder_.emplace(std::move(folder));
    }
    VERNIER_ASSIGN_OR_RETURN(const ExternalFile file, folder_->OpenFile(tensor.location));
    VERNIER_ASSIGN_OR_RETURN(const ExternalSlice slice, LocateExternal(tensor, file.size()));
    if (Kind(tensor.dtype) != DTypeKind::kFloat) return {};
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const InputFile> input,
                             InputFile::FromDescriptor(file.fd(), file.path()));
    std::vector<std::byte> block(std::min<uint64_t>(kBlockBytes, slice.size));
    for (uint64_t at = 0; at < slice.size; at += block.size()) {
      const std::span<std::byte> part =
          std::span(block).first(std::min<uint64_t>(block.size(), slice.size - at));
      VERNIER_TRY(input->ReadAt(slice.offset + at, part));
      counts.Add(tensor.dtype, {reinterpret_cast<const char*>(part.data()), part.size()});
    }
    return {};
  }

  void Values(const ValueCounts& counts, const std::string& name) {
    const auto of_all = [&](uint64_t number) {
      return std::to_string(number) + " of " + std::to_string(counts.count) + " values of " + name;
    };
    const bool unbounded = counts.nan == 0 && is_bound_;
    if (counts.nan + counts.infinite > 0 && !unbounded) {
      subject_.findings.Add(lint_rule::kNonFiniteWeight, of_all(counts.nan + counts.infinite) +
                                                             " are not finite (" +
                                                             std::to_string(counts.nan) + " NaN)");
    }
    if (counts.too_large > 0) {
      subject_.findings.Add(lint_rule::kFloat16Overflow,
                            of_all(counts.too_large) + " do not fit float16: the largest is " +
                                FormatG(counts.largest, 6) + ", float16 ends at 65504");
    }
    if (counts.too_small > 0) {
      subject_.findings.Add(lint_rule::kFloat16Underflow,
                            of_all(counts.too_small) + " are zero in float16");
    }
  }

  const LintSubject& subject_;
  std::optional<ExternalFolder> folder_;
  std::unordered_set<std::string_view> bounds_;
  bool is_bound_ = false;  // is what is looked at such a bound?
};

}  // namespace

void CheckWeights(const LintSubject& subject) { WeightCheck(subject).Run(); }

}  // namespace vernier
