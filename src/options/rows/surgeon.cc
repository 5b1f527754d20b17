#include <algorithm>

#include "inference/extract_shapes.h"
#include "inference/sanitizing.h"
#include "inputs/shape_grid.h"
#include "inputs/shape_spec.h"
#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "options/table/parsed_args.h"
#include "surgeon/node_insertion.h"
#include "surgeon/weight_tools.h"
#include "util/text/cast_grammar.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

Result<DType> DTypeOf(std::string_view flag, const std::string& word, std::string_view text) {
  if (ToLower(text) == "auto") return DType::kUndefined;
  if (const auto dtype = DTypeFromName(text)) return *dtype;
  return InvalidArgument(std::string(flag) + ": '" + std::string(text) + "' in '" + word +
                         "' is not a type; expected one such as float32, int64, bool, or auto");
}

Result<TensorInfo> ParseInput(const std::string& word) {
  const KeyedWord dtype = SplitAtLast(word);
  const KeyedWord shape = SplitAtLast(dtype.key);
  if (shape.key.empty() || shape.value.empty()) {
    return InvalidArgument("--inputs: expected NAME:SHAPE:DTYPE, got '" + word + "'");
  }
  TensorInfo info{shape.key, DType::kUndefined, std::nullopt};
  VERNIER_ASSIGN_OR_RETURN(info.dtype, DTypeOf("--inputs", word, Trim(dtype.value)));
  const Result<std::vector<ShapeSpec>> specs =
      ParseShapeSpecs(std::span(&dtype.key, 1), Strictness::kStrict);
  if (!specs.ok()) {
    return InvalidArgument("--inputs: expected a shape as [1,3] or auto in '" + word + "'");
  }
  info.shape = specs->front().shape;
  return info;
}

Result<TensorInfo> ParseOutput(const std::string& word) {
  const KeyedWord split = SplitAtLast(word);
  if (split.key.empty() || split.value.empty()) {
    return InvalidArgument("--outputs: expected NAME:DTYPE, got '" + word + "'");
  }
  TensorInfo info{split.key, DType::kUndefined, std::nullopt};
  VERNIER_ASSIGN_OR_RETURN(info.dtype, DTypeOf("--outputs", word, Trim(split.value)));
  return info;
}

// Polygraphy takes the last of two for one tensor without a remark.
Status RefuseSecond(const OptionInput& input, const std::vector<TensorInfo>& infos) {
  if (input.context.lenient) return {};
  for (const TensorInfo& info : infos) {
    if (std::ranges::count(infos, info.name, &TensorInfo::name) == 1) continue;
    return InvalidArgument(std::string(input.given.flag) + ": expected each tensor once, got '" +
                           info.name + "' again");
  }
  return {};
}

Status SetPartInputs(const OptionInput& input, PartRequest& part) {
  std::vector<TensorInfo>& inputs = part.inputs.emplace();
  for (const std::string& word : input.given.values) {
    VERNIER_ASSIGN_OR_RETURN(TensorInfo info, ParseInput(word));
    inputs.push_back(std::move(info));
  }
  return RefuseSecond(input, inputs);
}

Status SetPartOutputs(const OptionInput& input, PartRequest& part) {
  std::vector<TensorInfo>& outputs = part.outputs.emplace();
  for (const std::string& word : input.given.values) {
    VERNIER_ASSIGN_OR_RETURN(TensorInfo info, ParseOutput(word));
    outputs.push_back(std::move(info));
  }
  return RefuseSecond(input, outputs);
}

Status SetPartShapes(const OptionInput& input, PartRequest& part) {
  VERNIER_TRY(ReadValue(input, part.shape_words));
  if (input.context.lenient) return {};
  return RefuseSeveralShapes(input.given.flag, part.shape_words, "the model");
}

constexpr OptionRow kExtract[] = {
    {.flags = {"--inputs"},
     .dest = "input_meta",
     .sets = SetBy<&SetPartInputs>(),
     .arity = Arity::kStar,
     .metavar = "NAME:SHAPE:DTYPE",
     .help = "Tensors that the part begins with, for example x:[1,3,224,224]:float32; auto for a"
             " shape or type that the model declares. Default: the model's inputs."},
    {.flags = {"--outputs"},
     .dest = "output_meta",
     .sets = SetBy<&SetPartOutputs>(),
     .arity = Arity::kPlus,
     .metavar = "NAME:DTYPE",
     .help = "Tensors that the part ends with, for example y:float32 or y:auto. Default: the"
             " model's outputs."},
    {.flags = {"--model-input-shapes", "--model-inputs"},
     .dest = "model_input_shapes",
     .sets = SetBy<&SetPartShapes>(),
     .arity = Arity::kPlus,
     .metavar = "NAME:SHAPE",
     .help =
         "Shapes of the whole model's inputs, for example x:[1,3,224,224]. The shapes of auto"
         " tensors that the model does not declare are inferred from them, operator by operator,"
         " and by one inference of ONNX Runtime if no rule is known."},
    {.flags = {"--force-fallback-shape-inference"},
     .dest = "force_fallback_shape_inference",
     .sets = Sets<&PartRequest::forced>(),
     .help = "Infer all shapes from --model-input-shapes, even those that the model declares, such"
             " as symbolic ones. Dynamic dimensions become static.",
     .excludes = {"do_shape_inference"}},
};

