#include "record/gate_text.h"

#include "util/counted.h"
#include "util/number_text.h"

namespace vernier {
namespace {

std::string ValueInWords(const DecisionGateRecord& gate) {
  if (gate.verdict == kGateWithoutSamples) return "has no sample";
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
