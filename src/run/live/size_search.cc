#include "run/live/size_search.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "model/onnx/model_type.h"
#include "model/onnx/onnx_model.h"
#include "run/feeds/feed_plan.h"
#include "util/text/first_line.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// Small ones, powers of two, and what pictures and frames of sound often have.
constexpr int64_t kTriedSizes[] = {2,   3,   4,   8,   16,  32,  48,  64,
                                   128, 192, 224, 256, 320, 512, 576, 1024};

// What keeps a search short where every trial takes long.
constexpr size_t kMostSingles = 6;
constexpr std::chrono::seconds kMostTime{20};
constexpr std::chrono::seconds kMostTimeWhereOneRuns{5};
constexpr std::chrono::seconds kQuietTime{2};  // of a search that may well find nothing
constexpr double kMostBytes = 256.0 * (1 << 20);
constexpr int kMostOfSameWords = 3;
// Of sizes that weights have.
constexpr size_t kMostOwnSizes = 16;
constexpr int64_t kMostOwnSize = 4096;

// Of larger sizes, where one runs but makes empty outputs.
constexpr int kMostAfterEmpty = 6;

OpenDimensions OpenOf(const RunPlan& plan, std::span<const TensorInfo> inputs) {
  const Result<std::vector<ShapeSpec>> shapes =
      ParseShapeSpecs(plan.inputs.shape_words, Strictness::kPolygraphy);
  if (!shapes.ok()) return {};
  return FindOpenDimensions(*shapes, inputs, KnownSizesOf(plan));
}

bool SameDimensions(std::span<const DimSize> a, std::span<const DimSize> b) {
  return std::ranges::equal(a, b, {}, &DimSize::dimension, &DimSize::dimension);
}

// Of a feed, as far as its shapes are known.
double BytesOfFeed(const RunPlan& sized, std::span<const TensorInfo> inputs) {
  Result<std::vector<ShapeSpec>> shapes =
      ParseShapeSpecs(sized.inputs.shape_words, Strictness::kPolygraphy);
  if (!shapes.ok()) return 0;
  const Result<CompletedShapes> completed =
      CompleteShapes(*std::move(shapes), inputs, KnownSizesOf(sized));
  if (!completed.ok()) return 0;
  double bytes = 0;
  for (const TensorInfo& input : inputs) {
    const ShapeSpec* const given = FirstShapeFor(completed->shapes, input.name);
    const auto& shape = given != nullptr && given->shape ? given->shape : input.shape;
    if (!shape) continue;
    double own = BitsOf(input.dtype) / 8.0;
    for (const Dim& dim : *shape) own *= static_cast<double>(std::max<int64_t>(1, dim.value));
    bytes += own;
  }
  return bytes;
}