constexpr OptionRow kOutput[] = {
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = Sets<&NewFile::path>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .required = true,
     .metavar = "FILE",
     .help = "The model to write."},
};

Status SetBounds(const OptionInput& input, SanitizePlan& plan) {
  plan.bounds.clear();
  VERNIER_ASSIGN_OR_RETURN(const std::vector<KeyedValue> words,
                           ParseKeyedValues(input.given.values));
  for (const KeyedValue& word : words) {
    const std::optional<int64_t> bound = AsInt64(word.value);
    if (!bound || *bound < 0) {
      return InvalidArgument("--set-unbounded-dds-upper-bound: expected [TENSOR:]NUMBER, got '" +
                             (word.key.empty() ? "" : word.key + ":") +
                             FormatCastValue(word.value) + "'");
    }
    plan.bounds.push_back({word.key, *bound});
  }
  return {};
}

Status SetPartitions(const OptionInput& input, FoldOptions& folding) {
  folding.partitions =
      TextOf(input) == "recursive" ? FoldPartitions::kRecursive : FoldPartitions::kBasic;
  return {};
}

Status SetThreshold(const OptionInput& input, FoldOptions& folding) {
  VERNIER_ASSIGN_OR_RETURN(const int64_t threshold, ParseByteCount(TextOf(input)));
  if (threshold < 0) {
    return InvalidArgument("--fold-size-threshold: expected a size >= 0, got " +
                           std::to_string(threshold));
  }
  folding.size_threshold = static_cast<uint64_t>(threshold);
  return {};
}

