#include "record/rows/sample_faults.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "decide/figures/sample_totals.h"
#include "decide/kinds/decision.h"
#include "record/rows/totals_columns.h"
#include "record/schema/decision_schema.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr std::string_view kInvalidText = "invalid";
constexpr std::string_view kMapLabel = "map";

// What the texts of a kind say.
enum class TextRule : uint8_t {
  kClasses,   // the classes that were decided: equal texts are equal decisions
  kBoxes,     // how many boxes are of which class, not where
  kNearness,  // values, which may differ within a limit
  kScript,
};

struct KindRule {
  std::string_view name;
  TextRule texts;
  bool takes_labels;  // that are classes
};

constexpr KindRule kKindRules[] = {
    {"top", TextRule::kClasses, true},         {"threshold", TextRule::kClasses, true},
    {"argmax", TextRule::kClasses, true},      {"sign", TextRule::kClasses, false},
    {"rank", TextRule::kClasses, false},       {"ctc", TextRule::kClasses, true},
    {"boxes", TextRule::kBoxes, false},        {"embedding", TextRule::kNearness, false},
    {"regression", TextRule::kNearness, false}};

KindRule RuleOf(std::string_view kind) {
  for (const KindRule& rule : kKindRules) {
    if (kind.starts_with(rule.name)) return rule;
  }
  return {"script", TextRule::kScript, false};
}

// The largest class that a text lists; -1 where it lists none.
int64_t LargestClass(std::string_view text) {
  int64_t largest = -1;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int64_t number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return largest;  // "none", "yes", "+9 more"
    largest = std::max(largest, number);
    at = std::find(stop, end, ' ');
    if (at != end) ++at;
  }
  return largest;
}

bool IsInvalid(const DecisionSample& sample) {
  return sample.first == kInvalidText || sample.second == kInvalidText;
}

// Of `embedding`, whose similarity is the cosine; a limit of 0 or less says nothing about it.
bool AgreesByCosine(std::string_view kind, const DecisionSample& sample) {
  constexpr std::string_view kGiven = "embedding=";
  double limit = 0.99;
  if (kind.starts_with(kGiven)) {
    limit = 0;
    std::from_chars(kind.data() + kGiven.size(), kind.data() + kind.size(), limit);
  }
  const bool agrees = sample.flip == Flip::kNone;
  return limit <= 0 || agrees == (sample.similarity >= limit);
}

SampleFault FlipFault(std::string_view kind, const KindRule& rule, const DecisionSample& sample) {
  const bool agrees = sample.flip == Flip::kNone;
  const bool invalid = sample.flip == Flip::kInvalid;
  if (rule.texts != TextRule::kScript && invalid != IsInvalid(sample)) {
    return SampleFault::kFlipOfInvalid;
  }
  if (invalid) return SampleFault::kNone;
  const bool cut_off = IsCutOffText(sample.first) || IsCutOffText(sample.second);
  const bool equal = sample.first == sample.second;
  if (rule.texts == TextRule::kClasses) {
    if (agrees && !equal) return SampleFault::kFlipOfDifferent;
    if (!agrees && equal && !cut_off && !IsMapText(sample.first)) return SampleFault::kFlipOfEqual;
  }
  if (rule.texts == TextRule::kBoxes && agrees && !cut_off && !equal) {
    return SampleFault::kFlipOfDifferent;
  }
  const bool has_margin = rule.texts == TextRule::kClasses || rule.texts == TextRule::kBoxes;
  const bool by_share = rule.texts != TextRule::kBoxes && rule.name != "embedding";
  if (by_share && agrees != (sample.similarity == 1)) return SampleFault::kFlipOfSimilarity;
  if (rule.name == "embedding" && !AgreesByCosine(kind, sample)) {
    return SampleFault::kFlipOfSimilarity;
  }
  if (agrees) return SampleFault::kNone;
  const Flip by_margin =
      has_margin ? FlipByMargin(sample.first_margin, sample.second_margin, sample.near_tie)
                 : Flip::kClear;
  return sample.flip == by_margin ? SampleFault::kNone : SampleFault::kFlipByMargin;
}

// Whether a score can be that of the decision. Lists are right where they are the label's, topK
// where it has the class.
bool IsScoreOf(std::string_view kind, std::string_view decision, const std::string& label,
               double score) {
  if (score != 0 && score != 1) return false;
  if (IsCutOffText(decision) || IsCutOffText(label)) return true;
  bool right = decision == label;
  if (!right && kind.starts_with("top") && decision != kInvalidText) {
    const std::string listed = " " + std::string(decision) + " ";
    right = listed.find(" " + label + " ") != std::string::npos;
  }
  return right == (score == 1);
}

SampleFault LabelFault(std::string_view kind, const KindRule& rule, std::optional<int64_t> classes,
                       const DecisionSample& sample) {
  const bool is_error = rule.name == "regression";
  for (const double score : {sample.first_score, sample.second_score}) {
    if (score < 0 || (score > 1 && !is_error)) return SampleFault::kScoreRange;
  }
  if (!sample.labelled()) return SampleFault::kNone;
  if (sample.label.empty()) return SampleFault::kScoreWithoutLabel;
  if (!rule.takes_labels || sample.label == kMapLabel) return SampleFault::kNone;
  if (classes && LargestClass(sample.label) >= *classes) return SampleFault::kLabelBeyond;
  if (!IsScoreOf(kind, sample.first, sample.label, sample.first_score)) {
    return SampleFault::kFirstScore;
  }
  return IsScoreOf(kind, sample.second, sample.label, sample.second_score)
             ? SampleFault::kNone
             : SampleFault::kSecondScore;
}

