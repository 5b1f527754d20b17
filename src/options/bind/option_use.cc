#include "options/bind/option_use.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "options/bind/bind_runners.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/words/repeated_words.h"
#include "run/runner/runner_kinds.h"
#include "util/text/cast_grammar.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// Whether a runner of this kind ("onnxrt") is given, by its flag or by --runner.
bool HasRunner(const ParsedArgs& args, std::string_view kind) {
  const std::vector<RunnerChoice> runners = args.Runners();
  return std::any_of(runners.begin(), runners.end(), [&](const RunnerChoice& choice) {
    if (choice.kind != "runner") return choice.kind == kind;
    const Result<LabelledRunner> labelled = SplitRunner(choice.value);
    return !labelled.ok() || RunnerFlagWord(labelled->backend) == kind;
  });
}

// "--check-error-stat quantile": also where the value is for one output, "y:quantile".
bool HasValue(const ParsedArgs& args, std::string_view dest, std::string_view value) {
  const std::span<const std::string> words = args.List(dest);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == value || SplitAtLast(word).value == value;
  });
}

// What the options of a call stand beside.
struct Surroundings {
  const OptionTable& table;
  const ParsedArgs& args;
  size_t objects = 0;  // runners that no word names

  size_t Runners() const { return args.Runners().size() + objects; }
};

// A script may be completed, and a run file has its own runners.
bool IsKnownLater(const ParsedArgs& args) {
  return IsGiven<&RunCall::script>(args) || IsGiven<&RunCall::plan_file>(args);
}

// A file may hold several sides.
bool HasTwoSides(const Surroundings& around) {
  const ParsedArgs& args = around.args;
  const size_t runners = around.Runners();
  const GivenOption* const compared = FindGiven<&RunPlan::comparison_asked>(args);
  const size_t files = ReadField<&SavedSideWords::loaded>(args).size() +
                       (compared == nullptr ? 0 : compared->values.size());
  return IsKnownLater(args) || runners + files >= 2 || (runners == 0 && files == 1);
}

bool IsMet(const Surroundings& around, std::string_view need) {
  if (need == kAnyRunner) return around.Runners() > 0 || IsKnownLater(around.args);
  if (need == kTwoSides) return HasTwoSides(around);
  const size_t blank = need.find(' ');
  const OptionRow& row = *around.table.Find(need.substr(0, blank))->row;
  if (row.action == OptionAction::kRunner) return HasRunner(around.args, row.constant);
  if (blank == std::string_view::npos) return around.args.Has(row.dest);
  return HasValue(around.args, row.dest, need.substr(blank + 1));
}

// Empty where all is well: "--save-onnx" of --save-external-data.
std::string MissingFor(const Surroundings& around, const OptionRow& row) {
  std::string missing;
  for (const std::string_view need : around.table.NeedsOf(row)) {
    if (IsMet(around, need)) return "";
    missing += (missing.empty() ? "" : " or ") + std::string(need);
  }
  return missing;
}

// Where another flag puts it out of force: "--compare-func-script" of --tolerance.
std::string_view IdleBeside(const OptionTable& table, const ParsedArgs& args,
                            const OptionRow& row) {
  const FlagEntry* other = row.idle_beside.empty() ? nullptr : table.Find(row.idle_beside);
  return other != nullptr && args.Has(other->row->dest) ? row.idle_beside : "";
}

Status NoEffectBeside(const GivenOption& given, std::string_view other) {
  return InvalidArgument(std::string(given.flag) + " has no effect beside " + std::string(other) +
                         ": leave one of the two out");
}

// What is for one runner, where there are others alone. Without any, files may stand for them.
std::string MissingRunner(const Surroundings& around, const OptionRow& row) {
  const std::string_view runner = around.table.RunnerOf(row);
  if (runner.empty() || around.Runners() == 0) return "";
  return IsMet(around, runner) ? "" : std::string(runner);
}

