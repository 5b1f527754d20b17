#include "run/live_sizes.h"

#include <optional>

namespace vernier {
namespace {

// The first that takes any sizes.
std::optional<size_t> WhoTriesSizes(const LiveRuns& live) {
  for (size_t i = 0; i < live.size(); ++i) {
    const bool of_sizes = live[i].plan().backend.starts_with("tensorrt");
    if (!of_sizes && live[i].opened()) return i;
  }
  return std::nullopt;
}

}  // namespace

Result<FoundSizes> SettleSizes(const RunPlan& plan, std::span<const TensorInfo> inputs,
                               const SizeSettling& settling) {
  LiveRuns& live = settling.live;
  const std::optional<size_t> who = WhoTriesSizes(live);
  if (!who || !SizesAreGuessed(plan, inputs)) return FoundSizes();
  const Result<TensorMap> first = settling.draw(plan);
  if (!first.ok()) return FoundSizes();  // told where it is made in earnest
  const Status status = live.InferBeforehand(*who, *first, settling.iteration);
  if (status.code() == StatusCode::kCancelled) return status;
  if (status.code() != StatusCode::kBackend) return FoundSizes();
  const auto infer = [&](const TensorMap& feed) { return live.Try(*who, feed); };
  VERNIER_ASSIGN_OR_RETURN(FoundSizes found, FindSizes(plan, inputs, {settling.draw, infer}));
  live.NoteTriedSizes(found.tried);
  if (!found.dims.empty()) VERNIER_TRY(live.ChangeSizes(found.dims));
  return found;
}

}  // namespace vernier