std::string FlipText(const SampleColumns& columns, const DecisionSample& sample) {
  return "'" + columns.name + "/flip' is '" +
         std::string(kFlipNames[static_cast<size_t>(sample.flip)]) + "', and ";
}

std::string ScoreText(const std::string& column, double score, const std::string& decision,
                      const std::string& label) {
  return "'" + column + "/score' is " + FormatG(score, 6) + ", which the decision '" + decision +
         "' does not have by the label '" + label + "'";
}

std::string BeyondText(const std::string& column, const std::string& text,
                       std::optional<int64_t> classes) {
  return "'" + column + "' is '" + text + "', and the output has " +
         Counted(classes.value_or(0), "class", "classes") + ", counted from 0";
}

}  // namespace

SampleFault FindSampleFault(std::string_view kind, std::optional<int64_t> classes,
                            const DecisionSample& sample) {
  constexpr double kMostSimilar = 1 + 1e-9;  // an IoU may be rounded
  if (!(sample.similarity >= 0 && sample.similarity <= kMostSimilar)) {
    return SampleFault::kSimilarityRange;
  }
  const KindRule rule = RuleOf(kind);
  const bool below = sample.first_margin < 0 || sample.second_margin < 0;
  if (below && rule.texts == TextRule::kClasses) return SampleFault::kMarginRange;
  if ((rule.takes_labels || rule.name == "rank") && classes) {
    if (LargestClass(sample.first) >= *classes) return SampleFault::kFirstBeyond;
    if (LargestClass(sample.second) >= *classes) return SampleFault::kSecondBeyond;
  }
  if (!TotalsFit(sample)) return SampleFault::kTotals;
  const SampleFault fault = FlipFault(kind, rule, sample);
  return fault == SampleFault::kNone ? LabelFault(kind, rule, classes, sample) : fault;
}

std::string SampleFaultText(SampleFault fault, const SampleColumns& columns,
                            std::optional<int64_t> classes, const DecisionSample& sample) {
  const std::string similarity =
      "'" + columns.name + "/similarity' is " + FormatG(sample.similarity, 6);
  switch (fault) {
    case SampleFault::kNone:
      return "";
    case SampleFault::kSimilarityRange:
      return similarity + ", which is from 0 to 1";
    case SampleFault::kMarginRange: {
      const bool first = sample.first_margin < 0;
      return "'" + (first ? columns.first : columns.second) + "/margin' is " +
             FormatG(first ? sample.first_margin : sample.second_margin, 6) +
             ", and no margin is below 0";
    }
    case SampleFault::kFlipOfEqual:
      return FlipText(columns, sample) + "both sides decided '" + sample.first + "'";
    case SampleFault::kFlipOfDifferent:
    case SampleFault::kFlipOfInvalid:
      return FlipText(columns, sample) + "the sides decided '" + sample.first + "' and '" +
             sample.second + "'";
    case SampleFault::kFlipOfSimilarity:
      return FlipText(columns, sample) + similarity;
    case SampleFault::kFlipByMargin:
      return FlipText(columns, sample) + "'" + columns.first + "/margin' is " +
             FormatG(sample.first_margin, 6) + " and '" + columns.second + "/margin' " +
             FormatG(sample.second_margin, 6) + ", where '" + columns.name + "/near_tie' is " +
             FormatG(sample.near_tie, 6);
    case SampleFault::kScoreRange:
      return "'" + columns.first + "/score' or '" + columns.second + "/score': " +
             FormatG(sample.first_score < 0 || sample.first_score > 1 ? sample.first_score
                                                                      : sample.second_score,
                     6) +
             " is not a score, which is from 0 to 1";
    case SampleFault::kScoreWithoutLabel:
      return "'" + columns.first + "/score' is " + FormatG(sample.first_score, 6) +
             ", and the sample has no label";
    case SampleFault::kFirstScore:
      return ScoreText(columns.first, sample.first_score, sample.first, sample.label);
    case SampleFault::kSecondScore:
      return ScoreText(columns.second, sample.second_score, sample.second, sample.label);
    case SampleFault::kFirstBeyond:
      return BeyondText(columns.first + "/decision", sample.first, classes);
    case SampleFault::kSecondBeyond:
      return BeyondText(columns.second + "/decision", sample.second, classes);
    case SampleFault::kLabelBeyond:
      return BeyondText("label", sample.label, classes);
    case SampleFault::kTotals:
      return FlipText(columns, sample) + similarity + ", which the counts of '" + columns.name +
             (sample.boxes ? "/matched', '/lost', '/invented', '/class_changed' and '/iou_sum'"
                           : "/class_overlaps'") +
             " do not make";
  }
  return "";
}

}  // namespace vernier
