// What is typed behind --decision.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "util/text/close_matches.h"
#include "util/text/number_text.h"
#include "util/text/quoted.h"
#include "util/text/split_text.h"
#include "vernier/decision_plan.h"

namespace vernier {
namespace {

constexpr std::string_view kKindList =
    "topK, threshold=X, argmax, sign, rank=K, boxes:FORMAT, ctc, embedding, regression=X and "
    "script:FILE";
constexpr std::array<std::string_view, 9> kKindWords = {
    "top1", "threshold", "argmax", "sign", "rank", "boxes", "ctc", "embedding", "regression"};
constexpr std::array<std::string_view, 5> kBoxFormats = {"yolov5", "yolov8", "yolox", "xyxy",
                                                         "cxcywh"};
constexpr std::array<std::string_view, 7> kColumnWords = {"xyxy",  "cxcywh", "xywh", "score",
                                                          "class", "scores", "-"};

bool IsOneOf(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::string_view UpTo(std::string_view text, std::string_view ends) {
  return text.substr(0, text.find_first_of(ends));
}

bool IsTop(std::string_view head) {
  if (!head.starts_with("top") || head.size() == 3) return false;
  return std::ranges::all_of(head.substr(3), IsDigit);
}

bool IsBoxFormat(std::string_view format) {
  return IsOneOf(format, kBoxFormats) || IsOneOf(format, kColumnWords);
}

// Whether a kind begins here and goes on to the end.
bool IsKind(std::string_view text) {
  const std::string_view head = UpTo(text, ":,=");
  const std::string_view rest = text.substr(head.size());
  if (head == "boxes") return rest.starts_with(':') && IsBoxFormat(UpTo(rest.substr(1), ","));
  // An output may be called that.
  if (head == "script") return rest.size() > 1 && rest[0] == ':' && !IsKind(rest.substr(1));
  return (IsTop(head) || IsOneOf(head, kKindWords)) && rest.find(':') == std::string_view::npos;
}

// Names of outputs hold colons, too: the kind is what can be read as one to the end.
std::optional<size_t> FindKind(std::string_view words) {
  for (size_t at = 0; at != std::string_view::npos;) {
    if (IsKind(words.substr(at))) return at;
    at = words.find(':', at);
    if (at != std::string_view::npos) ++at;
  }
  return std::nullopt;
}

Status NoKind(std::string_view words) {
  const size_t boxes = words.rfind("boxes:");
  if (boxes == 0 || (boxes != std::string_view::npos && words[boxes - 1] == ':')) {
    const std::string_view format = UpTo(words.substr(boxes + 6), ",");
    return InvalidArgument(Quoted(format) +
                           " is not a format of boxes (yolov5, yolov8, yolox, or columns such as "
                           "'xyxy,score,class')" +
                           DidYouMean(format, kBoxFormats));
  }
  const size_t colon = words.rfind(':');
  const std::string_view last = colon == std::string_view::npos ? words : words.substr(colon + 1);
  const std::string_view head = UpTo(last, ",=");
  if (head == "boxes") {
    return InvalidArgument(
        "'boxes' needs a format: boxes:yolov5, boxes:yolov8, boxes:yolox, or "
        "columns such as 'boxes:xyxy,score,class'");
  }
  if (head == "script") {
    return InvalidArgument("'script' needs a file: script:FILE.py or script:FILE.py:FUNCTION");
  }
  return InvalidArgument("expected [OUTPUT:]KIND, where KIND is one of " + std::string(kKindList) +
                         ", got " + Quoted(words) + DidYouMean(head, kKindWords));
}

/// A number of a decision: what it is called in messages, and what it may be.
struct NumberWord {
  std::string_view name;
  std::string_view expected;
  double least;
  double most;
  bool above_least = false;  ///< `least` itself is refused
};

Result<double> NumberFor(const NumberWord& rule, std::string_view text) {
  const std::optional<double> value = ParseDouble(text);
  const bool fits = value && std::isfinite(*value) && *value >= rule.least && *value <= rule.most &&
                    !(rule.above_least && *value == rule.least);
  if (fits) return *value;
  return InvalidArgument(std::string(rule.name) + ": expected " + std::string(rule.expected) +
                         ", got " + Quoted(text));
}

Status ReadInt(std::string_view name, std::string_view text, int64_t least, int64_t& out) {
  const std::optional<int64_t> value = ParseInt(text);
  if (value && *value >= least) {
    out = *value;
    return {};
  }
  const bool any = least == std::numeric_limits<int64_t>::min();
  return InvalidArgument(std::string(name) + ": expected a whole number" +
                         (any ? "" : " >= " + std::to_string(least)) + ", got " + Quoted(text));
}

constexpr int64_t kAnyInt = std::numeric_limits<int64_t>::min();

constexpr double kMostDouble = std::numeric_limits<double>::max();
constexpr NumberWord kThresholdWord = {"threshold", "a finite number", -kMostDouble, kMostDouble};
constexpr NumberWord kCosineWord = {"embedding", "a cosine above -1, at most 1", -1, 1, true};
constexpr NumberWord kUnitsWord = {"regression", "a finite number >= 0", 0, kMostDouble};
constexpr NumberWord kIouWord = {"iou", "a number above 0, at most 1", 0, 1, true};
constexpr NumberWord kScoreWord = {"score", "a number from 0 to 1", 0, 1};

Status ReadNumber(const NumberWord& rule, std::string_view text, double& out) {
  VERNIER_ASSIGN_OR_RETURN(out, NumberFor(rule, text));
  return {};
}

/// "threshold=0.5" in parts.
struct HeadWord {
  std::string_view name;
  std::optional<std::string_view> value;
};

HeadWord SplitHead(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {word, std::nullopt};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

Status NeedsValue(std::string_view name, std::string_view example) {
  return InvalidArgument(Quoted(name) + " needs a value: " + std::string(example));
}

Status ReadAxis(std::string_view text, DecisionPlan& plan) {
  VERNIER_TRY(ReadInt("axis", text, kAnyInt, plan.axis));
  plan.axis_given = true;
  return {};
}

// Of a number without an exponent: its digits where it is whole, "12.00" too, without leading
// zeros.
std::optional<std::string> WholeDigits(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view whole = text.substr(0, text.find('.'));
  const std::string_view rest = text.substr(std::min(whole.size() + 1, text.size()));
  if (whole.find_first_not_of(kDigits) != std::string_view::npos) return std::nullopt;
  if (rest.find_first_not_of('0') != std::string_view::npos) return std::nullopt;
  const size_t first = std::min(whole.find_first_not_of('0'), whole.size());
  return std::string(whole.substr(first));
}

// Of a whole number: as WholeDigits has them.
std::string ExactDigits(double whole) {
  char digits[512];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), std::fabs(whole),
                                 std::chars_format::fixed, 0);
  return whole == 0 ? "" : std::string(std::begin(digits), end.ptr);
}

// Whole numbers that the limit does not hold would be compared as another one.
Status ReadThreshold(std::string_view text, DecisionPlan& plan) {
  VERNIER_TRY(ReadNumber(kThresholdWord, text, plan.limit));
  const std::optional<std::string> whole = WholeDigits(text);
  if (!whole || ExactDigits(plan.limit) == *whole) return {};
  return InvalidArgument("threshold: " + Quoted(text) +
                         " is no float64, which limits are: the nearest one is " +
                         FormatG(plan.limit, 20));
}

// The first word of every kind but boxes.
Status ReadHead(const HeadWord& head, DecisionPlan& plan) {
  const auto& [name, value] = head;
  if (IsTop(name)) {
    plan.kind = DecisionKind::kTop;
    if (value) return InvalidArgument(Quoted(name) + " takes no value, got " + Quoted(*value));
    return ReadInt("topK", name.substr(3), 1, plan.k);
  }
  if (name == "threshold") {
    plan.kind = DecisionKind::kThreshold;
    return value ? ReadThreshold(*value, plan) : NeedsValue(name, "threshold=0.5");
  }
  if (name == "argmax") {
    plan.kind = DecisionKind::kArgmax;
    return value ? ReadAxis(*value, plan) : Status();
  }
  if (name == "sign") {
    plan.kind = DecisionKind::kSign;
    return value ? InvalidArgument("'sign' takes no value, got " + Quoted(*value)) : Status();
  }
  if (name == "rank") {
    plan.kind = DecisionKind::kRank;
    return value ? ReadInt("rank", *value, 1, plan.k) : NeedsValue(name, "rank=10");
  }
  if (name == "ctc") {
    plan.kind = DecisionKind::kCtc;
    return value ? ReadInt("ctc", *value, kAnyInt, plan.blank) : Status();
  }
  if (name == "embedding") {
    plan.kind = DecisionKind::kEmbedding;
    plan.limit = 0.99;
    return value ? ReadNumber(kCosineWord, *value, plan.limit) : Status();
  }
  plan.kind = DecisionKind::kRegression;
  return value ? ReadNumber(kUnitsWord, *value, plan.limit) : NeedsValue(name, "regression=0.1");
}

// The settings that a kind has.
std::vector<std::string_view> SettingsOf(DecisionKind kind) {
  switch (kind) {
    case DecisionKind::kTop:
    case DecisionKind::kRank:
    case DecisionKind::kArgmax:
    case DecisionKind::kEmbedding:
      return {"axis"};
    case DecisionKind::kBoxes:
      return {"iou", "score", "units"};
    case DecisionKind::kCtc:
      return {"time"};
    default:
      return {};
  }
}

Status ReadTime(std::string_view text, DecisionPlan& plan) {
  plan.time_first = text == "0";
  if (text == "0" || text == "1") return {};
  return InvalidArgument("time: expected the axis of the steps, 0 or 1, got " + Quoted(text));
}

Status ReadUnits(std::string_view text, DecisionPlan& plan) {
  plan.units = text == "pixels" ? BoxUnits::kPixels : BoxUnits::kFractions;
  if (text == "pixels" || text == "fractions") return {};
  return InvalidArgument("units: expected pixels or fractions (of what is fed), got " +
                         Quoted(text));
}

Status ReadSetting(std::string_view word, DecisionPlan& plan) {
  const auto [name, value] = SplitHead(word);
  const std::vector<std::string_view> settings = SettingsOf(plan.kind);
  if (!IsOneOf(name, settings)) {
    const std::string kind = Quoted(UpTo(plan.text, ",="));
    if (settings.empty()) return InvalidArgument(kind + " has no settings, got " + Quoted(word));
    return InvalidArgument(
        kind + " has no setting " + Quoted(name) + " (" +
        JoinWords(std::vector<std::string>(settings.begin(), settings.end()), " and ") + ")" +
        DidYouMean(name, settings));
  }
  if (!value) return NeedsValue(name, std::string(name) + "=NUMBER");
  if (name == "axis") return ReadAxis(*value, plan);
  if (name == "time") return ReadTime(*value, plan);
  if (name == "units") return ReadUnits(*value, plan);
  if (name == "iou") return ReadNumber(kIouWord, *value, plan.iou);
  return ReadNumber(kScoreWord, *value, plan.score);
}

bool IsBoxColumn(std::string_view column) {
  return column == "xyxy" || column == "cxcywh" || column == "xywh";
}

Status CheckColumns(const std::vector<std::string>& columns) {
  int64_t boxes = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!IsOneOf(columns[i], kColumnWords)) {
      return InvalidArgument(
          Quoted(columns[i]) +
          " is not a column of boxes (xyxy, cxcywh, xywh, score, class, scores, -)" +
          DidYouMean(columns[i], kColumnWords));
    }
    if (IsBoxColumn(columns[i])) ++boxes;
    if (columns[i] != "-" && std::ranges::count(columns, columns[i]) > 1) {
      return InvalidArgument("the column " + Quoted(columns[i]) + " is given twice");
    }
    if (columns[i] == "scores" && i + 1 < columns.size()) {
      return InvalidArgument("'scores' stands for all columns to the end, and " +
                             Quoted(columns[i + 1]) + " follows it");
    }
  }
  if (boxes == 1) return {};
  return InvalidArgument("boxes need one of the columns xyxy, cxcywh and xywh, not " +
                         std::to_string(boxes));
}

