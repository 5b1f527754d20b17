#include "record/schema/gate_text.h"

#include <cmath>

#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

/// A value and its limit, in as many digits as distinguish them.
struct DistinctNumbers {
  std::string value, limit;
};

// What differs by the rounding of a subtraction alone is equal.
DistinctNumbers Distinguish(double value, double limit) {
  constexpr int kRounded = 13;
  int digits = 3;
  if (FormatG(value, kRounded) == FormatG(limit, kRounded)) value = limit;
  while (value != limit && FormatG(value, digits) == FormatG(limit, digits)) ++digits;
  return {FormatG(value, digits), FormatG(limit, digits)};
}

// Of shares, a difference is in points: hundredths.
std::string DropInWords(const DecisionGateRecord& gate) {
  if (gate.drop_type.ends_with("rise")) {
    const bool is_share = gate.drop_type != "rise";
    const double scale = is_share ? 100 : 1;
    const std::string unit = is_share ? " % of the reference's error" : " in its error";
    const auto [value, limit] = Distinguish(scale * std::fabs(gate.value), scale * gate.limit);
    return (gate.value < 0 ? "falls by " : "rises by ") + value + unit + " (" + limit +
           (is_share ? " %" : "") + " allowed)";
  }
  const bool relative = gate.drop_type == "relative";
  const std::string change = gate.value < 0 ? "rises by " : "drops by ";
  const auto [value, limit] = Distinguish(100 * std::fabs(gate.value), 100 * gate.limit);
  if (!relative) {
    return change + Counted(value, "point") + " (" + limit + " allowed)";
  }
  return change + value + " % of the reference's value (" + limit + " % allowed)";
}

std::string ValueInWords(const DecisionGateRecord& gate) {
  const bool drop = gate.gate == "--max-drop";
  if (gate.verdict == kGateWithoutSamples) {
    if (!drop) return "has no sample";
    // Without labels there is no value.
    const bool relative = gate.drop_type.starts_with("relative");
    if (!relative && std::isnan(gate.value)) return "has no labelled sample";
    if (gate.drop_type == "relative rise") {
      return "has no labelled sample that the reference errs on, so that no share could rise";
    }
    return "has no labelled sample that the reference has right, so that nothing could drop";
  }
  if (drop) return DropInWords(gate);
  if (gate.gate == "--max-flip-rate") {
    const auto [value, limit] = Distinguish(100 * gate.value, 100 * gate.limit);
    return "differs in " + value + " % (" + limit + " % allowed)";
  }
  return "has " + Counted(static_cast<int64_t>(gate.value), "clear flip");
}

// What excuses flips and does not show that they are rounding; or the other way round.
std::string DoubtsInWords(const DecisionGateRecord& gate) {
  const bool noise = gate.doubtful_by.find("noise") != std::string::npos &&
                     !gate.kind.starts_with("boxes");  // these have no bound
  std::string why =
      "near ties " + (gate.doubtful_by.empty() ? "that a wrong network could have too"
                                               : gate.doubtful_by +
                                                     ", which a wrong network could have"
                                                     " too");
  if (GateIsMissed(gate)) {
    why = "clear " + gate.doubtful_by + ", as clear flips of a correct network may";
  }
  return " but undecided: only because flips count as " + why + "; to decide, give --near-tie X" +
         (noise ? ", or --tolerance auto for an error bound in place of the noise" : "");
}

}  // namespace

bool GateIsMissed(const DecisionGateRecord& gate) { return gate.verdict == kGateFailed; }

std::string DecisionName(const std::string& kind, const std::string& output) {
  return kind + " of '" + output + "'";
}

std::vector<std::string> DoubtsOf(const DecisionRecord& decision) {
  std::vector<std::string> doubts;
  if (!decision.vacuous.empty()) doubts.push_back("shows nothing: " + decision.vacuous);
  const int64_t negative = decision.negative_boxes.value_or(0);
  if (negative > 0) {
    doubts.push_back("has " + Counted(negative, "box", "boxes") +
                     " of both sides with a negative width or height, which " +
                     Verb(negative, "overlaps", "overlap") +
                     " nothing: are the columns in another order, or is xywh read as xyxy?");
  }
  const int64_t above = decision.scores_above_one.value_or(0);
  if (above > 0) {
    doubts.push_back("has " + Counted(above, "box", "boxes") +
                     " of both sides with a score above 1, which is not a probability: are the "
                     "columns in another order, or is the output transposed?");
  }
  return doubts;
}

std::string PointsText(double difference) {
  return Counted(FormatG(100 * std::fabs(difference), 3), "point");
}

std::string GateInWords(const DecisionGateRecord& gate) {
  std::string text = gate.gate + " " + FormatG(gate.limit, 4) + ": " +
                     DecisionName(gate.kind, gate.output) + " " + ValueInWords(gate);
  if (gate.verdict == kGateWithoutSamples) return text;
  text += GateIsMissed(gate) ? ", failed" : ", passed";
  if (!gate.undecided) return text;
  if (gate.gate == kClearFlipsGate) return text + DoubtsInWords(gate);
  text += " but undecided: " +
          (gate.doubtful_by.empty() ? "the 95 % interval contains the limit" : gate.doubtful_by);
  if (!gate.samples_to_decide || *gate.samples_to_decide <= 0) return text;
  constexpr int64_t kMostCounted = 1'000'000'000;
  if (*gate.samples_to_decide > kMostCounted) {
    return text + ", and more than 10^9 samples would decide";
  }
  return text + ", and about " + Counted(*gate.samples_to_decide, "sample") + " would decide";
}

}  // namespace vernier
