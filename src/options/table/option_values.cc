#include "options/table/option_values.h"

#include <algorithm>
#include <filesystem>

#include "compare/functions/metric_table.h"
#include "compare/outputs/postprocess.h"
#include "inputs/shape_spec.h"
#include "options/table/parsed_args.h"
#include "report/files/report_files.h"
#include "util/text/cast_grammar.h"
#include "util/text/close_matches.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

const NumberRule& NumberRuleOf(const OptionInput& input) { return input.given.row->sets.rule; }

Status Refuse(const OptionInput& input, std::string_view expected, const std::string& found) {
  return InvalidArgument(std::string(input.given.flag) + ": expected " + std::string(expected) +
                         ", got " + found);
}

Status RefuseNumber(const OptionInput& input, const std::string& found) {
  return Refuse(input, NumberRuleOf(input).expected, found);
}

bool Accepts(const OptionInput& input, double value) {
  const NumberRule& rule = NumberRuleOf(input);
  return rule.Accepts(value) || (rule.or_lenient && input.context.lenient);
}

// The value of a program, which gives one; nullptr for words.
const CastValue* TypedValue(const OptionInput& input) {
  const std::vector<KeyedValue>& entries = input.given.entries;
  return entries.size() == 1 ? &entries.front().value : nullptr;
}

// `[OUTPUT:]VALUE`.
KeyedWord SplitOutput(const std::string& word) {
  return word.find(':') == std::string::npos ? KeyedWord{"", word} : SplitAtLast(word);
}

template <typename T>
void Assign(const std::string& output, T value, PerOutput<T>& out) {
  if (output.empty()) {
    out.fallback = std::move(value);
  } else {
    out.entries.emplace_back(output, std::move(value));
  }
}

// `[OUTPUT:]NUMBER ...`; `convert` gives nullopt for what is no number of the kind.
template <typename T>
Status ReadNumbers(const OptionInput& input, std::optional<T> (*convert)(const CastValue&),
                   PerOutput<T>& out) {
  out = {};
  std::vector<KeyedValue> values = input.given.entries;
  if (values.empty()) {
    VERNIER_ASSIGN_OR_RETURN(values, ParseKeyedValues(input.given.values));
  }
  for (const KeyedValue& value : values) {
    const std::optional<T> number = convert(value.value);
    if (!number || !Accepts(input, static_cast<double>(*number))) {
      return RefuseNumber(input, FormatCastValue(value.value));
    }
    Assign(value.key, *number, out);
  }
  return {};
}

// `[OUTPUT:]logits[:axis=N]`.
struct LogitsWord {
  std::string_view output;  // empty: all
  std::string_view axis;
};

std::optional<LogitsWord> SplitLogitsWord(std::string_view word) {
  constexpr std::string_view kName = "logits";
  constexpr std::string_view kAxis = ":axis=";
  const size_t axis = word.rfind(kAxis);
  const bool whole = axis == std::string_view::npos;
  std::string_view head = word.substr(0, axis);
  if (!head.ends_with(kName)) return std::nullopt;
  head.remove_suffix(kName.size());
  if (head == ":" || (!head.empty() && !head.ends_with(':'))) return std::nullopt;
  if (!head.empty()) head.remove_suffix(1);
  return LogitsWord{head, whole ? "-1" : word.substr(axis + kAxis.size())};
}

// What a word of --compare stands for: a function, or the metrics of a group; empty: it is neither.
std::vector<CompareFunction> FunctionsNamed(std::string_view word) {
  if (const auto function = CompareFunctionFromName(word)) return {*function};
  if (IsLogitsWord(word)) return {CompareFunction::kLogits};
  std::vector<CompareFunction> functions;
  for (const MetricRow& metric : MetricTable()) {
    if (!metric.group.empty() && metric.group == word) functions.push_back(metric.function);
  }
  return functions;
}

Result<ErrorStat> ErrorStatOf(const std::string& word) {
  if (const std::optional<ErrorStat> stat = ErrorStatFromName(word)) return *stat;
  constexpr std::string_view kStats[] = {"max", "mean", "median", "elemwise", "quantile"};
  return InvalidArgument("Invalid choice for check_error_stat: " + word +
                         ".\nNote: Valid choices are: ['max', 'mean', 'median', 'elemwise', "
                         "'quantile']" +
                         DidYouMean(CloseMatches(word, kStats, 1)));
}

// A switch is a word of its own.
std::vector<std::string> WordsOf(const OptionInput& input) {
  if (input.given.row->arity == Arity::kNone) return {"1"};
  return input.given.values;
}

Status RefuseSecondShapes(std::string_view flag, const std::vector<ShapeSpec>& specs) {
  for (const ShapeSpec& spec : specs) {
    const auto count = std::ranges::count(specs, spec.name, &ShapeSpec::name);
    if (count == 1) continue;
    return InvalidArgument(std::string(flag) + ": expected one shape for '" + spec.name +
                           "', got " + std::to_string(count) +
                           ": the model takes one set of shapes");
  }
  return {};
}

}  // namespace

