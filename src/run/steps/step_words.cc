#include "run/steps/step_words.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "record/schema/runner_name.h"
#include "run/maps/name_maps.h"
#include "util/text/number_text.h"
#include "util/text/star_pattern.h"

namespace vernier {
namespace {

Result<FeedBackWord> ParseFeedBack(const std::string& word, std::span<const std::string> runners) {
  FeedBackWord parsed{word, "", word};
  parsed.label = TakeLabel(runners, parsed.rest);
  if (parsed.automatic() || !parsed.Splits().empty()) return parsed;
  return BadStepWord(kFeedBackFlag, word,
                     "expected OUTPUT:INPUT, both with one '*' or none, or 'auto'");
}

// The input's name, and what stands behind its last colon.
Result<std::pair<std::string, std::string>> SplitAtLastColon(std::string_view flag,
                                                             const std::string& word,
                                                             const std::string& expected) {
  const size_t colon = word.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == word.size()) {
    return BadStepWord(flag, word, "expected " + expected);
  }
  return std::pair(word.substr(0, colon), word.substr(colon + 1));
}

Status SetSliceField(std::string_view entry, SliceWord& slice) {
  const size_t equals = entry.find('=');
  const std::string_view key = Trim(entry.substr(0, equals));
  const std::optional<int64_t> value =
      equals == std::string_view::npos ? std::nullopt : ParseInt(entry.substr(equals + 1));
  const auto needs = [&](int64_t least) -> Status {
    if (value && *value >= least) return {};
    return BadStepWord(kSliceFlag, slice.word,
                       "expected " + std::string(key) + " >= " + std::to_string(least) + ", got '" +
                           std::string(entry.substr(std::min(equals, entry.size() - 1) + 1)) + "'");
  };
  if (key == "axis") {
    VERNIER_TRY(needs(0));
    slice.axis = static_cast<size_t>(*value);
  } else if (key == "size" || key == "hop") {
    VERNIER_TRY(needs(1));
    (key == "size" ? slice.size : slice.hop) = value;
  } else if (key == "pad") {
    VERNIER_TRY(needs(0));
    slice.pad = *value;
  } else {
    return BadStepWord(kSliceFlag, slice.word,
                       "expected axis=, size=, hop= or pad=, got '" + std::string(entry) + "'");
  }
  return {};
}

Result<SliceWord> ParseStepSlice(const std::string& word, std::span<const std::string> runners) {
  SliceWord slice;
  slice.word = word;
  VERNIER_ASSIGN_OR_RETURN(const auto parts,
                           SplitAtLastColon(kSliceFlag, word, "INPUT:axis=N,size=N,hop=N,pad=N"));
  slice.input = parts.first;
  slice.label = TakeLabel(runners, slice.input);
  std::string_view rest = parts.second;
  std::vector<std::string> keys;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    const std::string key(Trim(entry.substr(0, entry.find('='))));
    if (std::ranges::find(keys, key) != keys.end()) {
      return BadStepWord(kSliceFlag, word, key + "= is given twice");
    }
    VERNIER_TRY(SetSliceField(entry, slice));
    keys.push_back(key);
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
  }
  const bool has_axis = std::ranges::find(keys, "axis") != keys.end();
  if (!has_axis) return BadStepWord(kSliceFlag, word, "axis= is missing");
  if (slice.size && slice.pad >= *slice.size) {
    return BadStepWord(kSliceFlag, word,
                       "expected pad < size, got pad=" + std::to_string(slice.pad) +
                           ", size=" + std::to_string(*slice.size));
  }
  return slice;
}

constexpr int64_t kMostAppended = 1 << 20;  // at each step

// "1", or "1*3": three elements at each step.
bool SetAppended(std::string_view text, AdvanceWord& advance) {
  const size_t times = text.find('*');
  const std::optional<int64_t> value = ParseInt(Trim(text.substr(0, times)));
  const std::optional<int64_t> each = times == std::string_view::npos
                                          ? std::optional<int64_t>(1)
                                          : ParseInt(Trim(text.substr(times + 1)));
  if (!value || !each || *each < 1 || *each > kMostAppended) return false;
  advance.amount = *value;
  advance.each = *each;
  return true;
}

// A whole number is added exactly.
bool SetAdded(std::string_view text, AdvanceWord& advance) {
  if (!text.starts_with('+') && !text.starts_with('-')) return false;
  if (const std::optional<int64_t> whole = ParseInt(text)) {
    advance.amount = *whole;
    return true;
  }
  advance.fraction = ParseDouble(text.starts_with('+') ? text.substr(1) : text);
  return advance.fraction && std::isfinite(*advance.fraction) && *advance.fraction != 0;
}

bool SetValue(std::string_view text, AdvanceWord& advance) {
  text = Trim(text);
  if (const std::optional<int64_t> whole = ParseInt(text)) {
    advance.amount = *whole;
    return true;
  }
  advance.fraction = ParseDouble(text);
  return advance.fraction && std::isfinite(*advance.fraction);
}