// Frameworks name a node, or what does not fit.
bool SpeaksOfShapes(const std::string& message) {
  constexpr std::string_view kWords[] = {
      "shape", "size",   "dim",   "axis",    "axes",      "index",    "indices", "bound",
      "range", "rank",   "node",  "element", "broadcast", "length",   "pad",     "kernel",
      "slice", "batch",  "short", "small",   "large",     "long",     "expect",  "match",
      "input", "tensor", "frame", "window",  "multiple",  "divisible"};
  // A traceback quotes code.
  const std::string text = ToLower(message.substr(0, message.find("Traceback")));
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

class SizeSearch {
 public:
  SizeSearch(const RunPlan& plan, std::span<const TensorInfo> inputs, const SizeTrial& trial)
      : plan_(plan), inputs_(inputs), trial_(trial), open_(OpenOf(plan, inputs)) {}

  Result<FoundSizes> Run() {
    VERNIER_TRY(Judge());
    if (!why_) return std::move(found_);
    VERNIER_ASSIGN_OR_RETURN(first_, trial_.draw(plan_));
    if (why_ == SizeOne::kRefused) {
      VERNIER_ASSIGN_OR_RETURN(const bool steady, FailAgain());
      if (!steady) return std::move(found_);
      Announce();
    }
    VERNIER_TRY(TryCandidates());
    found_.some_refused = !found_.dims.empty() && !ran_.empty() && !refused_.empty();
    if (!found_.dims.empty()) found_.note = Sentence();
    return std::move(found_);
  }

 private:
  // Why 1 is not taken.
  Status Judge() {
    for (const SizeRunner& runner : trial_.runners) {
      const Status& status = runner.at_one.status();
      if (status.code() == StatusCode::kCancelled) return status;
      const std::optional<SizeOne> own = WhyNotSizeOne(runner.at_one);
      if (!status.ok() && !own) {
        why_.reset();
        return {};
      }
      if (status.ok()) ran_ += (ran_.empty() ? "" : ", ") + runner.name;
      if (!status.ok()) refused_.push_back(&runner);
      if (own && why_ != SizeOne::kRefused) why_ = own;
    }
    return {};
  }

  // Whether those that failed do so with the same feed once more, and are still there.
  Result<bool> FailAgain() {
    for (const SizeRunner* const runner : refused_) {
      const Status again = runner->infer(first_).status();
      if (again.code() == StatusCode::kCancelled) return again;
      if (again.code() == StatusCode::kUnavailable) return false;
      if (!again.ok()) continue;
      found_.note = runner->name + " failed, and ran with the same feed once more, so that no " +
                    "other sizes were tried: " + FirstLine(runner->at_one.status().message());
      found_.unsteady = BackendError(found_.note);
      return false;
    }
    return true;
  }

  // "onnxrt: Non-zero status code ..., openvino: ..."
  std::string Refusals(const std::string& verb) const {
    std::string text;
    for (const SizeRunner* const runner : refused_) {
      text += (text.empty() ? "" : "; ") + runner->name + verb +
              FirstLine(runner->at_one.status().message());
    }
    return text;
  }

  void Announce() {
    if (std::exchange(announced_, true)) return;
    trial_.logger.Info("Looking for other sizes than 1 for " + FormatPythonList(open_.keys) + " (" +
                       std::to_string(MostTime().count()) + " s at most): with " +
                       DescribeSizes(first_) + " " +
                       (refused_.empty() ? "an output is empty" : Refusals(" failed: ")));
  }

  std::chrono::seconds MostTime() const {
    return why_ == SizeOne::kMakesEmpty ? kMostTimeWhereOneRuns : kMostTime;
  }

  Status TryCandidates() {
    const auto start = std::chrono::steady_clock::now();
    const bool one_runs = why_ == SizeOne::kMakesEmpty;
    int left = kMostAfterEmpty;
    for (std::vector<DimSize>& dims : SizeCandidates(open_, SizesOfWeights(plan_))) {
      const auto spent = std::chrono::steady_clock::now() - start;
      if (spent > MostTime()) break;
      if (spent > kQuietTime) Announce();
      if (!found_.dims.empty() && !SameDimensions(found_.dims, dims)) continue;
      if (!found_.dims.empty() && left-- == 0) break;
      RunPlan sized = plan_;
      sized.inputs.found_dims = dims;
      if (BytesOfFeed(sized, inputs_) > kMostBytes) continue;
      Result<TensorMap> feed = trial_.draw(sized);
      if (feed.status().code() == StatusCode::kCancelled) return feed.status();
      if (!feed.ok()) continue;
      const Result<bool> full = InferAll(*feed);
      if (full.status().code() == StatusCode::kCancelled) return full.status();
      if (full.status().code() == StatusCode::kUnavailable) break;
      ++found_.tried;
      if (!full.ok() && IsHopeless(full.status())) {
        found_.failed_alike = FailedAlikeAtOne();
        break;
      }
      if (!full.ok() || (!*full && (one_runs || !found_.dims.empty()))) continue;
      found_.dims = std::move(dims);
      found_.feed = *std::move(feed);
      if (*full) break;
    }
    return {};
  }

  Result<bool> InferAll(const TensorMap& feed) const {
    bool full = true;
    for (const SizeRunner& runner : trial_.runners) {
      VERNIER_ASSIGN_OR_RETURN(const bool own, runner.infer(feed));
      full &= own;
    }
    return full;
  }

  bool IsHopeless(const Status& status) {
    const std::string line = FirstLine(status.message());
    same_words_ = line == words_ ? same_words_ + 1 : 1;
    words_ = line;
    return same_words_ >= kMostOfSameWords && !SpeaksOfShapes(status.message());
  }

  // With the words of the last failure.
  bool FailedAlikeAtOne() const {
    return std::ranges::any_of(refused_, [&](const SizeRunner* runner) {
      return FirstLine(runner->at_one.status().message()) == words_;
    });
  }

  std::string Sentence() const {
    std::string sizes;
    for (const DimSize& dim : found_.dims) {
      sizes += (sizes.empty() ? "'" : ", '") + dim.dimension + "' = " + std::to_string(dim.size);
    }
    std::string one = "With free dimensions of size 1 ";
    if (why_ == SizeOne::kMakesEmpty) {
      one += "an output is empty; none is with ";
    } else {
      one += "the model " + (ran_.empty() ? ran_ : "ran in " + ran_ + " and ") + "failed in " +
             Refusals(": ") + "; it ran with ";
    }
    return one + DescribeSizes(found_.feed) + " (" + sizes +
           "), which is used; for other sizes give --dim or --input-shapes";
  }

  const RunPlan& plan_;
  std::span<const TensorInfo> inputs_;
  const SizeTrial& trial_;
  const OpenDimensions open_;
  FoundSizes found_;
  TensorMap first_;  // with sizes of 1
  std::optional<SizeOne> why_;
  std::string ran_;  // names of those that ran with sizes of 1
  std::vector<const SizeRunner*> refused_;
  std::string words_;  // of the last failure
  int same_words_ = 0;
  bool announced_ = false;
};

}  // namespace

