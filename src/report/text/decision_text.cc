#include "report/text/decision_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "record/schema/gate_text.h"
#include "report/text/run_summary.h"
#include "util/text/number_text.h"
#include "util/text/visible_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr size_t kFlipsShown = 3;
constexpr size_t kLongestDecision = 60;

// What is less than all is not rounded to it.
std::string InPercent(double share) {
  int digits = 3;
  while (share < 1 && digits < 17 && FormatG(100 * share, digits) == "100") ++digits;
  return FormatG(100 * share, digits);
}

// A difference of shares; 0 has no sign.
std::string InPoints(double difference) { return FormatG(100 * difference + 0.0, 3); }

std::string FlipsInWords(const DecisionRecord& decision) {
  std::string text =
      Counted(decision.flips, "flip") + ": " + std::to_string(decision.clear_flips) + " clear";
  if (decision.invalid > 0) text += " (" + std::to_string(decision.invalid) + " with NaN)";
  text += ", " + Counted(decision.near_ties, "near tie");
  // Without margins nothing could be one.
  const bool measured =
      std::ranges::any_of(decision.margin_counts, [](int64_t n) { return n > 0; });
  const bool known = !decision.near_tie_rule.empty();
  if (decision.near_ties == 0 && !(measured && known)) return text;
  if (known) return text + " by " + VisibleLine(decision.near_tie_rule);
  return text + (decision.near_tie_from_bound ? " by the error bound"
                                              : " by --near-tie or the observed differences");
}

// "AP50 0.5204 against 0.5183, a drop of 0.21 points".
std::string FigureInWords(const std::string& name, double first, double second) {
  const double drop = first - second;
  if (std::isnan(drop)) return name + ": no object counts";
  return name + " " + FormatG(first, 4) + " against " + FormatG(second, 4) +
         (drop < 0 ? ", a rise of " : ", a drop of ") + FormatG(100 * std::fabs(drop), 3) +
         " points";
}

std::string PrecisionInWords(const PrecisionRecord& precision) {
  const AveragePrecision& a = precision.first;
  const AveragePrecision& b = precision.second;
  std::string text = FigureInWords("mAP@[.5:.95]", a.ap, b.ap);
  if (precision.intervals) {
    text += " (drop: 95 % interval " + InPoints(precision.intervals->drop_low) + " to " +
            InPoints(precision.intervals->drop_high) + ")";
  }
  if (!std::isnan(a.ap)) {
    text +=
        "; " + FigureInWords("AP50", a.ap50, b.ap50) + "; " + FigureInWords("AP75", a.ap75, b.ap75);
  }
  text += "; " + CountedOf(precision.images, precision.listed, "labelled image");
  return text + (precision.units.empty() ? ", and nothing was detected"
                                         : ", boxes taken as " + precision.units);
}

// Of shares in per cent, of other means as they are.
std::string SideInWords(const LabelRecord& labels, double value, double low, double high) {
  if (std::isnan(labels.p)) {
    return FormatG(value, 4) + " (95 % interval " + FormatG(low, 4) + " to " + FormatG(high, 4) +
           ")";
  }
  return InPercent(value) + " % (95 % interval " + InPercent(low) + " to " + InPercent(high) +
         " %)";
}

// "RMSE 0.52 (95 % interval 0.5 to 0.54) against …, a rise of 0.01 (95 % interval …)".
std::string ErrorInWords(const LabelErrorRecord& error) {
  const auto with_interval = [](double value, double low, double high) {
    return FormatG(value, 4) + " (95 % interval " + FormatG(low, 4) + " to " + FormatG(high, 4) +
           ")";
  };
  return error.metric + " " + with_interval(error.first, error.first_low, error.first_high) +
         " against " + with_interval(error.second, error.second_low, error.second_high) +
         (error.rise < 0 ? ", a fall of " : ", a rise of ") + FormatG(std::fabs(error.rise), 3) +
         " (rise: 95 % interval " + FormatG(error.rise_low + 0.0, 3) + " to " +
         FormatG(error.rise_high + 0.0, 3) + ")";
}

