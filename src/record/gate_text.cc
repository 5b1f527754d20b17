#include "record/gate_text.h"

#include <cmath>

#include "util/counted.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// The value in as many digits as tell it from the limit, which it may exceed by little.
std::string ToldFrom(double limit, double value) {
  int digits = 3;
  while (value != limit && digits < 17 && FormatG(value, digits) == FormatG(limit, digits)) {
    ++digits;
  }
  return FormatG(value, digits);
}

// Of shares, a difference is in points: hundredths.
std::string DropInWords(const DecisionGateRecord& gate) {
  if (gate.drop_type.ends_with("rise")) {
    const bool is_share = gate.drop_type != "rise";
    const double scale = is_share ? 100 : 1;
    const std::string unit = is_share ? " % of the reference's error" : " in its error";
    return (gate.value < 0 ? "falls by " : "rises by ") +
           ToldFrom(scale * gate.limit, scale * std::fabs(gate.value)) + unit + " (" +
           FormatG(scale * gate.limit, 3) + (is_share ? " %" : "") + " allowed)";
  }
  const bool relative = gate.drop_type == "relative";
  const std::string change = gate.value < 0 ? "rises by " : "drops by ";
  const std::string limit = FormatG(100 * gate.limit, 3);
  const std::string value = ToldFrom(100 * gate.limit, 100 * std::fabs(gate.value));
  if (!relative) {
    return change + value + (value == "1" ? " point (" : " points (") + limit + " allowed)";
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
    return "differs in " + ToldFrom(100 * gate.limit, 100 * gate.value) + " % (" +
           FormatG(100 * gate.limit, 3) + " % allowed)";
  }
  return "has " + Counted(static_cast<int64_t>(gate.value), "clear flip");
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
    doubts.push_back("has " + std::to_string(negative) + (negative == 1 ? " box" : " boxes") +
                     " of both sides with a negative width or height, which " +
                     (negative == 1 ? "overlaps" : "overlap") +
                     " nothing: are the columns in another order, or is xywh read as xyxy?");
  }
  return doubts;
}

std::string PointsText(double difference) {
  const std::string text = FormatG(100 * std::fabs(difference), 3);
  return text + (text == "1" ? " point" : " points");
}

std::string GateInWords(const DecisionGateRecord& gate) {
  std::string text = gate.gate + " " + FormatG(gate.limit, 4) + ": " +
                     DecisionName(gate.kind, gate.output) + " " + ValueInWords(gate);
  if (gate.verdict == kGateWithoutSamples) return text;
  text += GateIsMissed(gate) ? ", failed" : ", passed";
  if (!gate.undecided) return text;
  text += " but undecided: the 95 % interval contains the limit";
  if (!gate.samples_to_decide || *gate.samples_to_decide <= 0) return text;
  return text + ", and about " + Counted(*gate.samples_to_decide, "sample") + " would decide";
}

}  // namespace vernier
