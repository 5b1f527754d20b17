#include "options/bind/bind_debug_gate.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/table/groups.h"

namespace vernier {
namespace {

// What a run of the same model needs, too.
bool IsForTheRun(const OptionRow& row) {
  return OnnxRuntimeGroup().Has(row.dest) || SetsField<&FeedWords::shapes>(row) ||
         SetsField<&FeedWords::dims>(row) || SetsField<&ExecutionPlan::timeout_s>(row) ||
         DataLoaderGroup().Has(row.dest);
}

// Scripts of decisions and inputs, too.
bool IsInterpreter(const OptionRow& row) { return SetsField<&ExecutionPlan::python>(row); }

bool IsOfGate(const OptionRow& row) { return row.sets.part == &kPartTag<DecisionOptions>; }

void AddGivenWords(const ParsedArgs& args, bool (*wanted)(const OptionRow& row),
                   std::vector<std::string>& words) {
  for (const GivenOption& given : args.given()) {
    if (given.flag.empty() || !wanted(*given.row)) continue;
    words.emplace_back(given.flag);
    words.insert(words.end(), given.values.begin(), given.values.end());
  }
}

bool HasFlag(const std::vector<std::string>& words, std::initializer_list<std::string_view> flags) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    return std::ranges::any_of(flags, [&](std::string_view flag) {
      return word == flag || word.starts_with(std::string(flag) + "=");
    });
  });
}

// A decision that nothing hangs on would leave the check to the elements.
Status CheckGate(const std::vector<std::string>& words) {
  const bool gated = HasFlag(words, {"--max-flip-rate", "--max-clear-flips", "--max-drop"});
  if (!HasFlag(words, {"--decision"}) || gated) return {};
  return InvalidArgument(
      "--decision: a check needs a gate that it can miss: add --max-flip-rate, --max-clear-flips, "
      "or --labels and --max-drop");
}

void WarnOfNoise(const std::vector<std::string>& words, Logger& log) {
  if (HasFlag(words, {"--load-inputs", "--load-input-data", "--data-loader-script"})) return;
  log.Warning(
      "the inputs are random, and decisions that agree on noise prove nothing about real data: "
      "give real inputs with --load-inputs (tensors, or images as 'images/*.png') or "
      "--data-loader-script");
}

}  // namespace

Status AddDecisionGate(const ParsedArgs& args, Logger& log, CheckWords& check) {
  std::vector<std::string>& words = check.run_options;
  std::vector<std::string> gate;
  AddGivenWords(args, IsOfGate, gate);
  if (HasFlag(gate, {"--decision"})) {
    if (!check.command.empty()) {
      return InvalidArgument(
          "--decision: the command of --check judges by itself: leave one of the two out, or give "
          "options of vernier run after --");
    }
    if (words.empty()) {
      words.emplace_back("--onnxrt");
      AddGivenWords(args, IsForTheRun, words);
    }
    words.insert(words.end(), gate.begin(), gate.end());
    if (!HasFlag(words, {"--python"})) AddGivenWords(args, IsInterpreter, words);
    if (!HasFlag(words, {"--judge"})) words.insert(words.end(), {"--judge", "decisions"});
  }
  VERNIER_TRY(CheckGate(words));
  if (HasFlag(words, {"--decision"})) WarnOfNoise(words, log);
  return {};
}

}  // namespace vernier
