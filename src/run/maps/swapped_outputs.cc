#include "run/maps/swapped_outputs.h"

#include <algorithm>
#include <utility>

#include "compare/functions/comparison.h"
#include "compare/outputs/device_measure.h"
#include "compare/pairing/value_pairing.h"
#include "record/schema/runner_name.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// More failing outputs than this are no swap, and would take long to compare with each other.
constexpr size_t kMostSwapped = 16;
// After so many iterations it is known.
constexpr int64_t kMostLooks = 16;
constexpr int64_t kEnoughLooks = 4;

// Side by side.
struct FailedByName {
  TensorMap a, b;
};

FailedByName FindFailed(const IterationComparison& comparison, const DeviceMeasure* device) {
  FailedByName failed;
  for (const OutputComparison& output : comparison.outputs) {
    const bool held = device != nullptr && (device->Holds(output.a) || device->Holds(output.b));
    const bool by_name = output.how == PairedBy::kExact || output.how == PairedBy::kFolded ||
                         output.how == PairedBy::kSubstring;
    if (output.passed() || !by_name || held) continue;
    failed.a.push_back({output.a_name, output.a});
    failed.b.push_back({output.b_name, output.b});
  }
  return failed;
}

bool WasCompared(const IterationComparison& comparison, const std::string& output) {
  return std::ranges::find(comparison.outputs, output, &OutputComparison::a_name) !=
         comparison.outputs.end();
}

}  // namespace

SwappedOutputs::Swap& SwappedOutputs::SwapOf(const Swap& found) {
  const auto known = std::ranges::find_if(swaps_, [&](const Swap& swap) {
    return swap.ours == found.ours && swap.theirs == found.theirs;
  });
  return known != swaps_.end() ? *known : swaps_.emplace_back(found);
}

void SwappedOutputs::Look(const IterationComparison& comparison, const DeviceMeasure* device) {
  if (looks_ == kMostLooks) return;
  for (const OutputComparison& output : comparison.outputs) ++compared_[output.a_name];
  if (comparison.passed()) return;
  const auto& [a, b] = FindFailed(comparison, device);
  if (a.size() < 2 || a.size() > kMostSwapped) return;
  ++looks_;
  first_ = comparison.a_runner;
  second_ = comparison.b_runner;
  std::vector<size_t> all;
  for (size_t i = 0; i < a.size(); ++i) all.push_back(i);
  std::vector<std::pair<std::string, std::string>> here;
  for (const ValuePair& pair : PairByValue(a, all, b, all).pairs) {
    if (pair.a == pair.b) continue;
    Swap& swap = SwapOf({a[pair.a].name, b[pair.b].name, a[pair.b].name});
    swap.worst = std::max(swap.worst, pair.distance.error);
    ++swap.looks;
    here.emplace_back(swap.ours, swap.theirs);
  }
  for (Swap& swap : swaps_) {
    const bool compared =
        WasCompared(comparison, swap.ours) && WasCompared(comparison, swap.named_alike);
    const bool found = std::ranges::find(here, std::pair(swap.ours, swap.theirs)) != here.end();
    swap.refuted |= compared && !found;
  }
}

std::string SwappedOutputs::Describe() const {
  std::string found, words;
  for (const Swap& swap : swaps_) {
    const int64_t compared = std::min(compared_.at(swap.ours), compared_.at(swap.named_alike));
    if (swap.refuted || swap.looks < std::min(kEnoughLooks, compared)) continue;
    found += (found.empty() ? "'" : ", '") + swap.ours + "' has the values of '" + swap.theirs +
             "' (e = " + FormatG(swap.worst, 3) + ")";
    words += " " + WithoutTime(first_) + ":" + WithoutTime(second_) + ":" + swap.ours + "=" +
             swap.theirs;
  }
  if (found.empty()) return "";
  return first_ + " vs. " + second_ + ": outputs look swapped under their names: " + found +
         "; to compare them so: --map-outputs" + words;
}

}  // namespace vernier