// "boxes:yolov8", "boxes:xyxy,score,class": the words up to the first with a value.
Status ReadBoxes(std::vector<std::string>& words, DecisionPlan& plan) {
  plan.kind = DecisionKind::kBoxes;
  words[0].erase(0, std::string_view("boxes:").size());
  const auto settings = std::ranges::find_if(
      words, [](const auto& word) { return word.find('=') != std::string::npos; });
  std::vector<std::string> columns(words.begin(), settings);
  words.erase(words.begin(), settings);
  const bool is_named = columns.size() == 1 && columns[0].starts_with("yolo");
  if (is_named) {
    plan.format = columns[0] == "yolov8" ? BoxFormat::kYoloV8 : BoxFormat::kYoloV5;
    return {};
  }
  plan.format = BoxFormat::kColumns;
  plan.columns = std::move(columns);
  return CheckColumns(plan.columns);
}

// "script:FILE" or "script:FILE:FUNCTION".
Status ReadScript(DecisionPlan& plan) {
  plan.kind = DecisionKind::kScript;
  if (!plan.output.empty()) {
    return InvalidArgument("a script decides about all outputs: leave " + Quoted(plan.output) +
                           " out");
  }
  plan.script = plan.text.substr(std::string_view("script:").size());
  plan.function = "decide";
  const size_t colon = plan.script.rfind(':');
  if (colon == std::string::npos || plan.script.ends_with(".py")) return {};
  plan.function = plan.script.substr(colon + 1);
  plan.script.resize(colon);
  if (!plan.function.empty() && !plan.script.empty()) return {};
  return InvalidArgument("expected script:FILE or script:FILE:FUNCTION, got " + Quoted(plan.text));
}

}  // namespace

