#include "run/feeds/feed_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "inputs/dim_sizes.h"
#include "inputs/feed_shape.h"
#include "io/results/feed_reader.h"
#include "model/onnx/model_type.h"
#include "model/onnx/onnx_model.h"
#include "model/ranges/input_ranges.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

template <typename Named>
bool HasOwn(std::span<const Named> list, std::string_view name) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Named& entry) { return entry.name == name; });
}

// The sizes with which the first feed will be made.
std::vector<InputDims> SizesToFeed(std::span<const TensorInfo> inputs,
                                   const RandomFeedOptions& options) {
  std::vector<InputDims> sizes;
  for (const TensorInfo& input : inputs) {
    const Result<FeedShape> shape =
        ResolveFeedShape(input, FirstShapeFor(options.shapes, input.name), options.strictness);
    if (shape.ok() && !shape->values) sizes.push_back({input.name, shape->dims});
  }
  return sizes;
}

// The option that says how the input is drawn, whatever the graph says; empty where none does.
std::string_view GivenBy(const RandomFeedOptions& options, std::string_view input) {
  if (HasOwn<NamedRange>(options.ranges, input)) return "--val-range";
  return HasOwn<NamedSample>(options.samples, input) ? "--like" : "";
}

void AddGraphRange(const InputRange& range, RandomFeedOptions& options, Logger& logger) {
  const std::string bounds =
      "[" + std::to_string(range.low) + ", " + std::to_string(range.high) + "]";
  const std::string line = "Input tensor: " + range.input + " | ";
  const std::string_view given = GivenBy(options, range.input);
  if (!given.empty()) {
    logger.Once(Severity::kInfo, line + std::string(given) + " wins over " + bounds +
                                     " of the graph: " + range.reason);
    return;
  }
  logger.Once(Severity::kInfo,
              line + "Drawn from " + bounds + " because of the graph: " + range.reason);
  options.ranges.push_back({range.input, {WideInt{range.low}, WideInt{range.high}}});
}

Status AddGraphRanges(const RunPlan& plan, std::span<const TensorInfo> inputs,
                      RandomFeedOptions& options, Logger& logger) {
  const auto runner = std::find_if(
      plan.runners.begin(), plan.runners.end(),
      [](const RunnerPlan& r) { return r.model.type == ModelTypeName(ModelType::kOnnx); });
  if (runner == plan.runners.end()) {
    return Unimplemented("--inputs-from-graph reads ONNX models, and no runner has one");
  }
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel model, OnnxModel::Open(runner->model.path));
  const GraphRanges found = FindInputRanges(model, SizesToFeed(inputs, options));
  VERNIER_TRY(model.CheckIntact());
  for (const UnrangedInput& input : found.unranged) {
    logger.Once(Severity::kWarning,
                "Input tensor: " + input.input + " | No range makes it legal: " + input.reason);
  }
  for (const LostInput& input : found.lost) {
    if (!GivenBy(options, input.input).empty()) continue;
    const bool ranged =
        std::any_of(found.ranges.begin(), found.ranges.end(),
                    [&](const InputRange& range) { return range.input == input.input; });
    logger.Once(Severity::kWarning,
                "Input tensor: " + input.input + " | It " + input.how + ": no range derived" +
                    (ranged ? " for that; give --val-range if the range of its other uses does not"
                              " fit"
                            : "; give --val-range"));
  }
  for (const InputRange& range : found.ranges) AddGraphRange(range, options, logger);
  if (found.ranges.empty() && found.unranged.empty() && found.lost.empty()) {
    logger.Once(Severity::kInfo,
                "--inputs-from-graph: no input was found to be used as an index, length, mask or "
                "size");
  }
  return {};
}

// Shapes that a model leaves open are the sample's.
Status TakeShape(const TensorInfo& input, const Tensor& sample, RandomFeedOptions& options) {
  const bool open = !input.shape || std::any_of(input.shape->begin(), input.shape->end(),
                                                [](const Dim& dim) { return dim.dynamic(); });
  if (!open || FirstShapeFor(options.shapes, input.name) != nullptr) return {};
  ShapeSpec spec{input.name, std::vector<Dim>()};
  for (const int64_t size : sample.dims()) spec.shape->push_back({size, {}});
  VERNIER_TRY(ResolveFeedShape(input, &spec, options.strictness, "--like").status());
  options.shapes.push_back(std::move(spec));
  return {};
}

