#include "run/live_sizes.h"

#include <optional>
#include <vector>

namespace vernier {
namespace {

// Those that take any sizes.
std::vector<size_t> WhoTryAnySizes(const LiveRuns& live) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < live.size(); ++i) {
    const bool of_sizes = live[i].plan().backend.starts_with("tensorrt");
    if (!of_sizes && live[i].opened()) indices.push_back(i);
  }
  return indices;
}

}  // namespace

Result<FoundSizes> SettleSizes(const RunPlan& plan, std::span<const TensorInfo> inputs,
                               const SizeSettling& settling) {
  LiveRuns& live = settling.live;
  const std::vector<size_t> askable = WhoTryAnySizes(live);
  if (askable.empty() || !SizesAreGuessed(plan, inputs)) return FoundSizes();
  const Result<TensorMap> first = settling.draw(plan);
  if (!first.ok()) return FoundSizes();  // told where it is made in earnest
  std::optional<SizeOne> why;
  for (const size_t who : askable) {
    const Result<bool> full = live.InferBeforehand(who, *first, settling.iteration);
    if (full.status().code() == StatusCode::kCancelled) return full.status();
    const std::optional<SizeOne> own = WhyNotSizeOne(full);
    if (!full.ok() && !own) return FoundSizes();
    if (why != SizeOne::kRefused && own) why = own;
  }
  if (!why) return FoundSizes();
  const auto infer = [&](const TensorMap& feed) -> Result<bool> {
    bool full = true;
    for (const size_t who : askable) {
      VERNIER_ASSIGN_OR_RETURN(const bool own, live.Try(who, feed));
      full &= own;
    }
    return full;
  };
  VERNIER_ASSIGN_OR_RETURN(FoundSizes found, FindSizes(plan, inputs, {settling.draw, infer}, *why));
  live.NoteTriedSizes(found.tried);
  if (!found.dims.empty()) VERNIER_TRY(live.ChangeSizes(found.dims));
  return found;
}

}  // namespace vernier
