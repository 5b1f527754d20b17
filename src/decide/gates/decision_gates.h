// The gates of decisions: limits that fail a run.
#pragma once

#include <string_view>
#include <vector>

#include "vernier/decision_plan.h"
#include "vernier/decision_record.h"

namespace vernier {

/// Whether a name of --max-flip-rate means this decision: "top1", "logits", "logits:top1", or what
/// the output is a part of.
bool NamesRate(std::string_view name, std::string_view output, std::string_view kind);

/// Every gate of the options that is about this decision, with its verdict: the point estimate
/// against the limit; undecided where the 95 % interval contains it. Of --max-drop a decision needs
/// labels: one that should have some, and has none, has no samples, nor has one whose reference is
/// right about nothing, which cannot drop.
std::vector<DecisionGateRecord> JudgeDecision(const DecisionRecord& decision,
                                              const DecisionOptions& options);

}  // namespace vernier