bool AllHaveElements(const TensorMap& outputs) {
  return std::ranges::all_of(
      outputs, [](const NamedTensor& output) { return output.tensor.element_count() != 0; });
}

Result<bool> AllHaveElements(const Result<TensorMap>& outputs) {
  if (!outputs.ok()) return outputs.status();
  return AllHaveElements(*outputs);
}

std::optional<SizeOne> WhyNotSizeOne(const Result<bool>& full) {
  if (full.ok()) return *full ? std::nullopt : std::optional(SizeOne::kMakesEmpty);
  if (full.status().code() != StatusCode::kBackend) return std::nullopt;
  return SizeOne::kRefused;
}

bool SizesAreGuessed(const RunPlan& plan, std::span<const TensorInfo> inputs) {
  const InputPlan& own = plan.inputs;
  const bool drawn = own.load_paths.empty() && !own.script.given() && own.like.empty();
  if (plan.lenient || !drawn || !own.found_dims.empty()) return false;
  return !OpenOf(plan, inputs).keys.empty();
}

std::vector<int64_t> SizesOfWeights(const RunPlan& plan) {
  std::set<std::string_view> paths;
  std::set<int64_t> sizes;
  for (const RunnerPlan& runner : plan.runners) {
    if (runner.model.type != ModelTypeName(ModelType::kOnnx)) continue;
    if (!paths.insert(runner.model.path).second) continue;
    const Result<OnnxModel> model = OnnxModel::Open(runner.model.path);
    if (!model.ok()) continue;
    for (const OnnxTensor& weight : model->graph().initializers) {
      for (const int64_t size : weight.dims) {
        if (size > 1 && size <= kMostOwnSize) sizes.insert(size);
      }
    }
  }
  std::vector<int64_t> smallest(sizes.begin(), sizes.end());
  smallest.resize(std::min(smallest.size(), kMostOwnSizes));
  return smallest;
}

std::vector<std::vector<DimSize>> SizeCandidates(const OpenDimensions& open,
                                                 std::span<const int64_t> own) {
  std::vector<std::string> inner;
  for (const std::string& key : open.keys) {
    if (std::ranges::find(open.leading, key) == open.leading.end()) inner.push_back(key);
  }
  std::vector<std::vector<std::string>> choices;
  const auto add = [&](std::vector<std::string> choice) {
    if (choice.empty() || std::ranges::find(choices, choice) != choices.end()) return;
    choices.push_back(std::move(choice));
  };
  add(inner);
  for (const std::vector<std::string>& keys : {inner, open.leading}) {
    for (const std::string& key : keys) {
      if (choices.size() <= kMostSingles) add({key});
    }
  }
  add(open.keys);
  std::vector<std::vector<DimSize>> candidates;
  std::set<int64_t> sizes(std::begin(kTriedSizes), std::end(kTriedSizes));
  sizes.insert(own.begin(), own.end());
  for (const int64_t size : sizes) {
    for (const std::vector<std::string>& choice : choices) {
      std::vector<DimSize>& dims = candidates.emplace_back();
      for (const std::string& key : choice) dims.push_back({key, size});
    }
  }
  return candidates;
}

Result<FoundSizes> FindSizes(const RunPlan& plan, std::span<const TensorInfo> inputs,
                             const SizeTrial& trial) {
  return SizeSearch(plan, inputs, trial).Run();
}

std::string DescribeSizes(const TensorMap& feed) {
  std::string text;
  for (const NamedTensor& input : feed) {
    text += (text.empty() ? "" : ", ") + input.name + " " + FormatDims(input.tensor.dims());
  }
  return text;
}

}  // namespace vernier
