// A RunPlan as the file of a run.
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "compare/functions/metric_table.h"
#include "record/schema/record_json.h"
#include "util/text/close_matches.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"
#include "vernier/run_plan.h"

namespace vernier {
namespace {

using PlanJson = RecordJson;
using OptionPairs = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kVersionKey = "vernier_run";
constexpr int kPlanVersion = 1;
// The key of what applies to every output without an entry of its own, as in --rtol.
constexpr const char* kAllOutputs = "";

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

template <typename T>
concept Enumerated = std::is_enum_v<T> && !std::same_as<T, CompareFunction>;

// Writes what is not as a new plan has it.
class PlanWriter {
 public:
  template <typename T>
  void operator()(const char* key, const T& value, const FieldRule& /*rule*/ = {}) {
    json_[key] = JsonOf(value);
  }
  template <typename T>
  void operator()(const char* key, const std::optional<T>& value, const FieldRule& /*rule*/ = {}) {
    if (value) json_[key] = JsonOf(*value);
  }

  void Thresholds(const PerMetric<PerOutput<double>>& thresholds) {
    for (const MetricRow& metric : MetricTable()) {
      (*this)(metric.threshold.data(), thresholds[metric.function]);
    }
  }

  // Without what a new part has, too.
  template <typename Part>
  static PlanJson Written(const Part& part) {
    static const PlanJson kNew = AllOf(Part());
    PlanJson json = PlanJson::object();
    const PlanJson all = AllOf(part);
    for (const auto& [key, value] : all.items()) {
      const auto same = kNew.find(key);
      if (same == kNew.end() || *same != value) json[key] = value;
    }
    return json;
  }

  template <typename Part>
  static PlanJson AllOf(const Part& part) {
    PlanWriter writer;
    Part::EachField(part, writer);
    return std::move(writer.json_);
  }

 private:
  static PlanJson JsonOf(bool value) { return value; }
  static PlanJson JsonOf(double value) { return NumberJson(value); }
  static PlanJson JsonOf(std::integral auto value) { return value; }
  static PlanJson JsonOf(const std::string& text) { return text; }
  static PlanJson JsonOf(CompareFunction function) { return CompareFunctionName(function); }
  static PlanJson JsonOf(Enumerated auto value) {
    return NamesOf(value)[static_cast<size_t>(value)];
  }
  static PlanJson JsonOf(const std::pair<std::string, std::string>& pair) {
    return PlanJson::array({pair.first, pair.second});
  }
  template <typename T>
  static PlanJson JsonOf(const PerOutput<T>& values) {
    PlanJson json = PlanJson::object();
    if (values.fallback) json[kAllOutputs] = JsonOf(*values.fallback);
    for (const auto& [output, value] : values.entries) json[output] = JsonOf(value);
    return json;
  }
  template <typename T>
  static PlanJson JsonOf(const std::vector<T>& items) {
    PlanJson list = PlanJson::array();
    for (const T& item : items) list.push_back(JsonOf(item));
    return list;
  }
  template <typename Part>
  requires std::is_class_v<Part>
  static PlanJson JsonOf(const Part& part) { return Written(part); }

  PlanJson json_ = PlanJson::object();
};

// Reads what is there, and keeps the rest. The first thing that is wrong is the error of the whole.
class PlanReader {
 public:
  PlanReader(const PlanJson& json, std::string path, std::string& error)
      : json_(json), path_(std::move(path)), error_(error) {
    if (!json.is_object()) Complain(path_, "an object");
  }

  template <typename T>
  void operator()(const char* key, T& value, const FieldRule& /*rule*/ = {}) {
    known_.push_back(key);
    if (!json_.is_object()) return;
    const auto found = json_.find(key);
    if (found != json_.end()) Read(*found, Place(key), value);
  }

  void Thresholds(PerMetric<PerOutput<double>>& thresholds) {
    for (const MetricRow& metric : MetricTable()) {
      (*this)(metric.threshold.data(), thresholds[metric.function]);
    }
  }

  // To be called last: a misspelt setting must not pass in silence.
  void CheckNames() {
    if (!json_.is_object()) return;
    for (const auto& [key, value] : json_.items()) {
      if (key == kVersionKey || std::find(known_.begin(), known_.end(), key) != known_.end()) {
        continue;
      }
      if (!error_.empty()) return;
      error_ =
          "there is no setting '" + Place(key) + "'" + DidYouMean(CloseMatches(key, known_, 1));
    }
  }

