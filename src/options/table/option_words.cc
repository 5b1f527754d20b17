// The words of option values: the inverse of option_values.cc.
#include <algorithm>
#include <string>

#include "options/table/option_table.h"
#include "options/table/option_values.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

std::string Text(double value) { return FormatFloatRepr(value); }
std::string Text(int64_t value) { return std::to_string(value); }
std::string Text(ToleranceRule rule) { return rule == ToleranceRule::kAuto ? "auto" : "fixed"; }
std::string Text(const TopK& top) {
  const std::string text = "top-" + std::to_string(top.k);
  return top.axis == TopK().axis ? text : text + ",axis=" + std::to_string(top.axis);
}

OptionWords Once(std::vector<std::string> words) {
  if (words.empty()) return {};
  return {std::move(words)};
}

std::string ForOutput(const std::string& output, const std::string& value) {
  return output.empty() ? value : output + ":" + value;
}

template <typename T>
OptionWords EachOutput(const PerOutput<T>& values) {
  std::vector<std::string> words;
  if (values.fallback) words.push_back(Text(*values.fallback));
  for (const auto& [output, value] : values.entries) {
    words.push_back(ForOutput(output, Text(value)));
  }
  return Once(std::move(words));
}

std::string LogitsWord(const std::string& output, int64_t axis) {
  return ForOutput(output, axis == -1 ? "logits" : "logits:axis=" + std::to_string(axis));
}

}  // namespace

OptionWords ValueWords(const OptionRow& row, bool value) {
  return value == row.turns_off ? OptionWords() : OptionWords{{}};
}

OptionWords ValueWords(const OptionRow& /*row*/, int64_t value) { return {{Text(value)}}; }

OptionWords ValueWords(const OptionRow& row, std::optional<int64_t> value) {
  return value ? ValueWords(row, *value) : OptionWords();
}

OptionWords ValueWords(const OptionRow& /*row*/, double value) { return {{Text(value)}}; }

OptionWords ValueWords(const OptionRow& row, std::optional<double> value) {
  return value ? ValueWords(row, *value) : OptionWords();
}

OptionWords ValueWords(const OptionRow& /*row*/, uint64_t value) {
  return {{std::to_string(value)}};
}

OptionWords ValueWords(const OptionRow& /*row*/, const std::string& value) { return {{value}}; }

OptionWords ValueWords(const OptionRow& row, const std::optional<std::string>& value) {
  if (!value) return {};
  const bool bare = row.arity == Arity::kOptional && *value == row.constant;
  return bare ? OptionWords{{}} : OptionWords{{*value}};
}

OptionWords ValueWords(const OptionRow& row, const std::vector<std::string>& values) {
  if (row.arity != Arity::kOne) return Once(values);
  OptionWords words;
  for (const std::string& value : values) words.push_back({value});
  return words;
}

OptionWords ValueWords(const OptionRow& /*row*/, const PerOutput<double>& values) {
  return EachOutput(values);
}

OptionWords ValueWords(const OptionRow& /*row*/, const PerOutput<int64_t>& values) {
  return EachOutput(values);
}

OptionWords ValueWords(const OptionRow& /*row*/, const PerOutput<ToleranceRule>& values) {
  return EachOutput(values);
}

OptionWords ValueWords(const OptionRow& /*row*/, const PerOutput<TopK>& values) {
  return EachOutput(values);
}

OptionWords ValueWords(const OptionRow& /*row*/, const PerOutput<std::vector<ErrorStat>>& values) {
  std::vector<std::string> words;
  const auto add = [&](const std::string& output, const std::vector<ErrorStat>& stats) {
    for (const ErrorStat stat : stats) {
      words.push_back(ForOutput(output, std::string(ErrorStatName(stat))));
    }
  };
  if (values.fallback) add("", *values.fallback);
  for (const auto& [output, stats] : values.entries) add(output, stats);
  return Once(std::move(words));
}

OptionWords ValueWords(const OptionRow& row, const ScriptFunction& script) {
  if (!script.given()) return {};
  const bool usual = script.function == row.sets.key;
  return {{usual ? script.path : script.path + ":" + script.function}};
}

OptionWords ValueWords(const OptionRow& /*row*/, const std::vector<ReportFile>& reports) {
  OptionWords words;
  for (const ReportFile& report : reports) words.push_back({report.path});
  return words;
}

OptionWords ValueWords(const OptionRow& /*row*/, const PairPlan& pairs) {
  std::string word = pairs.rule == PairRule::kNeighbours ? "neighbours"
                     : pairs.rule == PairRule::kFirst    ? "first"
                     : pairs.rule == PairRule::kAll      ? "all"
                                                         : "";
  for (const auto& [reference, candidate] : pairs.named) {
    word += (word.empty() ? "" : ",") + reference + ":" + candidate;
  }
  return {{word}};
}

OptionWords ChoiceWords(const OptionRow& row, size_t index) {
  return index == 0 ? OptionWords() : OptionWords{{std::string(row.choices[index])}};
}

OptionWords CompareWords(const OptionRow& /*row*/, const CompareOptions& options) {
  // A script stands in place of all functions, and has an option of its own.
  if (options.functions == std::vector{CompareFunction::kSimple}) return {};
  if (options.functions == std::vector{CompareFunction::kScript}) return {};
  std::vector<std::string> words;
  for (const CompareFunction function : options.functions) {
    const PerOutput<int64_t>& axes = options.logits_axis;
    if (function != CompareFunction::kLogits) {
      words.emplace_back(CompareFunctionName(function));
    } else if (axes.fallback || axes.entries.empty()) {
      words.push_back(LogitsWord("", axes.fallback.value_or(-1)));
    }
    if (function != CompareFunction::kLogits) continue;
    for (const auto& [output, axis] : axes.entries) words.push_back(LogitsWord(output, axis));
  }
  return Once(std::move(words));
}

}  // namespace vernier