// A sentence for each flag that puts others out of force.
std::vector<std::string> WarningsBeside(const OptionTable& table, const ParsedArgs& args) {
  std::map<std::string_view, std::vector<std::string>> idle;
  for (const GivenOption& given : args.given()) {
    const std::string_view other = IdleBeside(table, args, *given.row);
    if (other.empty()) continue;
    std::vector<std::string>& flags = idle[other];
    const std::string flag(given.flag);
    if (std::ranges::find(flags, flag) == flags.end()) flags.push_back(flag);
  }
  std::vector<std::string> warnings;
  for (const auto& [other, flags] : idle) {
    warnings.push_back(JoinWords(flags, " and ") + Verb(flags.size(), " has", " have") +
                       " no effect beside " + std::string(other));
  }
  return warnings;
}

bool SavesSomething(const OptionRow& row) {
  return row.dest.starts_with("save_") || row.dest == "external_data_path";
}

// Whatever was computed would be gone.
Status CheckPlace(const GivenOption& given) {
  const std::string_view dest = given.row->dest;  // a bare external file has a default
  const bool saves = dest.starts_with("save_") || dest == "output" || dest == "output_dir";
  if (!saves || given.values.empty() || !given.values.front().empty()) return {};
  const std::string_view what = given.row->metavar == "DIR" ? "a folder" : "a place to save at";
  return InvalidArgument(std::string(given.flag) + ": expected " + std::string(what) + ", got ''");
}

// What names nothing is mostly a variable of the shell that is not set.
Status CheckNamesSomething(const GivenOption& given) {
  const FileUse use = given.row->Files();
  const bool reads = use >= FileUse::kReads && use <= FileUse::kReadsByOutput;
  const bool takes_name = reads || given.row->metavar == "INPUT";
  const bool empty = std::ranges::any_of(given.values, &std::string::empty);
  if (!empty || !takes_name || given.flag.empty()) return {};
  return InvalidArgument(std::string(given.flag) + ": expected " + (reads ? "a file" : "an input") +
                         ", got ''");
}

// The flag of the one kind of runner that the option is for, by its group or by what it needs.
std::string_view RunnerFlagOf(const OptionTable& table, const OptionRow& row) {
  for (const std::string_view need : table.NeedsOf(row)) {
    const FlagEntry* const entry = table.Find(need);
    if (entry != nullptr && entry->row->action == OptionAction::kRunner) return need;
  }
  return table.RunnerOf(row);
}

bool IsLeftOut(const OptionRow& row, UseOf whose) {
  return whose == UseOf::kOwnOptions && row.origin == Origin::kPolygraphy;
}

Status CheckNeeds(const Surroundings& around, UseOf whose) {
  for (const GivenOption& given : around.args.given()) {
    const OptionRow& row = *given.row;
    if (row.origin == Origin::kPolygraphy && !SavesSomething(row)) continue;
    if (IsLeftOut(row, whose)) continue;
    const std::string_view beside = IdleBeside(around.table, around.args, row);
    if (!beside.empty()) return NoEffectBeside(given, beside);
    std::string missing = MissingFor(around, row);
    if (missing.empty() && SavesSomething(row)) missing = MissingRunner(around, row);
    if (missing.empty()) continue;
    const std::string flag(given.flag);
    return InvalidArgument(flag + " has no effect without " + missing + ": add that, or leave " +
                           flag + " out");
  }
  return {};
}

// What is the matter with a number whose text double has no room for; else empty. 0e-400 is 0.
std::string_view OutOfRange(std::string_view token) {
  const std::optional<double> number = ParseDouble(token);
  if (!number || std::ranges::none_of(token, IsDigit)) return "";
  if (std::isinf(*number)) return "beyond the largest float64, about 1.8e308";
  const std::string_view digits = token.substr(0, token.find_first_of("eE"));
  const bool is_zero = std::ranges::none_of(digits, [](char c) { return IsDigit(c) && c != '0'; });
  if (*number != 0 || is_zero) return "";
  return "below the smallest positive float64, about 4.9e-324; write 0 if that is meant";
}

// Lists of [NAME:]NUMBER, and single numbers.
Status CheckRange(const GivenOption& given) {
  const bool list = given.row->sets.one_each;
  if (!list && given.row->type != ValueType::kFloat) return {};
  const bool takes_inf = list && given.row->dest != "val_range";
  for (const std::string& word : given.values) {
    std::string_view rest = word;
    if (list) rest.remove_prefix(word.rfind(':') == std::string::npos ? 0 : word.rfind(':') + 1);
    while (!rest.empty()) {
      const size_t end = std::min(rest.find_first_of("[],"), rest.size());
      const std::string_view token = Trim(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const std::string_view why = OutOfRange(token);
      if (why.empty()) continue;
      return InvalidArgument(
          std::string(given.flag) + ": '" + std::string(token) + "' is " + std::string(why) +
          (takes_inf && why.starts_with("beyond") ? "; write inf if that is meant" : ""));
    }
  }
  return {};
}

}  // namespace