// Dimensions of one name have one size in the model.
void WarnOfDisagreement(std::span<const TensorInfo> inputs, const TensorMap& sample,
                        Logger& logger) {
  std::map<std::string, std::pair<int64_t, std::string>> sizes;  // and whose it is
  for (const TensorInfo& input : inputs) {
    const Tensor* tensor = Find(sample, input.name);
    if (tensor == nullptr || !input.shape || input.shape->size() != tensor->dims().size()) continue;
    for (size_t i = 0; i < input.shape->size(); ++i) {
      const std::string& symbol = (*input.shape)[i].symbol;
      const int64_t size = tensor->dims()[i];
      if (symbol.empty()) continue;
      const auto& [first, whose] =
          sizes.try_emplace(symbol, size, QuotePython(input.name)).first->second;
      if (first == size) continue;
      logger.Once(Severity::kWarning, "--like: the sample gives dimension " + QuotePython(symbol) +
                                          " the size " + std::to_string(first) + " in " + whose +
                                          " and " + std::to_string(size) + " in " +
                                          QuotePython(input.name));
    }
  }
}

// Draws an input like the sample's tensor, unless a range was given for it by name.
Status AddSampleOf(const TensorInfo& input, const Tensor& tensor, const std::string& path,
                   RandomFeedOptions& options, Logger& logger) {
  VERNIER_TRY(TakeShape(input, tensor, options));
  const std::string line = "Input tensor: " + input.name + " | ";
  if (HasOwn<NamedRange>(options.ranges, input.name)) {
    const std::string range = FormatRange(RangeFor(options.ranges, input.name));
    logger.Once(Severity::kInfo, line + "Drawn from " + range + ": --val-range wins over --like");
    return {};
  }
  Result<SampleValues> values = SampleValues::Learn(tensor);
  if (!values.ok()) {
    return std::move(values).Annotate("--like: input " + QuotePython(input.name)).status();
  }
  const bool ranged = HasOwn<NamedRange>(options.ranges, "");
  logger.Once(Severity::kInfo, line + "Drawn like " + values->Describe() + " in " + path +
                                   (ranged ? ": --like wins over --val-range without a name" : ""));
  options.samples.push_back({input.name, *std::move(values)});
  return {};
}

Status AddSample(const RunPlan& plan, std::span<const TensorInfo> inputs,
                 RandomFeedOptions& options, Logger& logger) {
  const std::string& path = plan.inputs.like;
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<FeedReader> reader, FeedReader::Open({path}));
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> sample, reader->Next());
  if (!sample) return Malformed("--like: '" + path + "' holds no inputs");
  if (reader->positional()) {
    std::vector<std::string> names;
    for (const TensorInfo& input : inputs) names.push_back(input.name);
    const std::string remark = NameByPosition(names, *sample);
    if (!remark.empty()) logger.Once(Severity::kWarning, "--like: " + remark);
  }
  WarnOfDisagreement(inputs, *sample, logger);
  for (const TensorInfo& input : inputs) {
    if (const Tensor* tensor = Find(*sample, input.name); tensor != nullptr) {
      VERNIER_TRY(AddSampleOf(input, *tensor, path, options, logger));
      continue;
    }
    const std::string text = "--like: '" + path + "' has no input " + QuotePython(input.name);
    const bool ranged = HasOwn<NamedRange>(options.ranges, input.name);
    if (!plan.lenient && !ranged) return Malformed(text);
    logger.Once(
        ranged ? Severity::kInfo : Severity::kWarning,
        text + (ranged ? "; --val-range says how it is drawn" : "; it is drawn as without"));
  }
  for (const NamedTensor& tensor : *sample) {
    if (HasOwn<TensorInfo>(inputs, tensor.name)) continue;
    logger.Once(Severity::kWarning, "--like: the model has no input " + QuotePython(tensor.name) +
                                        ", which '" + path + "' holds");
  }
  return {};
}

