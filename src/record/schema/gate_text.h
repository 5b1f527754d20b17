// Decisions and their gates in words, for sentences of the record and of reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vernier/decision_record.h"

namespace vernier {

/// DecisionGateRecord::verdict.
inline constexpr std::string_view kGatePassed = "passed";
/// PairRecord::judged_by of a shard whose run is judged by decisions.
inline constexpr std::string_view kJudgedByMerge = "merge";
inline constexpr std::string_view kGateFailed = "failed";
inline constexpr std::string_view kGateWithoutSamples = "no samples";

/// DecisionGateRecord::gate of what is undecided where flips may be near ties or not.
inline constexpr std::string_view kClearFlipsGate = "--max-clear-flips";

/// Is the point estimate beyond the limit, whether or not the samples decide that?
bool GateIsMissed(const DecisionGateRecord& gate);

/// "top1 of 'logits'".
std::string DecisionName(const std::string& kind, const std::string& output);

/// What makes the figures of a decision worth less than they look, a clause each: "shows nothing:
/// no sample of either side has a detection".
std::vector<std::string> DoubtsOf(const DecisionRecord& decision);

/// A difference of shares in hundredths, without its sign: "1 point", "2.5 points".
std::string PointsText(double difference);

/// "--max-flip-rate 0.01: top1 of 'logits' differs in 3 % (1 % allowed), failed".
std::string GateInWords(const DecisionGateRecord& gate);

}  // namespace vernier