Result<AdvanceWord> ParseAdvance(const std::string& word) {
  constexpr std::string_view kExpected =
      "NAME:+1, NAME:-0.5, 'NAME:append 1', 'NAME:append 1*3' or 'NAME:set 1'";
  AdvanceWord advance;
  advance.word = word;
  VERNIER_ASSIGN_OR_RETURN(const auto parts,
                           SplitAtLastColon(kAdvanceFlag, word, std::string(kExpected)));
  advance.input = parts.first;
  std::string_view rest = Trim(parts.second);
  constexpr std::string_view kAppend = "append", kSet = "set";
  advance.appends = rest.starts_with(kAppend);
  advance.sets = rest.starts_with(kSet);
  if (advance.appends) rest.remove_prefix(kAppend.size());
  if (advance.sets) rest.remove_prefix(kSet.size());
  const bool understood = advance.appends ? SetAppended(rest, advance)
                          : advance.sets  ? SetValue(rest, advance)
                                          : SetAdded(rest, advance);
  if (understood) return advance;
  return BadStepWord(kAdvanceFlag, word, "expected " + std::string(kExpected));
}

Result<AxisWord> ParseStepsAxis(const std::string& word, std::span<const std::string> runners) {
  AxisWord axis{word, "", 0};
  std::string rest = word;
  axis.label = TakeLabel(runners, rest);
  const std::optional<int64_t> number = ParseInt(rest);
  if (axis.label.empty() || !number || *number < 0) {
    std::string names;
    for (const std::string& runner : runners) names += (names.empty() ? "" : ", ") + runner;
    return BadStepWord(kAxisFlag, word,
                       "expected RUNNER:AXIS, with an axis from 0 and one of the runners " + names);
  }
  axis.axis = static_cast<size_t>(*number);
  return axis;
}

}  // namespace

Status BadStepWord(std::string_view flag, std::string_view word, const std::string& why) {
  return InvalidArgument(std::string(flag) + " " + std::string(word) + ": " + why);
}

std::vector<std::pair<std::string, std::string>> FeedBackWord::Splits() const {
  std::vector<std::pair<std::string, std::string>> splits;
  for (size_t colon = rest.find(':'); colon != std::string::npos;
       colon = rest.find(':', colon + 1)) {
    std::pair<std::string, std::string> split(rest.substr(0, colon), rest.substr(colon + 1));
    const int64_t stars = StarsIn(split.first);
    const bool named = !split.first.empty() && !split.second.empty();
    if (named && stars <= 1 && stars == StarsIn(split.second)) splits.push_back(std::move(split));
  }
  return splits;
}

Result<StepWords> ParseStepWords(const StepPlan& plan, std::span<const std::string> runners) {
  StepWords words;
  for (const std::string& word : plan.feed_back) {
    VERNIER_ASSIGN_OR_RETURN(FeedBackWord parsed, ParseFeedBack(word, runners));
    words.feed_back.push_back(std::move(parsed));
  }
  for (const std::string& word : plan.slices) {
    VERNIER_ASSIGN_OR_RETURN(SliceWord parsed, ParseStepSlice(word, runners));
    const bool twice = std::ranges::any_of(words.slices, [&](const SliceWord& other) {
      return other.input == parsed.input && other.label == parsed.label;
    });
    if (twice) return BadStepWord(kSliceFlag, word, "'" + parsed.input + "' is sliced twice");
    words.slices.push_back(std::move(parsed));
  }
  for (const std::string& word : plan.advances) {
    VERNIER_ASSIGN_OR_RETURN(AdvanceWord parsed, ParseAdvance(word));
    const auto same = [&](const auto& other) { return other.input == parsed.input; };
    if (std::ranges::any_of(words.advances, same) || std::ranges::any_of(words.slices, same)) {
      return BadStepWord(kAdvanceFlag, word, "'" + parsed.input + "' is set twice for each step");
    }
    words.advances.push_back(std::move(parsed));
  }
  for (const std::string& word : plan.axes) {
    VERNIER_ASSIGN_OR_RETURN(AxisWord parsed, ParseStepsAxis(word, runners));
    const auto same = [&](const AxisWord& other) { return other.label == parsed.label; };
    if (std::ranges::any_of(words.axes, same)) {
      return BadStepWord(kAxisFlag, word, "'" + parsed.label + "' has an axis already");
    }
    words.axes.push_back(std::move(parsed));
  }
  return words;
}

std::string WhyNoSize(const SliceWord& slice, const std::vector<TensorInfo>& inputs) {
  if (inputs.empty() || std::ranges::find(inputs, slice.input, &TensorInfo::name) != inputs.end()) {
    return "the size of axis " + std::to_string(slice.axis) +
           " of a step is not declared; give size=";
  }
  std::string names;
  for (const TensorInfo& input : inputs) names += ", '" + input.name + "'";
  return "the inputs have no '" + slice.input + "', but " + names.substr(2) +
         "; if another runner takes it, give size=";
}

}  // namespace vernier
