// What values of a RunPlan are called in JSON. Its fields are listed by the structs themselves
// (EachField in run_plan.h). Only for this folder.
#pragma once

#include <array>
#include <string_view>

#include "vernier/compare_options.h"
#include "vernier/run_plan.h"

namespace vernier {

// The names of enumerators, in their order.
constexpr std::array<std::string_view, 3> NamesOf(RunnerPlace) {
  return {"auto", "plugin", "python"};
}
constexpr std::array<std::string_view, 2> NamesOf(ShardRule) { return {"contiguous", "stride"}; }
constexpr std::array<std::string_view, 3> NamesOf(StateSource) { return kStateSourceNames; }
constexpr std::array<std::string_view, 4> NamesOf(ReportFormat) {
  return {"html", "junit", "jsonl", "markdown"};
}
constexpr std::array<std::string_view, 4> NamesOf(PairRule) {
  return {"neighbours", "first", "all", "named"};
}
constexpr std::array<std::string_view, 5> NamesOf(ErrorStat) {
  return {"elemwise", "max", "mean", "median", "quantile"};
}
constexpr std::array<std::string_view, 4> NamesOf(JudgeRule) {
  return {"unsaid", "elements", "decisions", "both"};
}
constexpr std::array<std::string_view, 2> NamesOf(DropType) { return {"absolute", "relative"}; }
constexpr std::array<std::string_view, 2> NamesOf(ToleranceRule) { return {"fixed", "auto"}; }

}  // namespace vernier