 private:
  std::string Place(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }

  void Complain(const std::string& place, const std::string& expected) {
    if (!error_.empty()) return;
    error_ = (place.empty() ? "the file" : "'" + place + "'") + ": expected " + expected;
  }

  void Read(const PlanJson& json, const std::string& place, bool& value) {
    if (!json.is_boolean()) return Complain(place, "true or false");
    value = json.get<bool>();
  }
  void Read(const PlanJson& json, const std::string& place, std::string& text) {
    if (!json.is_string()) return Complain(place, "text");
    text = json.get<std::string>();
  }
  void Read(const PlanJson& json, const std::string& place, double& number) {
    const std::string text = json.is_string() ? json.get<std::string>() : "";
    for (const double value : {HUGE_VAL, -HUGE_VAL}) {
      if (text == NumberJson(value).get<std::string>()) return void(number = value);
    }
    if (!json.is_number()) return Complain(place, "a number");
    number = json.get<double>();
  }
  void Read(const PlanJson& json, const std::string& place, int64_t& number) {
    if (!json.is_number_integer()) return Complain(place, "a whole number");
    if (json.is_number_unsigned() && !std::in_range<int64_t>(json.get<uint64_t>())) {
      return Complain(place, "a smaller number");
    }
    number = json.get<int64_t>();
  }
  void Read(const PlanJson& json, const std::string& place, uint64_t& number) {
    if (!json.is_number_unsigned()) return Complain(place, "a whole number >= 0");
    number = json.get<uint64_t>();
  }
  void Read(const PlanJson& json, const std::string& place, CompareFunction& function) {
    const auto named = CompareFunctionFromName(json.is_string() ? json.get<std::string>() : "");
    if (!named) return Complain(place, "the name of a comparison function");
    function = *named;
  }
  void Read(const PlanJson& json, const std::string& place, Enumerated auto& value) {
    const auto names = NamesOf(value);
    const std::string word = json.is_string() ? json.get<std::string>() : "";
    const auto found = std::find(names.begin(), names.end(), word);
    if (found != names.end()) {
      value = static_cast<std::remove_cvref_t<decltype(value)>>(found - names.begin());
      return;
    }
    std::string all;
    for (const std::string_view name : names) {
      all += (all.empty() ? "" : ", ") + ("'" + std::string(name) + "'");
    }
    Complain(place, "one of " + all);
  }
  void Read(const PlanJson& json, const std::string& place,
            std::pair<std::string, std::string>& pair) {
    if (!json.is_array() || json.size() != 2) return Complain(place, "a list of two texts");
    Read(json[0], place + "[0]", pair.first);
    Read(json[1], place + "[1]", pair.second);
  }
  // Its text says all but the output.
  void Read(const PlanJson& json, const std::string& place, DecisionPlan& decision) {
    DecisionPlan words;
    PlanReader reader(json, place, error_);
    DecisionPlan::EachField(words, reader);
    reader.CheckNames();
    if (!error_.empty()) return;
    Result<DecisionPlan> parsed = ParseDecision(words.text);
    if (!parsed.ok()) {
      error_ = "'" + place + ".decide': " + parsed.status().message();
      return;
    }
    if (!parsed->output.empty()) {
      error_ = "'" + place + ".decide': '" + words.text + "' names an output: give '" +
               parsed->text + "' here and '" + parsed->output + "' as 'output'";
      return;
    }
    decision = *std::move(parsed);
    decision.output = std::move(words.output);
  }
  template <typename T>
  void Read(const PlanJson& json, const std::string& place, std::optional<T>& value) {
    if (!json.is_null()) Read(json, place, value.emplace());
  }
  template <typename T>
  void Read(const PlanJson& json, const std::string& place, PerOutput<T>& values) {
    if (!json.is_object()) return Complain(place, "an object with a value for each output");
    for (const auto& [output, value] : json.items()) {
      T& into = output == kAllOutputs ? values.fallback.emplace()
                                      : values.entries.emplace_back(output, T()).second;
      Read(value, place + "." + output, into);
    }
  }
  template <typename T>
  void Read(const PlanJson& json, const std::string& place, std::vector<T>& items) {
    if (!json.is_array()) return Complain(place, "a list");
    items.clear();
    for (const PlanJson& item : json) {
      const std::string at = place + "[" + std::to_string(items.size()) + "]";
      Read(item, at, items.emplace_back());
    }
  }
  template <typename Part>
  requires std::is_class_v<Part>
  void Read(const PlanJson& json, const std::string& place, Part& part) {
    PlanReader reader(json, place, error_);
    Part::EachField(part, reader);
    reader.CheckNames();
  }

