#include "blame/sides.h"

#include <algorithm>
#include <string_view>

#include "record/runner_name.h"

namespace vernier {
namespace {

constexpr std::string_view kBestFirst[] = {"onnxref", "onnxruntime", "openvino",
                                           "torch",   "tensorflow",  "tensorrt"};

size_t RankOf(const RunnerPlan& runner) {
  const auto* found = std::find(std::begin(kBestFirst), std::end(kBestFirst), runner.backend);
  return static_cast<size_t>(found - std::begin(kBestFirst));
}

Status CheckCount(size_t runners, size_t loaded) {
  if (runners == 0) {
    return InvalidArgument("blame needs a runner to accuse, for example --onnxrt --openvino");
  }
  if (runners + loaded == 2) return {};
  if (runners + loaded == 1) {
    return InvalidArgument(
        "blame needs a second side: another runner, or saved outputs (--load-outputs) together "
        "with the inputs they were made from (--load-inputs)");
  }
  return InvalidArgument("blame holds one candidate against one reference, but there are " +
                         std::to_string(runners + loaded) + " sides");
}

}  // namespace

Result<Sides> ChooseSides(const RunPlan& plan, const std::vector<std::string>& loaded,
                          const std::string& reference) {
  VERNIER_TRY(CheckCount(plan.runners.size(), loaded.size()));
  if (!loaded.empty()) {
    if (!reference.empty() && reference != loaded.front()) {
      return InvalidArgument(
          "--reference: saved outputs cannot be run layer by layer, so they are "
          "the reference; '" +
          reference + "' cannot be");
    }
    return Sides{std::nullopt, 0, 0};
  }
  size_t first = RankOf(plan.runners[1]) < RankOf(plan.runners[0]) ? 1 : 0;
  if (!reference.empty()) {
    const auto named = std::find_if(plan.runners.begin(), plan.runners.end(),
                                    [&](const auto& r) { return IsCalled(r.name, reference); });
    if (named == plan.runners.end()) {
      return InvalidArgument("--reference: there is no runner '" + reference + "'; there are '" +
                             plan.runners[0].name + "' and '" + plan.runners[1].name + "'");
    }
    first = static_cast<size_t>(named - plan.runners.begin());
  }
  return Sides{first, 0, 1 - first};
}

Status CheckSides(const RunPlan& plan, const std::string& reference) {
  if (plan.load_outputs.empty()) return ChooseSides(plan, {}, reference).status();
  VERNIER_TRY(CheckCount(plan.runners.size(), plan.load_outputs.size()));
  if (!plan.inputs.load_paths.empty() || plan.inputs.script.given()) return {};
  return InvalidArgument(
      "blame against saved outputs needs the inputs that they were made from: --load-inputs");
}

}  // namespace vernier