// The sizes that an input has in all feeds, -1 where they differ; nullopt where it has no such
// list.
std::optional<Dims> CommonSizes(const TensorInfo& input, std::span<const ShapeSpec> specs) {
  const ShapeSpec* const first = FirstShapeFor(specs, input.name);
  std::optional<Dims> common;
  for (const ShapeSpec& spec : specs) {
    if (first != nullptr && spec.name != first->name) continue;
    const Result<FeedShape> shape =
        ResolveFeedShape(input, first != nullptr ? &spec : nullptr, Strictness::kPolygraphy);
    if (!shape.ok() || shape->values) return std::nullopt;
    if (!common) common = shape->dims;
    if (common->size() != shape->dims.size()) return std::nullopt;
    for (size_t i = 0; i < common->size(); ++i) {
      if ((*common)[i] != shape->dims[i]) (*common)[i] = -1;
    }
  }
  return common;
}

}  // namespace

Result<std::vector<InputDims>> GivenSizes(std::string_view flag, std::span<const std::string> words,
                                          std::span<const TensorInfo> inputs,
                                          const KnownSizes& known) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<ShapeSpec> specs,
                           ParseShapeSpecs(words, Strictness::kStrict, flag));
  for (const ShapeSpec& spec : specs) {
    const bool known = std::any_of(inputs.begin(), inputs.end(), [&](const TensorInfo& input) {
      return MeansInput(spec.name, input.name);
    });
    if (known) continue;
    return Malformed(std::string(flag) + ": the model has no input " + QuotePython(spec.name));
  }
  VERNIER_ASSIGN_OR_RETURN(const CompletedShapes completed,
                           CompleteShapes(std::move(specs), inputs, known));
  std::vector<InputDims> sizes;
  for (const TensorInfo& input : inputs) {
    const ShapeSpec* spec = FirstShapeFor(completed.shapes, input.name);
    if (spec == nullptr || !spec->shape) continue;
    VERNIER_ASSIGN_OR_RETURN(FeedShape shape,
                             ResolveFeedShape(input, spec, Strictness::kStrict, flag));
    if (!shape.values) sizes.push_back({input.name, std::move(shape.dims)});
  }
  return sizes;
}

KnownSizes KnownSizesOf(const RunPlan& plan) {
  return {plan.inputs.dims, plan.inputs.found_dims, !plan.lenient};
}

Status AddFeedSources(const RunPlan& plan, std::span<const TensorInfo> inputs,
                      RandomFeedOptions& options, Logger& logger) {
  // First the sample: its shapes decide which indices are legal.
  if (!plan.inputs.like.empty()) VERNIER_TRY(AddSample(plan, inputs, options, logger));
  VERNIER_ASSIGN_OR_RETURN(CompletedShapes completed,
                           CompleteShapes(std::move(options.shapes), inputs, KnownSizesOf(plan)));
  options.shapes = std::move(completed.shapes);
  for (const std::string& text : completed.warnings) logger.Once(Severity::kWarning, text);
  for (const std::string& text : completed.notes) logger.Once(Severity::kInfo, text);
  if (plan.inputs.from_graph) VERNIER_TRY(AddGraphRanges(plan, inputs, options, logger));
  return {};
}

std::string ListedFeedShapes(const RunPlan& run, std::span<const TensorInfo> inputs) {
  const InputPlan& plan = run.inputs;
  if (run.steps.wanted()) return "";  // the words are of sequences
  if (!plan.load_paths.empty() || !plan.script.path.empty()) return "";
  if (plan.shape_words.empty() && plan.dims.empty() && plan.found_dims.empty()) return "";
  Result<std::vector<ShapeSpec>> given = ParseShapeSpecs(plan.shape_words, Strictness::kPolygraphy);
  if (!given.ok()) return "";
  const Result<CompletedShapes> completed =
      CompleteShapes(*std::move(given), inputs, KnownSizesOf(run));
  if (!completed.ok()) return "";  // reported where the feeds are opened
  std::string text;
  for (const TensorInfo& input : inputs) {
    const std::optional<Dims> sizes = CommonSizes(input, completed->shapes);
    if (!sizes) continue;
    text += (text.empty() ? "" : ";") + input.name + ":[";
    for (size_t i = 0; i < sizes->size(); ++i) {
      text += (i > 0 ? "," : "") + std::to_string((*sizes)[i]);
    }
    text += "]";
  }
  return text;
}

}  // namespace vernier
