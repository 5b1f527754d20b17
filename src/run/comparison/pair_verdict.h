// The outcome of the comparison of a pair: faults, rejections and notes of the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/comparison/compared_pairs.h"
#include "run/comparison/comparison_parts.h"
#include "run/comparison/given_outputs.h"
#include "run/feeds/streams.h"
#include "run/outcome/exit_code.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"

namespace vernier {

/// Whether comparing less than was asked for is a fault of its own, or follows from another.
enum class Coverage : uint8_t { kJudged, kIgnored };

/// Of the sentences of a record's faults: those that another gate or other labels would not have.
struct RuleFaults {
  std::vector<std::string> gates, labels;
};

/// What the verdicts on all pairs of a run are made from, and where their sentences go.
struct VerdictScope {
  const RunPlan& plan;
  const ComparisonParts& parts;
  const ComparedPairs& compared;
  const GivenOutputs& given;
  const std::vector<StreamLength>& lengths;  ///< of the streams
  JudgeRule judge;
  Coverage coverage;
  bool stopped;    ///< the comparisons ended early,
  bool validated;  ///< and --validate did not end them
  RunFaults& faults;
  RunRecord& run;
  RuleFaults& rules;

  bool judges_elements() const { return judge != JudgeRule::kDecisions; }
  /// What was compared does not match.
  void Reject(std::string sentence) const;
  /// Less was compared than was asked for.
  void NotDone(std::string sentence) const;
};

/// Do all positions of an output together pass --compare logits, where iterations by themselves do
/// not and all else passes? With --fail-fast each iteration is judged by itself.
bool PassesByTotal(const RunPlan& plan, const ComparedPair& pair, std::string_view output);

/// Whether all outputs are within their tolerances, iteration by iteration, over all positions or
/// on average.
bool OutputsPass(const RunPlan& plan, const ComparedPair& pair);

/// What makes the pass of a pair show less, or nothing: other inputs, what could not be verified,
/// NaN that post-processing hid, types and, with --strict, conditions.
void JudgeOutputs(const VerdictScope& scope, const ComparedPair& pair, PairRecord& record);

/// Whether all iterations and outputs were compared.
void JudgeCoverage(const VerdictScope& scope, const ComparedPair& pair, const PairRecord& record);

/// What was decided, and the gates of decisions. Missing decisions are not done, whatever
/// determines the exit code.
void JudgeDecisions(const VerdictScope& scope, const ComparedPair& pair, PairRecord& record);

/// The tokens that runners chose (--decode): where they diverge, and how many agree.
void JudgeTokens(const VerdictScope& scope, const ComparedPair& pair, PairRecord& record);

}  // namespace vernier
