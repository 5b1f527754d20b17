#include "cli/bind_compare.h"

#include <algorithm>
#include <cmath>

#include "compare/metric_table.h"
#include "compare/postprocess.h"
#include "util/cast_grammar.h"
#include "util/close_matches.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// More would fill the screen, not explain more.
constexpr int64_t kMostWorst = 10000;

struct FlagWords {
  std::string flag;
  std::span<const std::string> words;
};

FlagWords WordsOf(const ParsedArgs& args, std::string_view dest) {
  return {std::string(args.Flag(dest)), args.List(dest)};
}

Status BadValue(const FlagWords& flag, const std::string& expected, const CastValue& found) {
  return InvalidArgument(flag.flag + ": expected " + expected + ", got " + FormatCastValue(found));
}

// What a value of a flag may be.
struct NumberRule {
  std::string expected;
  bool (*accepts)(double);
};

const NumberRule kTolerance = {"a number >= 0", [](double v) { return v >= 0; }};
const NumberRule kShare = {"a number from 0 to 1", [](double v) { return v >= 0 && v <= 1; }};
const NumberRule kExcess = {"a number >= 1", [](double v) { return v >= 1; }};
const NumberRule kAnyNumber = {"a number", [](double v) { return !std::isnan(v); }};

// Reads `[OUTPUT:]NUMBER` words into a per-output table.
Status BindNumbers(const FlagWords& flag, const NumberRule& rule, PerOutput<double>& out) {
  if (flag.words.empty()) return {};
  VERNIER_ASSIGN_OR_RETURN(const std::vector<KeyedValue> values, ParseKeyedValues(flag.words));
  for (const KeyedValue& value : values) {
    const std::optional<double> number = AsDouble(value.value);
    if (!number || !rule.accepts(*number)) return BadValue(flag, rule.expected, value.value);
    if (value.key.empty()) {
      out.fallback = *number;
    } else {
      out.entries.emplace_back(value.key, *number);
    }
  }
  return {};
}

Status BindToleranceRules(const ParsedArgs& args, CompareOptions& options) {
  PerOutput<ToleranceRule>& out = options.tolerance;
  for (const std::string& word : args.List("tolerance")) {
    const bool keyed = word.find(':') != std::string::npos;
    const KeyedWord split = keyed ? SplitAtLast(word) : KeyedWord{"", word};
    if (split.value != "auto" && split.value != "fixed") {
      return InvalidArgument("--tolerance: expected auto or fixed, got '" + split.value +
                             "'; numbers are for --atol and --rtol");
    }
    const ToleranceRule rule = split.value == "auto" ? ToleranceRule::kAuto : ToleranceRule::kFixed;
    if (split.key.empty()) {
      out.fallback = rule;
    } else {
      out.entries.emplace_back(split.key, rule);
    }
  }
  if (args.Has("noise_floor") && !out.fallback) out.fallback = ToleranceRule::kAuto;
  const bool measured = out.fallback == ToleranceRule::kAuto ||
                        std::ranges::any_of(out.entries, [](const auto& entry) {
                          return entry.second == ToleranceRule::kAuto;
                        });
  if (args.Has("noise_floor") && !measured) {
    return InvalidArgument(
        "--noise-floor measures error bounds for --tolerance auto, and --tolerance fixed has none: "
        "give one of the two");
  }
  if (out.fallback != ToleranceRule::kAuto) return {};
  for (const auto& [flag, table] :
       {std::pair("--atol", &options.atol), {"--rtol", &options.rtol}}) {
    if (!table->fallback) continue;
    return InvalidArgument(std::string(flag) +
                           ": a tolerance for all outputs leaves nothing to --tolerance auto; give "
                           "one of the two, or " +
                           flag + " OUTPUT:X for single outputs");
  }
  return {};
}

Status BindIndexTolerance(const FlagWords& flag, PerOutput<int64_t>& out) {
  if (flag.words.empty()) return {};
  VERNIER_ASSIGN_OR_RETURN(const std::vector<KeyedValue> values, ParseKeyedValues(flag.words));
  for (const KeyedValue& value : values) {
    const std::optional<int64_t> number = AsInt64(value.value);
    if (!number || *number < 0) return BadValue(flag, "a whole number >= 0", value.value);
    if (value.key.empty()) {
      out.fallback = *number;
    } else {
      out.entries.emplace_back(value.key, *number);
    }
  }
  return {};
}