  const PlanJson& json_;
  std::string path_;
  std::string& error_;
  std::vector<std::string_view> known_;
};

// Looks at what a tree of values no longer shows: where the text breaks JSON's rules, and keys that
// stand twice in one object, of which parsers keep the last.
class TextCheck {
 public:
  explicit TextCheck(const std::string& text) : text_(text) {}

  // Empty where nothing is wrong.
  const std::string& error() const { return error_; }

  bool null() { return Value(); }
  bool boolean(bool) { return Value(); }
  bool number_integer(PlanJson::number_integer_t) { return Value(); }
  bool number_unsigned(PlanJson::number_unsigned_t) { return Value(); }
  bool number_float(PlanJson::number_float_t, const std::string&) { return Value(); }
  bool string(std::string&) { return Value(); }
  bool binary(PlanJson::binary_t&) { return Value(); }
  bool start_object(size_t) { return Open(false); }
  bool start_array(size_t) { return Open(true); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool key(const std::string& name) {
    Level& level = levels_.back();
    level.place = name;
    if (level.keys.insert(name).second) return true;
    error_ = "'" + Place() + "' is given twice: leave one of them out";
    return false;
  }
  bool parse_error(size_t position, const std::string& token, const nlohmann::detail::exception&) {
    const std::string_view before = std::string_view(text_).substr(0, position);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::string place = Place();
    error_ = "line " + std::to_string(line) + (place.empty() ? "" : ", at '" + place + "'") +
             ": not valid JSON near '" + token + "'";
    return false;
  }

 private:
  struct Level {
    bool is_list = false;
    size_t items = 0;
    std::string place;  // of the value that is being read: its key
    std::set<std::string> keys = {};
  };

  bool Value() {
    if (!levels_.empty()) ++levels_.back().items;
    return true;
  }
  bool Open(bool is_list) {
    levels_.push_back({.is_list = is_list, .place = {}});
    return true;
  }
  bool Close() {
    levels_.pop_back();
    return Value();
  }
  std::string Place() const {
    std::string place;
    for (const Level& level : levels_) {
      if (level.is_list) {
        place += "[" + std::to_string(level.items) + "]";
      } else {
        place += (place.empty() || level.place.empty() ? "" : ".") + level.place;
      }
    }
    return place;
  }

  const std::string& text_;
  std::string error_;
  std::vector<Level> levels_;
};

}  // namespace

std::string ToJson(const RunPlan& plan) {
  PlanJson json = PlanJson::object();
  json[kVersionKey] = kPlanVersion;
  json.update(PlanWriter::Written(plan));
  return DumpJson(json, 2) + "\n";
}

Result<RunPlan> ReadPlan(const std::string& text, const std::string& what) {
  TextCheck check(text);
  const bool is_object = Trim(text).starts_with('{');
  if (is_object && !PlanJson::sax_parse(text, &check)) {
    return InvalidArgument("'" + what + "': " + check.error());
  }
  const PlanJson json = PlanJson::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains(kVersionKey)) {
    return Malformed("'" + what + "' is not the file of a run: it is what --save-run-file writes");
  }
  const PlanJson& version = json[kVersionKey];
  if (!version.is_number_integer() || version.get<int64_t>() > kPlanVersion) {
    return Malformed("'" + what + "' has the version " + version.dump() +
                     "; this vernier reads up to " + std::to_string(kPlanVersion));
  }
  std::string error;
  RunPlan plan;
  PlanReader reader(json, "", error);
  RunPlan::EachField(plan, reader);
  reader.CheckNames();
  if (!error.empty()) return InvalidArgument("'" + what + "': " + error);
  return plan;
}

}  // namespace vernier