// Of a metric that is an error itself.
std::string ErrorsInWords(const DecisionRecord& decision, const LabelRecord& labels) {
  LabelErrorRecord own{labels.metric,     labels.first,      labels.second,      labels.first_low,
                       labels.first_high, labels.second_low, labels.second_high, labels.drop,
                       labels.drop_low,   labels.drop_high};
  std::string text = ErrorInWords(own);
  for (const LabelErrorRecord& error : labels.errors) text += "; " + ErrorInWords(error);
  if (labels.samples == decision.samples) return text;
  return text + "; " + Counted(labels.samples, "label") + " for " +
         Counted(decision.samples, "sample");
}

// One line of a few words, whatever was decided.
std::string ShownDecision(const std::string& decision) {
  std::string text = VisibleLine(decision);
  if (text.size() > kLongestDecision) {
    size_t end = kLongestDecision;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end) + "...";
  }
  return "'" + text + "'";
}

std::string ByMargin(double margin) {
  return std::isnan(margin) ? "" : " by " + FormatG(margin, 3);
}

// "iteration 7", "step 2 of sequence 1"
std::string PlaceInWords(const auto& flip) {
  if (!flip.sequence) return "iteration " + std::to_string(flip.iteration);
  return "step " + std::to_string(flip.step) + " of sequence " + std::to_string(*flip.sequence);
}

}  // namespace

bool IsLeftToMerge(const PairRecord& pair) { return pair.judged_by == kJudgedByMerge; }

bool IsLeftToMerge(const RunRecord& record) {
  return std::ranges::any_of(record.pairs,
                             [](const PairRecord& pair) { return IsLeftToMerge(pair); });
}

bool JudgedByDecisions(const PairRecord& pair) {
  return pair.judged_by == "decisions" || IsLeftToMerge(pair);
}

bool JudgedByDecisions(const RunRecord& record) {
  return std::ranges::any_of(record.pairs,
                             [](const PairRecord& pair) { return JudgedByDecisions(pair); });
}

bool IsReportedOnly(const PairRecord& pair, const OutputRecord& output) {
  return JudgedByDecisions(pair) &&
         std::ranges::find(pair.undecided_outputs, output.name) == pair.undecided_outputs.end();
}

std::string FailedUndecided(const PairRecord& pair) {
  if (!JudgedByDecisions(pair)) return "";
  const auto failed = std::ranges::find_if(pair.outputs, [&](const OutputRecord& output) {
    return HasFailed(output) && !IsReportedOnly(pair, output);
  });
  return failed == pair.outputs.end() ? "" : failed->name;
}

bool FailsGates(const PairRecord& pair) {
  if (pair.judged_by.empty() || pair.judged_by == "elements") return false;
  return std::ranges::any_of(pair.decision_gates, GateIsMissed);
}

std::string FormatDecision(const DecisionRecord& decision) {
  std::string text = DecisionName(decision.kind, decision.output) + ": ";
  if (decision.samples == 0) return text + "no sample";
  text += CountedOf(decision.samples - decision.flips, decision.samples, "sample") +
          Verb(decision.samples, " agrees, ", " agree, ") + InPercent(decision.agreement) +
          " % (95 % interval " + InPercent(decision.interval_low) + " to " +
          InPercent(decision.interval_high) + " %)";
  if (decision.flips > 0) text += "; " + FlipsInWords(decision);
  if (decision.first_flip && decision.first_flip->sequence) {
    text += "; first at " + PlaceInWords(*decision.first_flip);
  }
  if (std::fabs(decision.similarity - decision.agreement) > 1e-9) {
    text += "; mean similarity " + FormatG(decision.similarity, 4);
  }
  for (const std::string& doubt : DoubtsOf(decision)) text += "; " + VisibleLine(doubt);
  return text;
}