std::string TextOf(const OptionInput& input) {
  const GivenOption& given = input.given;
  return given.values.empty() ? std::string(given.row->constant) : given.values.back();
}

std::string InFolder(const std::string& folder, const std::string& path) {
  if (folder.empty() || path.empty() || fs::path(path).has_parent_path()) return path;
  return (fs::path(folder) / path).string();
}

Status ReadValue(const OptionInput& input, bool& out) {
  out = !input.given.row->turns_off;
  return {};
}

Status ReadValue(const OptionInput& input, int64_t& out) {
  std::optional<int64_t> value;
  VERNIER_TRY(ReadValue(input, value));
  out = value.value_or(out);
  return {};
}

Status ReadValue(const OptionInput& input, std::optional<int64_t>& out) {
  if (input.given.values.empty()) return {};
  const std::string text = TextOf(input);
  const CastValue* const typed = TypedValue(input);
  const std::optional<int64_t> value = typed != nullptr ? AsInt64(*typed) : ParseInt(text);
  if (!value) {
    return InvalidArgument(std::string(input.given.flag) + ": '" + text +
                           "' is beyond 64 bits; give a smaller number");
  }
  if (!Accepts(input, static_cast<double>(*value))) {
    return RefuseNumber(input, "'" + std::to_string(*value) + "'");
  }
  out = *value;
  return {};
}

Status ReadValue(const OptionInput& input, double& out) {
  const CastValue* const typed = TypedValue(input);
  const std::optional<double> value =
      typed != nullptr ? AsDouble(*typed) : ParseDouble(TextOf(input));
  if (value && !Accepts(input, *value)) return RefuseNumber(input, "'" + TextOf(input) + "'");
  out = value.value_or(out);
  return {};
}

Status ReadValue(const OptionInput& input, uint64_t& out) {
  const std::string word = TextOf(input);
  const Result<int64_t> bytes = ParseByteCount(word);
  if (bytes.ok() && *bytes > 0) {
    out = static_cast<uint64_t>(*bytes);
    return {};
  }
  const bool suffixed =
      !word.empty() && std::string_view("KMGkmg").find(word.back()) != std::string_view::npos;
  const std::optional<double> number =
      ParseDouble(suffixed ? word.substr(0, word.size() - 1) : word);
  if (!bytes.ok() && number && *number > 0) {
    return InvalidArgument(std::string(input.given.flag) + ": '" + word +
                           "' is too large: expected less than 2^63 bytes");
  }
  return Refuse(input, "a size > 0, for example 4G", "'" + word + "'");
}

Status ReadValue(const OptionInput& input, std::string& out) {
  out = TextOf(input);
  return {};
}

Status ReadValue(const OptionInput& input, std::optional<std::string>& out) {
  out = TextOf(input);
  return {};
}

Status ReadValue(const OptionInput& input, std::vector<std::string>& out) {
  if (input.given.row->action != OptionAction::kAppend) out.clear();
  out.insert(out.end(), input.given.values.begin(), input.given.values.end());
  return {};
}

Status ReadValue(const OptionInput& input, PerOutput<double>& out) {
  return ReadNumbers(input, AsDouble, out);
}

Status ReadValue(const OptionInput& input, PerOutput<int64_t>& out) {
  return ReadNumbers(input, AsInt64, out);
}

Status ReadValue(const OptionInput& input, PerOutput<ToleranceRule>& out) {
  out = {};
  for (const std::string& word : input.given.values) {
    const KeyedWord split = SplitOutput(word);
    if (split.value != "auto" && split.value != "fixed") {
      return Refuse(input, "auto or fixed",
                    "'" + split.value + "'; numbers are for --atol and --rtol");
    }
    Assign(split.key, split.value == "auto" ? ToleranceRule::kAuto : ToleranceRule::kFixed, out);
  }
  return {};
}

// Several statistics for one output must all hold; the words are read one by one, because a table
// would keep only the last of them.
Status ReadValue(const OptionInput& input, PerOutput<std::vector<ErrorStat>>& out) {
  out = {};
  for (const std::string& word : input.given.values) {
    const KeyedWord split = SplitOutput(word);
    VERNIER_ASSIGN_OR_RETURN(const ErrorStat stat, ErrorStatOf(split.value));
    const auto entry = std::find_if(out.entries.begin(), out.entries.end(),
                                    [&](const auto& e) { return e.first == split.key; });
    if (split.key.empty() && out.fallback) {
      out.fallback->push_back(stat);
    } else if (entry != out.entries.end()) {
      entry->second.push_back(stat);
    } else {
      Assign(split.key, std::vector<ErrorStat>{stat}, out);
    }
  }
  return {};
}

namespace {

// Polygraphy takes "top--5" for "top-5", and lets "top-0" change nothing.
bool IsClearTopK(const KeyedWord& word, const TopK& top) {
  constexpr std::string_view kPrefix = "top-";
  const std::string_view value = Trim(word.value);
  const bool number = value.size() > kPrefix.size() && IsDigit(value[kPrefix.size()]);
  return number && (top.k > 0 || !word.key.empty());
}

}  // namespace

