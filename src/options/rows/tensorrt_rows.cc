#include "options/rows/tensorrt_rows.h"

#include "options/words/arg_parser.h"

namespace vernier {

Status AddEngineOption(const OptionInput& input, RunnerPlan& runner) {
  const GivenOption& given = input.given;
  std::string value = given.row->arity == Arity::kNone ? "1" : "";
  for (const std::string& word : given.values) value += (value.empty() ? "" : "\n") + word;
  runner.session_options.emplace_back(given.row->dest, std::move(value));
  return {};
}

Status AddEngineScript(const OptionInput& input, RunnerPlan& runner) {
  runner.place = RunnerPlace::kPython;
  return AddEngineOption(input, runner);
}

std::vector<OptionRow> EngineRows(std::span<const OptionRow> rows) {
  std::vector<OptionRow> all(rows.begin(), rows.end());
  for (OptionRow& row : all) {
    if (!row.sets.Means()) row.sets = kEngineOption;
  }
  return all;
}

}  // namespace vernier
