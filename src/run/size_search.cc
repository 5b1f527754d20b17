#include "run/size_search.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "run/feed_plan.h"

namespace vernier {
namespace {

// Small ones, powers of two, and what pictures and frames of sound often have.
constexpr int64_t kTriedSizes[] = {2,   3,   4,   8,   16,  32,  48,  64,
                                   128, 192, 224, 256, 320, 512, 576, 1024};

// What keeps a search short where every trial takes long.
constexpr size_t kMostSingles = 6;
constexpr std::chrono::seconds kMostTime{30};
constexpr std::chrono::seconds kMostTimeWhereOneRuns{5};

// Of larger sizes, where one runs but makes empty outputs.
constexpr int kMostAfterEmpty = 6;

OpenDimensions OpenOf(const RunPlan& plan, std::span<const TensorInfo> inputs) {
  const Result<std::vector<ShapeSpec>> shapes =
      ParseShapeSpecs(plan.inputs.shape_words, Strictness::kPeer);
  if (!shapes.ok()) return {};
  return FindOpenDimensions(*shapes, inputs, KnownSizesOf(plan));
}

bool SameDimensions(std::span<const DimSize> a, std::span<const DimSize> b) {
  return std::ranges::equal(a, b, {}, &DimSize::dimension, &DimSize::dimension);
}

std::string SentenceOn(const FoundSizes& found, SizeOne why) {
  std::string sizes;
  for (const DimSize& dim : found.dims) {
    sizes += (sizes.empty() ? "'" : ", '") + dim.dimension + "' = " + std::to_string(dim.size);
  }
  return (why == SizeOne::kRefused
              ? std::string("The model does not run with free dimensions of size 1; it ran with ")
              : std::string("With free dimensions of size 1 an output is empty; none is with ")) +
         DescribeSizes(found.feed) + " (" + sizes +
         "), which is taken; other sizes are given with --dim or --input-shapes";
}

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

std::vector<std::vector<DimSize>> SizeCandidates(const OpenDimensions& open) {
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
  for (const int64_t size : kTriedSizes) {
    for (const std::vector<std::string>& choice : choices) {
      std::vector<DimSize>& dims = candidates.emplace_back();
      for (const std::string& key : choice) dims.push_back({key, size});
    }
  }
  return candidates;
}

Result<FoundSizes> FindSizes(const RunPlan& plan, std::span<const TensorInfo> inputs,
                             const SizeTrial& trial, SizeOne why) {
  const auto start = std::chrono::steady_clock::now();
  const bool one_runs = why == SizeOne::kMakesEmpty;
  FoundSizes found;
  int left = kMostAfterEmpty;
  for (std::vector<DimSize>& dims : SizeCandidates(OpenOf(plan, inputs))) {
    const auto spent = std::chrono::steady_clock::now() - start;
    if (spent > (one_runs ? kMostTimeWhereOneRuns : kMostTime)) break;
    if (!found.dims.empty() && !SameDimensions(found.dims, dims)) continue;
    if (!found.dims.empty() && left-- == 0) break;
    RunPlan sized = plan;
    sized.inputs.found_dims = dims;
    Result<TensorMap> feed = trial.draw(sized);
    if (feed.status().code() == StatusCode::kCancelled) return feed.status();
    if (!feed.ok()) continue;
    const Result<bool> full = trial.infer(*feed);
    if (full.status().code() == StatusCode::kCancelled) return full.status();
    if (full.status().code() == StatusCode::kUnavailable) break;
    ++found.tried;
    if (!full.ok() || (!*full && (one_runs || !found.dims.empty()))) continue;
    found.dims = std::move(dims);
    found.feed = *std::move(feed);
    if (*full) break;
  }
  if (!found.dims.empty()) found.note = SentenceOn(found, why);
  return found;
}

std::string DescribeSizes(const TensorMap& feed) {
  std::string text;
  for (const NamedTensor& input : feed) {
    text += (text.empty() ? "" : ", ") + input.name + " " + FormatDims(input.tensor.dims());
  }
  return text;
}

}  // namespace vernier
