// Parses command lines for the parser's oracle: one JSON list of words a line on stdin, one JSON
// object a line on stdout. With --flags it lists the flag names instead.
//
// Values by dest: true/false for switches, a number for counts, {"s": word}, {"i": integer},
// {"big": word} beyond 64 bits, {"f": C99 hexadecimal} or [] for single values, lists of them for
// lists, null for a bare flag without a constant.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "options/table/command_options.h"
#include "options/words/arg_parser.h"
#include "options/words/flag_suggestion.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

using Json = nlohmann::json;

Json ScalarJson(const OptionRow& row, const std::string& word) {
  if (row.type == ValueType::kInt) {
    if (const auto value = ParseInt(word)) return {{"i", *value}};
    return {{"big", word}};
  }
  if (row.type == ValueType::kFloat) {
    char text[64];
    std::snprintf(text, sizeof(text), "%a", ParseDouble(word).value_or(0));
    return {{"f", text}};
  }
  return {{"s", word}};
}

Json OccurrenceJson(const OptionRow& row, std::span<const std::string> words) {
  const bool is_list = row.arity == Arity::kStar || row.arity == Arity::kPlus;
  if (!is_list && words.size() == 1) return ScalarJson(row, words[0]);
  if (row.arity == Arity::kOptional && words.empty()) {
    return row.constant.empty() ? Json() : Json{{"s", std::string(row.constant)}};
  }
  Json list = Json::array();
  for (const std::string& word : words) list.push_back(ScalarJson(row, word));
  return list;
}

Json DestJson(const ParsedArgs& args, const OptionRow& row) {
  if (row.action == OptionAction::kCount) return args.Count(row.dest);
  if (row.action == OptionAction::kRunner) {
    Json runners = Json::array();
    for (const RunnerChoice& runner : args.Runners()) runners.push_back(std::string(runner.kind));
    return runners;
  }
  if (row.arity == Arity::kNone) return !row.turns_off;
  if (row.action != OptionAction::kAppend) return OccurrenceJson(row, args.List(row.dest));
  Json all = Json::array();
  for (const auto words : args.Occurrences(row.dest)) all.push_back(OccurrenceJson(row, words));
  return all;
}

Json ResultJson(const OptionTable& table, const std::vector<std::string>& words) {
  const ParseResult result = ParseCommandLine(table, words);
  if (result.end == ParseEnd::kHelp) return {{"help", true}};
  if (result.end == ParseEnd::kUsageError) return {{"error", result.error}};
  Json values = Json::object();
  for (const GivenOption& given : result.args.given()) {
    values[std::string(given.row->dest)] = DestJson(result.args, *given.row);
  }
  Json answer = {{"values", values}, {"unknown", result.unknown}};
  for (const std::string& word : result.unknown) {
    if (const auto nearest = SuggestFlag(table, word)) answer["nearest"].push_back(*nearest);
  }
  return answer;
}

Json FlagsJson(const OptionTable& table) {
  Json flags = {{"peer", Json::array()}, {"ours", Json::array()}};
  for (const FlagEntry& entry : table.flags()) {
    flags[entry.row->origin == Origin::kPolygraphy ? "peer" : "ours"].push_back(
        std::string(entry.flag));
  }
  return flags;
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const vernier::OptionTable table = vernier::RunOptionTable();
  if (argc > 1 && std::string_view(argv[1]) == "--flags") {
    std::cout << vernier::FlagsJson(table).dump() << '\n';
    return 0;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto words = nlohmann::json::parse(line).get<std::vector<std::string>>();
    std::cout << vernier::ResultJson(table, words).dump() << '\n';
  }
  return 0;
}