Status CheckOptionUse(const OptionTable& table, const ParsedArgs& args, UseOf whose,
                      size_t objects) {
  if (whose == UseOf::kAllOptions) VERNIER_TRY(CheckRepeatedWords(args));
  for (const GivenOption& given : args.given()) {
    if (IsLeftOut(*given.row, whose)) continue;
    VERNIER_TRY(CheckRange(given));
    VERNIER_TRY(CheckPlace(given));
    VERNIER_TRY(CheckNamesSomething(given));
  }
  return CheckNeeds({table, args, objects}, whose);
}

Status CheckIdleBeside(const ParsedArgs& args, std::string_view flag, std::string_view called) {
  for (const GivenOption& given : args.given()) {
    if (given.row->idle_beside == flag) return NoEffectBeside(given, called);
  }
  return {};
}

Status CheckRunnerOptions(const OptionTable& table, const ParsedArgs& own, std::string_view kind) {
  for (const GivenOption& given : own.given()) {
    const std::string_view flag = RunnerFlagOf(table, *given.row);
    if (flag.empty() || table.Find(flag)->row->constant == kind) continue;
    return InvalidArgument(std::string(given.flag) + " has no effect on '" + std::string(kind) +
                           "': it is an option of " + std::string(flag));
  }
  return {};
}

namespace {

// By itself, or as an option of one that is.
bool IsForTwoSides(const OptionTable& table, const OptionRow& row) {
  return std::ranges::any_of(row.needs, [&](std::string_view need) {
    if (need == kTwoSides) return true;
    const FlagEntry* other = need.starts_with("--") ? table.Find(need) : nullptr;
    return other != nullptr && other->row != &row && IsForTwoSides(table, *other->row);
  });
}

}  // namespace

std::vector<std::string> WithoutComparison(const OptionTable& table,
                                           std::span<const std::string> words) {
  std::vector<bool> dropped(words.size(), false);
  const ParseResult parsed = ParseCommandLine(table, words);
  for (const GivenOption& given : parsed.args.given()) {
    if (!IsForTwoSides(table, *given.row)) continue;
    const bool apart = words[given.position].find('=') == std::string::npos;
    const size_t count = 1 + (apart ? given.values.size() : 0);
    for (size_t i = 0; i < count; ++i) dropped[given.position + i] = true;
  }
  std::vector<std::string> kept;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!dropped[i]) kept.push_back(words[i]);
  }
  return kept;
}

std::vector<std::string> IdleOptionWarnings(const OptionTable& table, const ParsedArgs& args,
                                            size_t objects) {
  const Surroundings around{table, args, objects};
  // What is missing, and the flags without effect, in the order in which they were given.
  std::vector<std::pair<std::string, std::vector<std::string>>> idle;
  for (const GivenOption& given : args.given()) {
    std::string missing = MissingFor(around, *given.row);
    if (missing.empty()) missing = MissingRunner(around, *given.row);
    if (missing.empty() || given.flag.empty()) continue;
    auto at = std::ranges::find(idle, missing, [](const auto& entry) { return entry.first; });
    if (at == idle.end()) at = idle.insert(at, {missing, {}});
    const std::string flag(given.flag);
    if (std::ranges::find(at->second, flag) == at->second.end()) at->second.push_back(flag);
  }
  std::vector<std::string> warnings;
  for (const auto& [missing, flags] : idle) {
    std::string text;
    for (size_t i = 0; i < flags.size(); ++i) {
      text += (i == 0 ? "" : i + 1 == flags.size() ? " and " : ", ") + flags[i];
    }
    warnings.push_back(text + Verb(flags.size(), " has", " have") + " no effect without " +
                       missing);
  }
  for (std::string& warning : WarningsBeside(table, args)) warnings.push_back(std::move(warning));
  return warnings;
}

}  // namespace vernier