Result<DecisionPlan> ParseDecision(std::string_view words) {
  const std::optional<size_t> start = FindKind(words);
  if (!start) return NoKind(words);
  DecisionPlan plan;
  plan.text = std::string(words.substr(*start));
  if (*start > 0) plan.output = std::string(words.substr(0, *start - 1));
  if (plan.text.starts_with("script:")) {
    VERNIER_TRY(ReadScript(plan));
    return plan;
  }
  std::vector<std::string> parts = SplitAt(plan.text, ',');
  if (plan.text.starts_with("boxes")) {
    VERNIER_TRY(ReadBoxes(parts, plan));
  } else {
    VERNIER_TRY(ReadHead(SplitHead(parts[0]), plan));
    parts.erase(parts.begin());
  }
  std::vector<std::string_view> given;
  if (plan.kind == DecisionKind::kArgmax && plan.axis_given) given.push_back("axis");
  for (const std::string& setting : parts) {
    const std::string_view name = SplitHead(setting).name;
    if (IsOneOf(name, given)) {
      return InvalidArgument(Quoted(name) + " is given twice in " + Quoted(plan.text) +
                             ": leave one of them out");
    }
    given.push_back(name);
    VERNIER_TRY(ReadSetting(setting, plan));
  }
  return plan;
}

}  // namespace vernier
