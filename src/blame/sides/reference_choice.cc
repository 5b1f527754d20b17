#include "blame/sides/reference_choice.h"

#include <algorithm>

#include "blame/sides/foreign_reference.h"
#include "record/schema/runner_name.h"
#include "record/schema/side_names.h"

namespace vernier {
namespace {

// The runner that is closer to the definition of operators, of two.
size_t FirstByRank(const RunPlan& plan, const RanksOfRunners& ranks) {
  if (plan.runners[0].backend == plan.runners[1].backend) return 0;
  const std::vector<uint32_t> found = ranks();
  // 0, which is unknown, becomes the last of all.
  return found[1] - 1 < found[0] - 1 ? 1 : 0;
}

// Of two runners the only one whose model has no graph to follow.
std::optional<size_t> TheForeignOne(const RunPlan& plan) {
  const bool first = IsForeign(plan.runners[0]), second = IsForeign(plan.runners[1]);
  if (first == second) return std::nullopt;
  return first ? 0 : 1;
}

Status CheckCount(size_t runners, size_t loaded) {
  if (runners == 0) {
    return InvalidArgument(
        "blame needs a runner as the candidate, for example --onnxrt --openvino");
  }
  if (runners + loaded == 2) return {};
  if (runners + loaded == 1) {
    return InvalidArgument(
        "blame needs a second side: another runner, or saved outputs (--load-outputs) together "
        "with the inputs they were made from (--load-inputs)");
  }
  return InvalidArgument("blame compares one candidate with one reference, but there are " +
                         std::to_string(runners + loaded) + " sides");
}

}  // namespace

Result<Sides> ChooseSides(const RunPlan& plan, const std::vector<std::string>& loaded,
                          const std::string& reference, const RanksOfRunners& ranks) {
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
  if (reference.empty()) {
    const std::optional<size_t> foreign = TheForeignOne(plan);
    const size_t first = foreign ? *foreign : FirstByRank(plan, ranks);
    return Sides{first, 0, 1 - first};
  }
  const auto named = std::find_if(plan.runners.begin(), plan.runners.end(),
                                  [&](const auto& r) { return IsCalled(r.name, reference); });
  if (named == plan.runners.end()) {
    const std::vector<std::string> known =
        ShortNames(std::vector{plan.runners[0].name, plan.runners[1].name});
    return InvalidArgument("--reference: there is no runner '" + reference + "'; there are '" +
                           known[0] + "' and '" + known[1] + "'");
  }
  const auto first = static_cast<size_t>(named - plan.runners.begin());
  return Sides{first, 0, 1 - first};
}

Status CheckSides(const RunPlan& plan, const std::string& reference) {
  if (plan.load_outputs.empty()) {
    // Which of the two it would be is not known yet, and does not matter.
    return ChooseSides(plan, {}, reference, [] { return std::vector<uint32_t>(2); }).status();
  }
  VERNIER_TRY(CheckCount(plan.runners.size(), plan.load_outputs.size()));
  if (!plan.inputs.load_paths.empty() || plan.inputs.script.given()) return {};
  return InvalidArgument(
      "blame against saved outputs needs the inputs that they were made from: --load-inputs");
}

}  // namespace vernier