constexpr OptionRow kSanitize[] = {
    {.flags = {"--cleanup"},
     .dest = "cleanup",
     .sets = Sets<&SanitizePlan::cleanup>(),
     .help = "Remove nodes and weights that contribute to no output."},
    {.flags = {"--toposort"},
     .dest = "toposort",
     .sets = Sets<&SanitizePlan::sort>(),
     .help = "Sort the nodes topologically, so that they can run in order.",
     .standing = Standing::kBetter,
     .note = "An order that is one already stays."},
    {.flags = {"--override-input-shapes", "--override-inputs"},
     .dest = "input_shapes",
     .sets = Sets<&SanitizePlan::inputs>(),
     .arity = Arity::kPlus,
     .metavar = "NAME:SHAPE",
     .help = "New shapes for inputs, for example x:[1,3,224,224] or ids:[batch,16]."},
    {.flags = {"--outputs"},
     .dest = "onnx_outputs",
     .sets = Sets<&ModelPlan::outputs>(),
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Replace the model's outputs by these tensors. Patterns (* ? [ ]) are allowed; '*' or"
             " mark all takes every tensor."},
    {.flags = {"--exclude-outputs"},
     .dest = "onnx_exclude_outputs",
     .sets = Sets<&ModelPlan::exclude_outputs>(),
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Remove these tensors from the outputs, after all marking. Patterns are allowed."},
    {.flags = {"--outputs-by-type"},
     .dest = "onnx_outputs_by_type",
     .sets = Sets<&ModelPlan::outputs_by_type>(),
     .arity = Arity::kPlus,
     .metavar = "OPERATOR",
     .help = "Replace the model's outputs by those of all nodes with these operators, for example"
             " Conv Add."},
    {.flags = {"--set-unbounded-dds-upper-bound"},
     .dest = "upper_bounds",
     .sets = SetBy<&SetBounds>(),
     .arity = Arity::kPlus,
     .metavar = "[TENSOR:]BOUND",
     .help = "Bound tensors whose values determine a size and that have no upper bound yet: Min(T,"
             " BOUND) replaces T. A bound without a name applies to all tensors that are not"
             " named. Fold constants first."},
};

constexpr std::string_view kPartitions[] = {"basic", "recursive"};

constexpr OptionRow kFolding[] = {
    {.flags = {"--fold-constants"},
     .dest = "fold_constants",
     .sets = Sets<&SanitizePlan::fold>(),
     .help = "Compute everything that does not depend on inputs with ONNX Runtime, and store it as"
             " weights.",
     .standing = Standing::kBetter,
     .note = "Random numbers are not folded, and casts around shape arithmetic stay."},
    {.flags = {"--num-passes", "--num-const-fold-passes"},
     .dest = "num_const_fold_passes",
     .sets = Sets<&SanitizePlan::passes>(kAtLeast0),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "until nothing changes",
     .metavar = "NUM",
     .help = "Number of folding passes."},
    {.flags = {"--partitioning"},
     .dest = "partitioning",
     .sets = SetBy<&SetPartitions>(),
     .arity = Arity::kOne,
     .choices = kPartitions,
     .metavar = "MODE",
     .help =
         "If constants cannot be computed together: basic computes each by itself; recursive also"
         " computes what the failed ones depend on."},
    {.flags = {"--no-fold-shapes"},
     .dest = "fold_shapes",
     .sets = Sets<&FoldOptions::shapes>(),
     .turns_off = true,
     .help = "Leave Shape nodes alone, even if the shape is known."},
    {.flags = {"--no-per-pass-shape-inference"},
     .dest = "per_pass_shape_inference",
     .sets = Sets<&SanitizePlan::infer_each_pass>(),
     .turns_off = true,
     .help = "Do not infer shapes between passes."},
    {.flags = {"--fold-size-threshold"},
     .dest = "fold_size_threshold",
     .sets = SetBy<&SetThreshold>(),
     .arity = Arity::kOne,
     .metavar = "BYTES",
     .help = "Do not fold tensors larger than this; K, M and G are powers of 1024."},
};

constexpr OptionRow kDefaultInference[] = {
    {.flags = {"--no-shape-inference"},
     .dest = "do_shape_inference",
     .sets = Sets<&ShapeInference::wanted>(),
     .turns_off = true,
     .help = "Do not infer shapes.",
     .excludes = {"force_fallback_shape_inference"}},
    {.flags = {"--force-fallback-shape-inference"},
     .dest = "force_fallback_shape_inference",
     .sets = Sets<&ShapeInference::forced>(),
     .help =
         "Make all shapes static: infer them from those of the inputs, operator by operator, with"
         " dynamic sizes as 1. If an operator has no rule, or inputs are given, take the shapes"
         " from one inference of ONNX Runtime.",
     .excludes = {"do_shape_inference"}},
};

Status SetOperator(const OptionInput& input, NewNode& node) {
  node.op = TextOf(input);
  if (!node.op.empty()) return {};
  return InvalidArgument("--op: expected the name of an operator, got ''");
}

Status SetAttributes(const OptionInput& input, NewNode& node) {
  KeyRules rules;
  rules.separator = '=';
  rules.allow_empty_key = false;
  rules.bare_word_is_value = false;
  VERNIER_ASSIGN_OR_RETURN(node.attributes, ParseKeyedValues(input.given.values, rules));
  return {};
}

constexpr OptionRow kInsert[] = {
    {.flags = {"--inputs"},
     .dest = "inputs",
     .sets = Sets<&NewNode::inputs>(),
     .arity = Arity::kPlus,
     .required = true,
     .metavar = "NAME",
     .help = "The tensors that the node reads, in order."},
    {.flags = {"--outputs"},
     .dest = "outputs",
     .sets = Sets<&NewNode::outputs>(),
     .arity = Arity::kPlus,
     .required = true,
     .metavar = "NAME",
     .help = "The tensors that the node produces, in order."},
    {.flags = {"--op"},
     .dest = "op",
     .sets = SetBy<&SetOperator>(),
     .arity = Arity::kOne,
     .required = true,
     .metavar = "OPERATOR",
     .help = "The node's operator."},
    {.flags = {"--name"},
     .dest = "name",
     .sets = Sets<&NewNode::name>(),
     .arity = Arity::kOne,
     .help = "The node's name."},
    {.flags = {"--attrs"},
     .dest = "attrs",
     .sets = SetBy<&SetAttributes>(),
     .arity = Arity::kPlus,
     .metavar = "NAME=VALUE",
     .help =
         "The node's attributes, for example axis=1 alpha=0.5 axes=[0,1] mode='linear'. A number"
         " with a point is a float."},
};

constexpr OptionRow kWeightStrip[] = {
    {.flags = {"--exclude-list"},
     .dest = "exclude_list",
     .sets = Sets<&WeightStripPlan::exclude_list>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Keep the values of these initializers: a file with one name per line."},
};

}  // namespace

OptionGroup NewModelGroup() { return {"New model", "where the model is written", kOutput}; }

OptionGroup SanitizeGroup() { return {"Sanitizing", "what is changed in the model", kSanitize}; }

OptionGroup ConstantFoldingGroup() {
  return {"Constant folding", "computing what does not depend on inputs", kFolding};
}

OptionGroup DefaultShapeInferenceGroup() {
  return {"Shape inference", "inferring shapes", kDefaultInference};
}

OptionGroup InsertGroup() { return {"Inserted node", "the new node", kInsert}; }

OptionGroup WeightStripGroup() {
  return {"Weight stripping", "which weights are removed", kWeightStrip};
}

OptionGroup ExtractGroup() { return {"Extraction", "extracting a part of a model", kExtract}; }

}  // namespace vernier