// Several statistics for one output must all hold; the words are read one by one, because a table
// would keep only the last of them.
Status BindErrorStats(const FlagWords& flag, PerOutput<std::vector<ErrorStat>>& out) {
  for (const std::string& word : flag.words) {
    const bool keyed = word.find(':') != std::string::npos;
    const KeyedWord split = keyed ? SplitAtLast(word) : KeyedWord{"", word};
    const std::optional<ErrorStat> stat = ErrorStatFromName(split.value);
    if (!stat) {
      constexpr std::string_view kStats[] = {"max", "mean", "median", "elemwise", "quantile"};
      const std::vector<std::string> near = CloseMatches(split.value, kStats, 1);
      return InvalidArgument("Invalid choice for check_error_stat: " + split.value +
                             ".\nNote: Valid choices are: ['max', 'mean', 'median', 'elemwise', "
                             "'quantile']" +
                             (near.empty() ? "" : "; did you mean '" + near.front() + "'?"));
    }
    if (split.key.empty()) {
      if (!out.fallback) out.fallback.emplace();
      out.fallback->push_back(*stat);
      continue;
    }
    const auto entry = std::find_if(out.entries.begin(), out.entries.end(),
                                    [&](const auto& e) { return e.first == split.key; });
    if (entry == out.entries.end()) {
      out.entries.push_back({split.key, {*stat}});
    } else {
      entry->second.push_back(*stat);
    }
  }
  return {};
}

void AddFunction(CompareFunction function, std::vector<CompareFunction>& functions) {
  if (std::find(functions.begin(), functions.end(), function) == functions.end()) {
    functions.push_back(function);
  }
}

// What a word of --compare stands for: a function, or the metrics of a group; empty: it is neither.
std::vector<CompareFunction> FunctionsNamed(std::string_view word) {
  if (const auto function = CompareFunctionFromName(word)) return {*function};
  std::vector<CompareFunction> functions;
  for (const MetricRow& metric : MetricTable()) {
    if (!metric.group.empty() && metric.group == word) functions.push_back(metric.function);
  }
  return functions;
}

Status BindFunctions(const ParsedArgs& args, CompareOptions& options) {
  if (!args.Has("compare")) return {};
  options.functions.clear();
  for (const std::string& word : args.List("compare")) {
    const std::vector<CompareFunction> named = FunctionsNamed(word);
    if (named.empty()) return InvalidArgument("--compare: there is no function '" + word + "'");
    for (const CompareFunction function : named) AddFunction(function, options.functions);
  }
  return {};
}

Status BindPostprocess(const ParsedArgs& args, RunPlan& plan, Logger& logger) {
  for (const std::string& word : args.List("postprocess")) {
    const bool keyed = word.find(':') != std::string::npos;
    const KeyedWord split = keyed ? SplitAtLast(word) : KeyedWord{"", word};
    VERNIER_ASSIGN_OR_RETURN(const TopK top, ParseTopK(split.value));
    if (split.key.empty()) {
      if (top.k == 0 && !plan.lenient) {
        logger.Warning("--postprocess " + word + " leaves outputs as they are");
      }
      plan.postprocess.fallback = top;
    } else {
      plan.postprocess.entries.emplace_back(split.key, top);
    }
  }
  return {};
}

Status BindMismatchShare(const ParsedArgs& args, CompareOptions& options) {
  VERNIER_TRY(BindNumbers(WordsOf(args, "max_mismatch_share"), kShare, options.max_mismatch_share));
  return BindNumbers(WordsOf(args, "max_mismatch_excess"), kExcess, options.max_mismatch_excess);
}

Status BindWorst(const ParsedArgs& args, CompareOptions& options) {
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> count, args.Int("worst"));
  if (count && (*count < 0 || *count > kMostWorst)) {
    return InvalidArgument("--worst: expected a whole number from 0 to " +
                           std::to_string(kMostWorst) + ", got " + std::to_string(*count));
  }
  options.worst_elements = count.value_or(options.worst_elements);
  return {};
}

std::string NameOf(const ParsedArgs& args, std::string_view dest) {
  const auto given = std::find_if(args.given().begin(), args.given().end(),
                                  [&](const GivenOption& g) { return g.row->dest == dest; });
  return given == args.given().end() ? std::string(dest) : given->row->NameInErrors();
}

struct FunctionFlags {
  CompareFunction function;
  std::vector<std::string> names;  // choices of --compare, any of which uses the flags
  std::vector<std::string_view> dests;
};

