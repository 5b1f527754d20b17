#include "record/gate_text.h"

#include <cmath>

#include "util/counted.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// Of shares, a difference is in points: hundredths.
std::string DropInWords(const DecisionGateRecord& gate) {
  const bool relative = gate.drop_type == "relative";
  const std::string change = gate.value < 0 ? "rises by " : "drops by ";
  const std::string limit = FormatG(100 * gate.limit, 3);
  if (!relative) return change + PointsText(gate.value) + " (" + limit + " allowed)";
  return change + FormatG(100 * std::fabs(gate.value), 3) + " % of the reference's value (" +
         limit + " % allowed)";
}

std::string ValueInWords(const DecisionGateRecord& gate) {
  const bool drop = gate.gate == "--max-drop";
  if (gate.verdict == kGateWithoutSamples) {
    if (!drop) return "has no sample";
    // Without labels there is no value.
    if (gate.drop_type != "relative" && std::isnan(gate.value)) return "has no labelled sample";
    return "has no labelled sample that the reference has right, so that nothing could drop";
  }
  if (drop) return DropInWords(gate);
  if (gate.gate == "--max-flip-rate") {
    return "differs in " + FormatG(100 * gate.value, 3) + " % (" + FormatG(100 * gate.limit, 3) +
           " % allowed)";
  }
  return "has " + Counted(static_cast<int64_t>(gate.value), "clear flip");
}

}  // namespace

bool GateIsMissed(const DecisionGateRecord& gate) { return gate.verdict == kGateFailed; }

std::string DecisionName(const std::string& kind, const std::string& output) {
  return kind + " of '" + output + "'";
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
