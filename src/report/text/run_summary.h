// The lines that every run ends with, after Polygraphy's: the runners, the worst outputs, what was
// and what was not compared, and what to type next.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

struct SummaryOptions {
  bool interleaved = false;  ///< more than one runner was open: latencies are labelled so
  bool all_outputs = false;  ///< report the distances of outputs that match, too
  std::string repro = {};    ///< the command that does the same again; empty: not printed
};

/// Several lines of text.
std::string FormatRunSummary(const RunRecord& record, const SummaryOptions& options);

/// Did the output mismatch in any iteration? What was not verified has not.
bool HasFailed(const OutputRecord& output);

/// What of a pair was compared and what was not: "compared 2 of 3 outputs in 1 iteration; ...".
std::string FormatCoverage(const PairRecord& pair);

/// The same behind the verdict on the pair: "FAILED, compared 2 of 3 outputs ...". No verdict where
/// outputs were averaged and an old record does not say how the average was.
std::string FormatPair(const PairRecord& pair, bool averaged);

}  // namespace vernier
