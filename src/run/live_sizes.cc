#include "run/live_sizes.h"

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
  bool refused = false;
  for (const size_t who : askable) {
    const Status status = live.InferBeforehand(who, *first, settling.iteration);
    if (status.code() == StatusCode::kCancelled) return status;
    if (!status.ok() && status.code() != StatusCode::kBackend) return FoundSizes();
    refused |= !status.ok();
  }
  if (!refused) return FoundSizes();
  const auto infer = [&](const TensorMap& feed) -> Result<bool> {
    bool full = true;
    for (const size_t who : askable) {
      VERNIER_ASSIGN_OR_RETURN(const bool own, live.Try(who, feed));
      full &= own;
    }
    return full;
  };
  VERNIER_ASSIGN_OR_RETURN(FoundSizes found, FindSizes(plan, inputs, {settling.draw, infer}));
  live.NoteTriedSizes(found.tried);
  if (!found.dims.empty()) VERNIER_TRY(live.ChangeSizes(found.dims));
  return found;
}

}  // namespace vernier