std::vector<FunctionFlags> FlagsOfFunctions() {
  std::vector<FunctionFlags> all = {
      {CompareFunction::kSimple,
       {"simple"},
       {"check_error_stat", "tolerance", "noise_floor", "rtol", "atol", "error_quantile",
        "infinities_compare_equal", "max_mismatch_share", "max_mismatch_excess"}},
      {CompareFunction::kIndices, {"indices"}, {"index_tolerance"}}};
  for (const MetricRow* metric : MetricsByOrigin()) {
    FunctionFlags& row = all.emplace_back(
        FunctionFlags{metric->function, {std::string(metric->name)}, {metric->threshold}});
    if (!metric->group.empty()) row.names.emplace_back(metric->group);
  }
  return all;
}

// A threshold of a function that does not run would be ignored in silence.
void WarnOfUnusedThresholds(const ParsedArgs& args, const CompareOptions& options, Logger& logger) {
  const std::span<const std::string> given = args.List("compare");
  const std::vector<std::string> selected =
      given.empty() ? std::vector<std::string>{"simple"}
                    : std::vector<std::string>(given.begin(), given.end());
  for (const FunctionFlags& row : FlagsOfFunctions()) {
    const auto& functions = options.functions;
    const bool runs =
        std::find(functions.begin(), functions.end(), row.function) != functions.end();
    if (runs) continue;
    for (const std::string_view dest : row.dests) {
      if (!args.Has(dest)) continue;
      logger.Warning("Option: " + NameOf(args, dest) +
                     " is only valid for comparison function(s): " + FormatPythonList(row.names) +
                     ". The selected comparison functions are: " + FormatPythonList(selected) +
                     ", so this option will be ignored.");
    }
  }
}

bool HasElemwise(std::span<const ErrorStat> stats) {
  return stats.empty() ||
         std::find(stats.begin(), stats.end(), ErrorStat::kElemwise) != stats.end();
}

}  // namespace

Status CheckAverageFlags(const CompareOptions& options) {
  if (!options.check_average) return {};
  if (options.fail_fast) {
    return InvalidArgument("--check-average cannot be combined with --fail-fast.");
  }
  const std::vector<CompareFunction>& functions = options.functions;
  if (!functions.empty() && functions.front() == CompareFunction::kScript) {
    return InvalidArgument(
        "The provided compare_func does not support average comparison. Use a compare_func that "
        "produces averageable metrics (--compare) with check_average=True.");
  }
  bool elemwise = HasElemwise(options.check_error_stat.Lookup("", {}));
  for (const auto& [name, stats] : options.check_error_stat.entries) elemwise |= HasElemwise(stats);
  if (elemwise &&
      std::find(functions.begin(), functions.end(), CompareFunction::kSimple) != functions.end()) {
    return InvalidArgument(
        "--check-average is not supported with check_error_stat='elemwise' (the default). Specify "
        "--check-error-stat max, mean, median, or quantile.");
  }
  return CheckAverageOptions(options);
}

Status BindCompare(const ParsedArgs& args, RunPlan& plan, Logger& logger) {
  CompareOptions& options = plan.compare;
  VERNIER_TRY(BindFunctions(args, options));
  VERNIER_TRY(BindNumbers(WordsOf(args, "rtol"), kTolerance, options.rtol));
  VERNIER_TRY(BindNumbers(WordsOf(args, "atol"), kTolerance, options.atol));
  VERNIER_TRY(BindToleranceRules(args, options));
  plan.noise_floor = args.Has("noise_floor");
  VERNIER_TRY(BindErrorStats(WordsOf(args, "check_error_stat"), options.check_error_stat));
  VERNIER_TRY(BindNumbers(WordsOf(args, "error_quantile"), kShare, options.error_quantile));
  VERNIER_TRY(BindIndexTolerance(WordsOf(args, "index_tolerance"), options.index_tolerance));
  for (const MetricRow* metric : MetricsByOrigin()) {
    const NumberRule& rule = metric->higher_is_better ? kAnyNumber : kTolerance;
    VERNIER_TRY(
        BindNumbers(WordsOf(args, metric->threshold), rule, options.thresholds[metric->function]));
  }
  VERNIER_TRY(BindMismatchShare(args, options));
  VERNIER_TRY(BindWorst(args, options));
  options.infinities_compare_equal = args.Has("infinities_compare_equal");
  options.no_shape_check = args.Has("no_shape_check");
  options.fail_fast = args.Has("fail_fast");
  options.check_average = args.Has("check_average");
  options.lenient = plan.lenient;
  plan.validate = args.Has("validate");
  WarnOfUnusedThresholds(args, options, logger);
  return BindPostprocess(args, plan, logger);
}

}  // namespace vernier