Status ReadValue(const OptionInput& input, PerOutput<TopK>& out) {
  out = {};
  for (const std::string& word : input.given.values) {
    const KeyedWord split = SplitOutput(word);
    VERNIER_ASSIGN_OR_RETURN(const TopK top, ParseTopK(split.value));
    if (!input.context.lenient && !IsClearTopK(split, top)) {
      return Refuse(input, "[NAME:]top-K with K >= 1 (NAME:top-0 leaves one output as it is)",
                    "'" + word + "'");
    }
    Assign(split.key, top, out);
  }
  return {};
}

Status ReadValue(const OptionInput& input, std::vector<CompareFunction>& out) {
  out.clear();
  for (const std::string& word : input.given.values) {
    const std::vector<CompareFunction> named = FunctionsNamed(word);
    if (named.empty()) return InvalidArgument("--compare: there is no function '" + word + "'");
    for (const CompareFunction function : named) {
      if (std::find(out.begin(), out.end(), function) == out.end()) out.push_back(function);
    }
  }
  return {};
}

bool IsLogitsWord(std::string_view word) { return SplitLogitsWord(word).has_value(); }

Status ReadLogitsAxes(const OptionInput& input, PerOutput<int64_t>& out) {
  out = {};
  for (const std::string& word : input.given.values) {
    const std::optional<LogitsWord> logits = SplitLogitsWord(word);
    if (!logits) continue;
    const std::optional<int64_t> axis = ParseInt(logits->axis);
    if (!axis)
      return Refuse(input, "[OUTPUT:]logits[:axis=N] with a whole number", "'" + word + "'");
    const bool again = logits->output.empty()
                           ? out.fallback.has_value()
                           : std::ranges::any_of(out.entries, [&](const auto& entry) {
                               return entry.first == logits->output;
                             });
    if (again) return Refuse(input, "one axis for an output's logits", "another in '" + word + "'");
    Assign(std::string(logits->output), *axis, out);
  }
  return {};
}

Status ReadValue(const OptionInput& input, ScriptFunction& out) {
  const std::string text = TextOf(input);
  std::error_code ignored;
  const size_t colon = text.rfind(':');
  const bool whole = colon == std::string::npos || fs::exists(text, ignored);
  out.path = text.substr(0, whole ? text.size() : colon);
  out.function = whole ? std::string(input.given.row->sets.key) : text.substr(colon + 1);
  return {};
}

Status ReadValue(const OptionInput& input, std::vector<ReportFile>& out) {
  for (const std::string& path : input.given.values) {
    VERNIER_ASSIGN_OR_RETURN(
        ReportFile report,
        ReportFileFor(std::string(input.given.flag), InFolder(input.context.output_dir, path)));
    out.push_back(std::move(report));
  }
  return {};
}

Status ReadValue(const OptionInput& input, std::vector<TensorInfo>& out) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<ShapeSpec> specs,
                           ParseShapeSpecs(input.given.values, Strictness::kStrict));
  if (!input.context.lenient) VERNIER_TRY(RefuseSecondShapes(input.given.flag, specs));
  out.clear();
  for (const ShapeSpec& spec : KeepLastShapes(specs)) {
    if (!spec.shape) continue;
    out.push_back({spec.name, spec.dtype.value_or(DType::kUndefined), spec.shape});
  }
  return {};
}

Status ReadValue(const OptionInput& input, PairPlan& out) {
  const std::string words = TextOf(input);
  out = {};
  if (words == "neighbours") return {};
  if (words == "first" || words == "all") {
    out.rule = words == "first" ? PairRule::kFirst : PairRule::kAll;
    return {};
  }
  out.rule = PairRule::kNamed;
  for (std::string_view text = words; !text.empty();) {
    const std::string_view pair = text.substr(0, text.find(','));
    const size_t colon = pair.find(':');
    if (colon == 0 || colon == std::string_view::npos || colon + 1 == pair.size()) {
      return Refuse(input, "neighbours, first, all or A:B,...", "'" + std::string(pair) + "'");
    }
    out.named.emplace_back(pair.substr(0, colon), pair.substr(colon + 1));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
  }
  return {};
}

bool IsForBackend(const OptionInput& input, std::string_view backend) {
  const std::string_view own = input.given.row->sets.backend;
  return own.empty() || own == backend;
}

Status AddSessionOption(const OptionInput& input, RunnerPlan& runner) {
  for (std::string& word : WordsOf(input)) {
    runner.session_options.emplace_back(input.given.row->sets.key, std::move(word));
  }
  return {};
}

Status AddLoadOption(const OptionInput& input, RunnerPlan& runner) {
  for (std::string& word : WordsOf(input)) {
    runner.backend_options.emplace_back(input.given.row->sets.key, std::move(word));
  }
  return {};
}

Status ReadPlace(const OptionInput& input, std::string& out) {
  out = InFolder(input.context.output_dir, TextOf(input));
  return {};
}

Status ReadFolder(const OptionInput& input, std::string& out) {
  if (TextOf(input).empty()) return Refuse(input, "a folder", "''");
  return ReadPlace(input, out);
}

}  // namespace vernier