std::string FormatLabels(const DecisionRecord& decision) {
  if (decision.precision) return PrecisionInWords(*decision.precision);
  if (!decision.labels) return "";
  const LabelRecord& labels = *decision.labels;
  if (labels.metric == kMeanAbsoluteError) return ErrorsInWords(decision, labels);
  const bool is_mean = std::isnan(labels.p);
  std::string text =
      labels.metric + " " + SideInWords(labels, labels.first, labels.first_low, labels.first_high) +
      " against " + SideInWords(labels, labels.second, labels.second_low, labels.second_high) +
      (labels.drop < 0 ? ", a rise of " : ", a drop of ") + PointsText(labels.drop) +
      " (drop: 95 % interval " + InPoints(labels.drop_low) + " to " + InPoints(labels.drop_high) +
      ")";
  if (labels.samples < decision.samples) {
    text += "; " + Counted(labels.samples, "label") + " for " + Counted(decision.samples, "sample");
  }
  for (const LabelErrorRecord& error : labels.errors) text += "; " + ErrorInWords(error);
  if (is_mean) return text;
  text += "; " + std::to_string(labels.right_to_wrong) + " right to wrong, " +
          std::to_string(labels.wrong_to_right) + " wrong to right, " +
          std::to_string(labels.wrong_to_wrong) + " wrong to wrong";
  const bool discordant = labels.right_to_wrong + labels.wrong_to_right > 0;
  text += discordant ? "; McNemar's exact p " + FormatG(labels.p, 3)
                     : "; no sample is right on only one side, so there is nothing to test";
  if (labels.samples_to_see <= 0) return text;
  return text + "; it takes about " + Counted(labels.samples_to_see, "sample") +
         " to see a change of " + PointsText(labels.change) + " with 80 % power";
}

namespace {

std::string TotalsInWords(const DecisionRecord& decision) {
  if (decision.boxes) {
    const BoxTotalsRecord& of = *decision.boxes;
    const std::string iou =
        of.matched > 0 ? " with a mean IoU of " + FormatG(of.mean_iou, 4) : std::string();
    return Counted(of.matched, "box", "boxes") + " matched" + iou + ", " + std::to_string(of.lost) +
           " lost, " + std::to_string(of.invented) + " invented, " +
           std::to_string(of.class_changed) + " of another class";
  }
  if (decision.class_ious.empty()) return "";
  double sum = 0;
  const ClassIouRecord* least = &decision.class_ious.front();
  for (const ClassIouRecord& of : decision.class_ious) {
    sum += of.iou;
    if (of.iou < least->iou) least = &of;
  }
  const size_t classes = decision.class_ious.size();
  return "mean IoU " + FormatG(sum / static_cast<double>(classes), 4) + " over " +
         Counted(classes, "class", "classes") + ", least " + FormatG(least->iou, 4) + " of class " +
         (least->name.empty() ? std::to_string(least->category) : least->name);
}

}  // namespace

std::string FormatTotals(const DecisionRecord& decision) {
  const std::string totals = TotalsInWords(decision);
  if (totals.empty() || decision.invalid == 0) {
    return totals.empty() ? "" : "of all samples: " + totals;
  }
  const int64_t valid = decision.samples - decision.invalid;
  return "of the " + Counted(valid, "sample") + " without NaN: " + totals;
}

std::string FormatFlip(const WorstFlip& flip) {
  constexpr std::array<std::string_view, 4> kWords = {"equal", "a near tie", "clear", "NaN"};
  const DecisionSample& sample = flip.sample;
  // What is no NaN has its reason in the detail.
  const bool has_reason = sample.flip == Flip::kInvalid && !sample.detail.empty();
  return PlaceInWords(flip) + ", sample " + std::to_string(flip.row) + ": " +
         ShownDecision(sample.first) + ByMargin(sample.first_margin) + " against " +
         ShownDecision(sample.second) + ByMargin(sample.second_margin) + ", " +
         std::string(has_reason ? "invalid" : kWords[static_cast<size_t>(sample.flip)]) +
         (sample.detail.empty() ? "" : ": " + VisibleLine(sample.detail));
}

std::string FormatBlameFlips(const BlameFlipsRecord& flips) {
  std::string text;
  for (const DecisionRecord& decision : flips.decisions) {
    text += (text.empty() ? "" : "; ") + VisibleLine(FormatDecision(decision));
  }
  if (text.empty()) return "Nothing was decided";
  const bool any = std::ranges::any_of(
      flips.decisions, [](const DecisionRecord& decision) { return decision.flips > 0; });
  if (flips.iterations.empty()) {
    return (any ? "No flip can be searched: " : "No decision flips: ") + text;
  }
  std::string iterations;
  for (const int64_t iteration : flips.iterations) {
    iterations += (iterations.empty() ? "" : ", ") + std::to_string(iteration);
  }
  return "The layers are those of " + Noun(flips.iterations.size(), "iteration ", "iterations ") +
         iterations + ", whose decisions flip: " + text;
}

std::string FormatMarginLosses(const BlameFlipsRecord& flips) {
  if (flips.margins.empty()) return "";
  const BlameMarginSample& of = flips.margin_of;
  std::string text = "Of the margin " + FormatG(of.margin, 3) + " of " +
                     VisibleLine(DecisionName(of.kind, of.output)) + " in iteration " +
                     std::to_string(of.iteration) + ", sample " + std::to_string(of.row) +
                     ", one layer of the candidate alone\n";
  for (const BlameEatenMargin& layer : flips.margins) {
    text += "    " + VisibleLine(layer.node + " [" + layer.op_type) + "] " +
            (layer.eaten < 0 ? "adds " : "uses up ") + InPercent(std::fabs(layer.eaten)) +
            " %, which leaves " + FormatG(layer.margin, 3) +
            (layer.margin < 0 ? ": another answer" : "") + "\n";
  }
  return text;
}

std::string FormatDecisions(const PairRecord& pair) {
  std::string text;
  for (const DecisionRecord& decision : pair.decisions) {
    text += "  decision " + VisibleLine(FormatDecision(decision)) + "\n";
    if (const std::string labels = FormatLabels(decision); !labels.empty()) {
      text += "    labels: " + VisibleLine(labels) + "\n";
    }
    if (const std::string totals = FormatTotals(decision); !totals.empty()) {
      text += "    " + VisibleLine(totals) + "\n";
    }
    for (size_t i = 0; i < std::min(kFlipsShown, decision.worst.size()); ++i) {
      text += "    " + FormatFlip(decision.worst[i]) + "\n";
    }
  }
  return text;
}

std::string FormatOpenGates(const PairRecord& pair) {
  std::string text;
  for (const DecisionGateRecord& gate : pair.decision_gates) {
    if (gate.undecided || gate.verdict != kGatePassed) text += "; " + GateInWords(gate);
  }
  return text;
}

std::string FormatJudge(const RunRecord& record) {
  if (!JudgedByDecisions(record)) return "";
  int64_t differ = 0;
  std::vector<std::string> judged;
  for (const PairRecord& pair : record.pairs) {
    differ += std::ranges::count_if(pair.outputs, [&](const OutputRecord& output) {
      return HasFailed(output) && IsReportedOnly(pair, output);
    });
    for (const std::string& output : pair.undecided_outputs) {
      if (std::ranges::find(judged, output) == judged.end()) judged.push_back(output);
    }
  }
  const std::string advice = " (--judge both judges them as well)\n";
  const std::string found = Counted(differ, "output") + " out of tolerance by elements, which is ";
  const bool merge = IsLeftToMerge(record);
  if (judged.empty()) {
    return (merge ? "`vernier merge` judges by decisions: " : "judged by decisions: ") +
           (differ == 0 ? std::string("elements are ") : found) + "reported only" + advice;
  }
  std::string others;
  for (const std::string& output : judged) {
    others += (others.empty() ? "'" : ", '") + VisibleLine(output) + "'";
  }
  return std::string(merge ? "`vernier merge` judges by" : "judged by") +
         " decisions, and outputs without a gate by elements (" + others + "); for the others, " +
         (differ == 0 ? std::string("elements are ") : found) + "only reported" + advice;
}

}  // namespace vernier
